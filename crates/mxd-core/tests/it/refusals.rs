//! Limits, and what a refusal says.

use std::collections::BTreeSet;

use mxd_core::decide::{Actor, NewFolder, NewRoot, NewTask, Op, Place, Refusal};
use mxd_core::limits::Limits;
use mxd_core::message::MessageKind;
use mxd_core::money::Usd;
use mxd_core::tree::{Color, IllegalTransition, Status};

use crate::world::{World, message_id};

fn titled(world: &World, title: &str) -> Op {
    Op::CreateTask(NewTask::new(world.root(), title, ""))
}

#[test]
fn titles_are_one_short_line() {
    let mut world = World::new();
    for (title, code) in [
        ("", "empty"),
        ("  \t ", "empty"),
        ("two\nlines", "title_not_one_line"),
        (&"x".repeat(201), "too_long"),
    ] {
        let op = titled(&world, title);
        assert_eq!(world.refused(Actor::User, op).code(), code, "{title:?}");
    }
    let op = titled(&world, &"ä".repeat(200));
    world.user(op);
}

#[test]
fn colours_are_named_or_hex() {
    let mut world = World::new();
    let root = world.root();
    let painted = |color: &str| {
        Op::CreateTask(NewTask { color: Some(Color(color.into())), ..NewTask::new(root, "t", "") })
    };
    for good in ["red", "gray", "#abc", "#F85149", "#f8514980"] {
        world.user(painted(good));
    }
    for bad in ["", "rot", "#", "#12", "#ggg", "red;"] {
        assert_eq!(world.refused(Actor::User, painted(bad)), Refusal::BadColor { given: bad.into() });
    }
    assert_eq!(world.refused(Actor::User, painted(&"x".repeat(33))).code(), "too_long");
}

#[test]
fn the_tree_has_limits_in_every_direction() {
    let mut world = World::new();
    let root = world.root();
    world.limits = Limits { children_per_node: 2, nodes_per_project: 6, depth: 2, ..Limits::DEFAULT };
    let (a, b) = (world.task(root, "a"), world.task(root, "b"));
    let op = titled(&world, "c");
    assert_eq!(world.refused(Actor::User, op), Refusal::TooManyChildren { parent: root, limit: 2 });
    let below = world.task(a, "below");
    let deep = Op::CreateTask(NewTask::new(below, "deep", ""));
    assert_eq!(world.refused(Actor::User, deep), Refusal::TooDeep { depth: 3, limit: 2 });
    // A subtree is as deep as its deepest node.
    let down = Op::MoveTask { task: a, parent: b, place: Place::Last };
    assert_eq!(world.refused(Actor::User, down), Refusal::TooDeep { depth: 3, limit: 2 });
    let up = Op::MoveTask { task: below, parent: root, place: Place::Last };
    assert_eq!(world.refused(Actor::User, up), Refusal::TooManyChildren { parent: root, limit: 2 });
    world.folder(b, "f");
    world.task(b, "g");
    let sixth = Op::CreateFolder(NewFolder { parent: a, place: Place::Last, title: "x".into(), color: None });
    assert_eq!(world.refused(Actor::User, sixth), Refusal::TooManyNodes { limit: 6 });
}

#[test]
fn descriptions_have_a_size() {
    let mut world = World::new();
    let op = Op::CreateTask(NewTask::new(world.root(), "t", "x".repeat(32 * 1024 + 1)));
    assert_eq!(world.refused(Actor::User, op).code(), "too_long");
}

#[test]
fn there_is_one_root_and_the_user_makes_it() {
    let mut world = World::new();
    let root = world.root();
    let new = NewRoot { title: "again".into(), description: String::new(), branch: None };
    assert_eq!(world.refused(Actor::User, Op::CreateRoot(new.clone())), Refusal::RootExists { root });
    let mut empty = World::empty();
    assert_eq!(empty.refused(Actor::Agent(root), Op::CreateRoot(new)).code(), "unknown_actor");
    let op = Op::CreateTask(NewTask::new(root, "t", ""));
    assert_eq!(empty.refused(Actor::User, op), Refusal::UnknownTask { task: root });
}

