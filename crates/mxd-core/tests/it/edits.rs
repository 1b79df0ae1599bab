//! Creating, changing and arranging nodes.

use mxd_core::change::Change;
use mxd_core::decide::{Actor, DescriptionEdit, NewTask, Op, Place, Refusal, TaskPatch};
use mxd_core::event::EventBody;
use mxd_core::event::body::EditedBy;
use mxd_core::id::TaskId;
use mxd_core::money::Usd;
use mxd_core::tree::{Color, Persistence};

use crate::world::World;

fn update(task: TaskId, patch: TaskPatch) -> Op {
    Op::UpdateTask { task, patch }
}

fn replace(old: &str, new: &str) -> TaskPatch {
    let edit = DescriptionEdit::Replace { old: old.into(), new: new.into() };
    TaskPatch { description: Some(edit), ..TaskPatch::default() }
}

#[test]
fn a_new_task_stands_where_it_was_put() {
    let mut world = World::new();
    let root = world.root();
    let (a, b) = (world.task(root, "a"), world.task(root, "b"));
    let first = world.create(NewTask { place: Place::At(0), ..NewTask::new(root, "  first ", "") });
    let tree = world.state.tree();
    assert_eq!(tree.get(root).unwrap().children, [first, a, b]);
    assert_eq!(tree.path(first), ["Orchestrator", "first"]);
    assert_eq!(tree.get(first).unwrap().edited_by, EditedBy::Agent);
    assert_eq!(tree.resolve(&first.to_string()[..20]).unwrap().id, first);
    let op = Op::CreateTask(NewTask { place: Place::At(4), ..NewTask::new(root, "x", "") });
    assert_eq!(world.refused(Actor::User, op), Refusal::NoSuchPlace { parent: root, given: 4, children: 3 });
}

#[test]
fn owners_are_looked_up_through_folders() {
    let mut world = World::new();
    let root = world.root();
    let outer = world.folder(root, "outer");
    let a = world.task(root, "a");
    let inner = world.folder(outer, "inner");
    let (b, c) = (world.task(inner, "b"), world.task(outer, "c"));
    let below_b = world.task(b, "below b");
    let tree = world.state.tree();
    let ids = |nodes: Vec<&mxd_core::tree::Node>| nodes.iter().map(|node| node.id).collect::<Vec<_>>();
    assert_eq!(tree.task_above(b).unwrap().id, root);
    assert_eq!(ids(tree.tasks_below(root)), [b, c, a]);
    assert_eq!(ids(tree.descendants(outer)), [inner, b, below_b, c]);
    assert_eq!((tree.depth(below_b), tree.height(root), tree.height(c)), (4, 4, 0));
    assert!(tree.is_in_subtree(below_b, outer) && !tree.is_in_subtree(a, outer));
}

