//! What comes too late, too large or from the wrong side.

use mxd_core::change::Change;
use mxd_core::decide::{Actor, NewRoot, NewTask, Op, Place, Post, Reach, Refusal, TaskPatch};
use mxd_core::event::body::{BlobId, Image};
use mxd_core::limits::Limits;
use mxd_core::tree::{Persistence, Status};

use crate::world::{World, message_id, say, set, wakes};

#[test]
fn an_agent_that_was_stopped_decides_nothing_any_more() {
    let mut world = World::new();
    let root = world.root();
    let task = world.task(root, "t");
    world.run_agent(task);
    for end in [Status::Failed, Status::Verify] {
        world.user(set(task, end));
        for op in [
            set(task, Status::InProgress),
            Op::CreateTask(NewTask::new(task, "late", "")),
            say(9, root, "late"),
        ] {
            let refusal = world.attempt(Actor::Agent(task), op).unwrap_err();
            assert_eq!(refusal, Refusal::NotWorking { task, status: end });
        }
        world.user(set(task, Status::InProgress));
    }
    let decision = world.agent(task, set(task, Status::Pending));
    assert_eq!(decision.effects.len(), 1, "an agent that gives its task back is stopped: {decision:?}");
}

#[test]
fn an_agent_does_not_throw_its_own_task_away() {
    let mut world = World::new();
    let task = world.task(world.root(), "t");
    let wishes = [
        Op::ResetTask { task },
        Op::ClearConversation { task },
        Op::CloseTask { task },
        Op::DeleteTask { task, reach: Reach::Recursive },
    ];
    for op in wishes {
        assert_eq!(world.refused(Actor::Agent(task), op).code(), "own_task");
    }
}

#[test]
fn mail_that_waited_for_somebody_at_work_does_not_start_a_task_that_was_ended() {
    let mut world = World::new();
    let root = world.root();
    let first = world.task(root, "first");
    let task = world.create(NewTask { after: vec![first], ..NewTask::new(root, "t", "") });
    world.walk(first, &[Status::InProgress, Status::Passed]);
    world.user(say(1, task, "go"));
    world.user(set(task, Status::Failed));
    assert!(!world.state.inbox(task).wants_agent());
    assert_eq!(wakes(&world.user(Op::CloseTask { task: first })), [], "it had been released before");
    let patch = TaskPatch { after: Some(vec![]), ..TaskPatch::default() };
    assert_eq!(wakes(&world.user(Op::UpdateTask { task, patch })), []);
    assert_eq!(world.status(task), Status::Failed);
    world.user(say(2, task, "once more"));
    assert_eq!(world.status(task), Status::InProgress);
}

#[test]
fn nothing_waits_for_what_stands_above_it_or_comes_back() {
    let mut world = World::new();
    let root = world.root();
    let parent = world.task(root, "parent");
    let other = world.task(root, "other");
    let child = world.task(parent, "child");
    let wait = |task, dependency| Op::UpdateTask {
        task,
        patch: TaskPatch { after: Some(vec![dependency]), ..TaskPatch::default() },
    };
    assert_eq!(world.refused(Actor::User, wait(child, root)).code(), "ancestor_dependency");
    let below = NewTask { after: vec![parent], ..NewTask::new(parent, "t", "") };
    assert_eq!(world.refused(Actor::User, Op::CreateTask(below)).code(), "ancestor_dependency");
    world.user(wait(child, other));
    let inwards = Op::MoveTask { task: parent, parent: other, place: Place::Last };
    assert_eq!(world.refused(Actor::User, inwards), Refusal::AncestorDependency { dependency: other });
    let back = Op::UpdateTask {
        task: other,
        patch: TaskPatch { persistent: Change::Set(Persistence::Reset), ..TaskPatch::default() },
    };
    assert_eq!(world.refused(Actor::User, back).code(), "persistent_dependency");
    let comes_back =
        world.create(NewTask { persistent: Some(Persistence::Continue), ..NewTask::new(root, "p", "") });
    assert_eq!(world.refused(Actor::User, wait(child, comes_back)).code(), "persistent_dependency");
}

#[test]
fn deleting_what_many_wait_for_is_one_small_decision() {
    let mut world = World::new();
    let root = world.root();
    let first = world.task(root, "first");
    world.limits = Limits { children_per_node: 2_000, ..Limits::DEFAULT };
    let waiter = |n: usize| NewTask { after: vec![first], ..NewTask::new(root, format!("t{n}"), "") };
    let waiting: Vec<_> = (0..Limits::DEFAULT.waiters_per_task).map(|n| world.create(waiter(n))).collect();
    let one_more = world.refused(Actor::User, Op::CreateTask(waiter(9_999)));
    assert_eq!(one_more.code(), "too_many_waiters");
    let decision = world.user(Op::DeleteTask { task: first, reach: Reach::Only });
    assert!(decision.events.len() < 5, "{} events", decision.events.len());
    assert!(waiting.iter().all(|task| world.state.tree().blocked_by(*task).is_empty()));
    assert!(
        waiting.iter().all(|task| world.state.tree().get(*task).unwrap().task().unwrap().after.is_empty())
    );
}

#[test]
fn a_decision_fits_into_a_line_of_the_log() {
    let mut world = World::new();
    let root = world.root();
    let parent = world.task(root, "parent");
    world.limits = Limits { decision_bytes: 2_000, ..Limits::DEFAULT };
    for n in 0..30 {
        world.task(parent, &format!("t{n}"));
    }
    let all = Op::DeleteTask { task: parent, reach: Reach::Recursive };
    assert_eq!(world.refused(Actor::User, all).code(), "too_much_at_once");
}

#[test]
fn names_from_outside_have_a_length() {
    let long = "x".repeat(5_000_000);
    let mut world = World::empty();
    let root = NewRoot { title: "r".into(), description: String::new(), branch: Some(long.clone()) };
    assert_eq!(world.refused(Actor::User, Op::CreateRoot(root)).code(), "too_long");
    let mut world = World::new();
    let to = world.root();
    for (media_type, blob) in [(long.clone(), "b".to_owned()), ("image/png".to_owned(), long)] {
        let images = vec![Image { media_type, blob: BlobId(blob) }];
        let post = Post { images, ..Post::text("look") };
        assert_eq!(
            world.refused(Actor::User, Op::SendMessage { id: message_id(1), to, post }).code(),
            "too_long"
        );
    }
}

#[test]
fn a_persistent_draft_is_not_made_ready_by_closing_it() {
    let mut world = World::new();
    let root = world.root();
    let status = mxd_core::event::body::InitialStatus::Draft;
    let persistent = Some(Persistence::Continue);
    let task = world.create(NewTask { status, persistent, ..NewTask::new(root, "p", "") });
    assert_eq!(world.refused(Actor::User, Op::CloseTask { task }).code(), "nothing_to_change");
    world.user(set(task, Status::Pending));
    let clear = TaskPatch { persistent: Change::Clear, ..TaskPatch::default() };
    let own = world.refused(Actor::Agent(task), Op::UpdateTask { task, patch: clear });
    assert_eq!(own.code(), "persistent_not_allowed", "only who may make it so may end it");
}