/// One of each, to see that all of them speak.
fn all() -> Vec<Refusal> {
    let world = World::new();
    let (task, id) = (world.root(), message_id(1));
    let (agent, parent, node, root, dependency) = (task, task, task, task, task);
    let transition = IllegalTransition { from: Status::Draft, to: Status::Passed };
    vec![
        Refusal::UnknownTask { task },
        Refusal::UnknownActor { task },
        Refusal::NotATask { task, wanted: "work" },
        Refusal::RootExists { root },
        Refusal::IsRoot { task, wanted: "moved" },
        Refusal::OutsideSubtree { agent, task, wanted: "move" },
        Refusal::UserOnly { wanted: "set a budget" },
        Refusal::PersistentNotAllowed { agent },
        Refusal::PersistentTooDeep { depth: 2, limit: 1 },
        Refusal::Empty { field: "the title" },
        Refusal::TooLong { field: "the title", given: 201, limit: 200, unit: "characters" },
        Refusal::TitleNotOneLine,
        Refusal::BadColor { given: "rot".into() },
        Refusal::TooManyImages { given: 11, limit: 10 },
        Refusal::TooManyNodes { limit: 1 },
        Refusal::TooManyChildren { parent, limit: 1 },
        Refusal::TooDeep { depth: 17, limit: 16 },
        Refusal::NoSuchPlace { parent, given: 4, children: 3 },
        Refusal::Cycle { task, parent },
        Refusal::NotAPermutation { node, missing: 1, foreign: 0 },
        Refusal::NothingToChange { task },
        Refusal::PassageNotFound { task },
        Refusal::PassageNotUnique { task },
        Refusal::TooManyDependencies { given: 33, limit: 32 },
        Refusal::RepeatedDependency { dependency },
        Refusal::DependencyCycle { task, dependency },
        Refusal::Transition { task, transition },
        Refusal::Running { task },
        Refusal::Blocked { task, by: vec![dependency] },
        Refusal::HasChildren { task, children: 1 },
        Refusal::DraftTarget { task },
        Refusal::OutOfReach { agent, task },
        Refusal::DuplicateMessage { id, task },
        Refusal::InboxFull { task, limit: 1_000 },
        Refusal::NotPending { id, task },
        Refusal::NotAnAuthor,
        Refusal::NotWorking { task, status: Status::Failed },
        Refusal::OwnTask { task, wanted: "delete" },
        Refusal::PersistentDependency { dependency },
        Refusal::AncestorDependency { dependency },
        Refusal::TooManyWaiters { dependency, limit: 1_000 },
        Refusal::TooMuchAtOnce { bytes: 5_000_000, limit: 3_145_728 },
        Refusal::Nested,
        Refusal::UnreadMessages { task, unread: 1 },
        Refusal::NotAReport { kind: MessageKind::User, by: "the daemon" },
        Refusal::NotAbove { task, about: task },
        Refusal::NotRoot { task },
        Refusal::Late { task, what: "an answer" },
        Refusal::TooManyQuestions { task, limit: 20 },
        Refusal::TooManyChecks { given: 17, limit: 16 },
        Refusal::AlreadyBegun { task },
        Refusal::NothingToFork { task },
        Refusal::TooManyForks { task, limit: 16 },
        Refusal::Busy { task },
        Refusal::NotEnoughMoney { task, left: Usd::ZERO, wanted: Usd::MAX },
        Refusal::OneByOne { task },
        Refusal::NoSuchTask { given: "01X".into(), why: "nothing begins with it".into() },
    ]
}

#[test]
fn every_refusal_has_its_own_code_a_message_and_a_hint() {
    let all = all();
    let codes: BTreeSet<&str> = all.iter().map(Refusal::code).collect();
    assert_eq!(codes.len(), all.len());
    for refusal in &all {
        let (message, hint) = (refusal.to_string(), refusal.hint());
        assert!(message.len() > 10 && hint.len() > 10 && hint.ends_with('.'), "{message} / {hint}");
        assert_ne!(message, hint);
    }
}

#[test]
fn a_refused_status_names_both_and_says_what_would_do() {
    let transition = IllegalTransition { from: Status::Draft, to: Status::Passed };
    let refusal = Refusal::Transition { task: World::new().root(), transition };
    assert!(refusal.to_string().ends_with("a task cannot go from draft to passed"));
    assert_eq!(refusal.hint(), "From draft a task can go to: pending, closed.");
}