#[test]
fn an_update_records_only_what_changed() {
    let mut world = World::new();
    let task = world.task(world.root(), "old");
    let patch = TaskPatch {
        title: Some("old".into()),
        color: Change::Set(Color("red".into())),
        budget: Change::Set(Usd::from_cents(250).unwrap()),
        ..TaskPatch::default()
    };
    let decision = world.user(update(task, patch));
    let EventBody::TaskUpdated(updated) = &decision.events[0].body else { panic!("an update") };
    assert_eq!((&updated.title, &updated.description, &updated.after), (&None, &None, &None));
    let node = world.state.tree().get(task).unwrap();
    assert_eq!(node.color, Some(Color("red".into())));
    assert_eq!(node.task().unwrap().budget_usd, Usd::from_cents(250));

    let patch = TaskPatch { color: Change::Clear, budget: Change::Clear, ..TaskPatch::default() };
    let decision = world.user(update(task, patch.clone()));
    let json = decision.events[0].to_json().unwrap();
    assert!(json.contains(r#""color":null,"budgetUsd":null"#), "{json}");
    let node = world.state.tree().get(task).unwrap();
    assert_eq!((&node.color, node.task().unwrap().budget_usd), (&None, None));
    assert_eq!(world.refused(Actor::User, update(task, patch)), Refusal::NothingToChange { task });
    assert_eq!(world.refused(Actor::User, update(task, TaskPatch::default())).code(), "nothing_to_change");
}

#[test]
fn a_passage_is_replaced_only_where_it_is_unique() {
    let mut world = World::new();
    let task = world.create(NewTask::new(world.root(), "t", "one two one, aaa"));
    world.user(update(task, replace("two", "2")));
    assert_eq!(world.state.tree().get(task).unwrap().description, "one 2 one, aaa");
    for (passage, code) in [
        ("three", "passage_not_found"),
        ("", "passage_not_found"),
        ("one", "passage_not_unique"),
        ("aa", "passage_not_unique"),
    ] {
        assert_eq!(world.refused(Actor::User, update(task, replace(passage, "x"))).code(), code, "{passage}");
    }
    let too_long = replace("2", &"x".repeat(world.limits.description_bytes));
    assert_eq!(world.refused(Actor::User, update(task, too_long)).code(), "too_long");
}

#[test]
fn a_patch_is_all_or_nothing() {
    let mut world = World::new();
    let task = world.task(world.root(), "t");
    let patch = TaskPatch {
        title: Some("new".into()),
        color: Change::Set(Color("nope".into())),
        ..TaskPatch::default()
    };
    assert_eq!(world.refused(Actor::User, update(task, patch)), Refusal::BadColor { given: "nope".into() });
    assert_eq!(world.state.tree().get(task).unwrap().title, "t");
}

#[test]
fn agents_edit_text_anywhere_and_work_only_below() {
    let mut world = World::new();
    let root = world.root();
    let (a, b) = (world.task(root, "a"), world.task(root, "b"));
    world.agent(a, update(b, TaskPatch { title: Some("b2".into()), ..TaskPatch::default() }));
    world.agent(
        a,
        update(root, TaskPatch { color: Change::Set(Color("#abc".into())), ..TaskPatch::default() }),
    );
    let after = TaskPatch { after: Some(Vec::new()), ..TaskPatch::default() };
    assert_eq!(world.refused(Actor::Agent(a), update(b, after)).code(), "outside_subtree");
    let budget = TaskPatch { budget: Change::Set(Usd::ZERO), ..TaskPatch::default() };
    assert_eq!(world.refused(Actor::Agent(a), update(a, budget)).code(), "user_only");
    let folder = world.folder(root, "f");
    let budget = TaskPatch { budget: Change::Set(Usd::ZERO), ..TaskPatch::default() };
    assert_eq!(world.refused(Actor::User, update(folder, budget)).code(), "not_a_task");
}

#[test]
fn a_move_takes_everything_below_along() {
    let mut world = World::new();
    let root = world.root();
    let (a, b) = (world.task(root, "a"), world.task(root, "b"));
    let below = world.task(a, "below");
    let (task, parent, place) = (a, b, Place::Last);
    world.user(Op::MoveTask { task, parent, place });
    let tree = world.state.tree();
    assert_eq!(tree.path(below), ["Orchestrator", "b", "a", "below"]);
    assert_eq!(tree.get(root).unwrap().children, [b]);

    let cycle = Op::MoveTask { task: b, parent: below, place };
    assert_eq!(world.refused(Actor::User, cycle), Refusal::Cycle { task: b, parent: below });
    let itself = Op::MoveTask { task: b, parent: b, place };
    assert_eq!(world.refused(Actor::User, itself).code(), "cycle");
    let unmoved = Op::MoveTask { task: a, parent: b, place };
    assert_eq!(world.refused(Actor::User, unmoved), Refusal::NothingToChange { task: a });
    let root_moved = Op::MoveTask { task: root, parent: b, place };
    assert_eq!(world.refused(Actor::User, root_moved).code(), "is_root");
}

#[test]
fn a_move_within_one_parent_counts_the_others() {
    let mut world = World::new();
    let root = world.root();
    let ids: Vec<TaskId> = ["a", "b", "c"].iter().map(|title| world.task(root, title)).collect();
    world.user(Op::MoveTask { task: ids[0], parent: root, place: Place::At(1) });
    assert_eq!(world.state.tree().get(root).unwrap().children, [ids[1], ids[0], ids[2]]);
    world.user(Op::MoveTask { task: ids[1], parent: root, place: Place::Last });
    assert_eq!(world.state.tree().get(root).unwrap().children, [ids[0], ids[2], ids[1]]);
}

#[test]
fn agents_move_only_within_their_subtree() {
    let mut world = World::new();
    let root = world.root();
    let (a, b) = (world.task(root, "a"), world.task(root, "b"));
    let below = world.task(a, "below");
    let place = Place::Last;
    let out = Op::MoveTask { task: below, parent: b, place };
    assert_eq!(world.refused(Actor::Agent(a), out).code(), "outside_subtree");
    let inwards = Op::MoveTask { task: b, parent: a, place };
    assert_eq!(world.refused(Actor::Agent(a), inwards).code(), "outside_subtree");
    let other = world.task(a, "other");
    world.agent(a, Op::MoveTask { task: below, parent: other, place });
    assert_eq!(world.state.tree().get(below).unwrap().parent_id, Some(other));
}

#[test]
fn an_order_is_an_exact_permutation() {
    let mut world = World::new();
    let root = world.root();
    let (a, b, c) = (world.task(root, "a"), world.task(root, "b"), world.task(root, "c"));
    let below = world.task(a, "below");
    let order = |children: &[TaskId]| Op::ReorderChildren { node: root, children: children.to_vec() };
    world.user(order(&[c, a, b]));
    assert_eq!(world.state.tree().get(root).unwrap().children, [c, a, b]);
    for (children, missing, foreign) in
        [(vec![c, a], 1, 0), (vec![c, a, a], 1, 1), (vec![c, a, b, below], 0, 1), (vec![c, a, b, b], 0, 1)]
    {
        let refusal = world.refused(Actor::User, order(&children));
        assert_eq!(refusal, Refusal::NotAPermutation { node: root, missing, foreign });
    }
    assert_eq!(world.refused(Actor::User, order(&[c, a, b])).code(), "nothing_to_change");
    assert_eq!(world.refused(Actor::Agent(a), order(&[a, b, c])).code(), "outside_subtree");
}

#[test]
fn persistent_tasks_stand_near_the_root() {
    let mut world = World::new();
    let root = world.root();
    let persistent = Some(Persistence::Continue);
    let folder = world.folder(root, "f");
    // A folder does not count: its tasks belong to the root.
    let kept = world.create(NewTask { persistent, ..NewTask::new(folder, "k", "") });
    let a = world.task(root, "a");
    let deep = Op::CreateTask(NewTask { persistent, ..NewTask::new(a, "deep", "") });
    assert_eq!(world.refused(Actor::User, deep), Refusal::PersistentTooDeep { depth: 2, limit: 1 });
    let make = update(a, TaskPatch { persistent: Change::Set(Persistence::Reset), ..TaskPatch::default() });
    assert_eq!(world.refused(Actor::Agent(a), make.clone()), Refusal::PersistentNotAllowed { agent: a });
    world.agent(root, make);
    // Neither directly nor inside what moves may it get deeper.
    for task in [kept, folder] {
        let op = Op::MoveTask { task, parent: a, place: Place::Last };
        assert_eq!(world.refused(Actor::User, op).code(), "persistent_too_deep");
    }
    let clear = TaskPatch { persistent: Change::Clear, ..TaskPatch::default() };
    world.user(update(kept, clear));
    world.user(Op::MoveTask { task: kept, parent: a, place: Place::Last });
}
