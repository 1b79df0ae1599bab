//! Persistent tasks that come with a file of the repository.

use mxd_core::change::Change;
use mxd_core::decide::{Actor, AdoptedTask, NewTask, Op, Refusal, TaskPatch};
use mxd_core::id::TaskId;
use mxd_core::tree::{Persistence, Status};

use crate::world::World;

const FROM_ELSEWHERE: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

fn file(id: TaskId, description: &str) -> Op {
    Op::AdoptTask(AdoptedTask {
        id,
        title: "Audit".into(),
        description: description.into(),
        color: None,
        persistent: Persistence::Continue,
    })
}

#[test]
fn the_words_of_a_file_wait_for_the_user() {
    let mut world = World::new();
    let root = world.root();
    let id: TaskId = FROM_ELSEWHERE.parse().unwrap();
    world.attempt(Actor::Daemon, file(id, "Look around.")).unwrap();
    let node = world.state.tree().get(id).unwrap();
    assert_eq!((node.parent_id, node.status()), (Some(root), Some(Status::Draft)));
    assert_eq!(node.task().unwrap().persistent, Some(Persistence::Continue));
    let ready = Op::SetStatus { task: id, to: Status::Pending, reason: None };
    let ordinary =
        Op::UpdateTask { task: id, patch: TaskPatch { persistent: Change::Clear, ..TaskPatch::default() } };
    world.run_agent(root);
    for op in [ready.clone(), ordinary, file(id, "Do harm.")] {
        assert_eq!(world.refused(Actor::Agent(root), op).code(), "user_only");
    }
    world.user(ready);
    assert_eq!(world.state.tree().get(id).unwrap().status(), Some(Status::Pending));
}

#[test]
fn other_words_make_it_a_draft_again() {
    let mut world = World::new();
    let root = world.root();
    let new = NewTask { persistent: Some(Persistence::Continue), ..NewTask::new(root, "Audit", "Look.") };
    let task = world.create(new);
    assert_eq!(world.refused(Actor::Daemon, file(task, "Look.")), Refusal::NothingToChange { task });
    world.attempt(Actor::Daemon, file(task, "Look again.")).unwrap();
    let node = world.state.tree().get(task).unwrap();
    assert_eq!((node.description.as_str(), node.status()), ("Look again.", Some(Status::Draft)));
}

#[test]
fn a_file_changes_nobody_else_and_nobody_at_work() {
    let mut world = World::new();
    let root = world.root();
    let ordinary = world.task(root, "ordinary");
    for other in [root, ordinary, world.folder(root, "folder")] {
        assert_eq!(world.refused(Actor::Daemon, file(other, "x")), Refusal::NotPersistent { task: other });
    }
    let new = NewTask { persistent: Some(Persistence::Reset), ..NewTask::new(root, "Audit", "Look.") };
    let working = world.create(new);
    world.run_agent(working);
    assert_eq!(world.refused(Actor::Daemon, file(working, "x")).code(), "illegal_transition");
    let long = file(FROM_ELSEWHERE.parse().unwrap(), &"x".repeat(40_000));
    assert_eq!(world.refused(Actor::Daemon, long).code(), "too_long");
}
