//! Tasks that wait for other tasks.

use mxd_core::decide::{Actor, NewTask, Op, Reach, Refusal, TaskPatch};
use mxd_core::id::TaskId;
use mxd_core::limits::Limits;
use mxd_core::tree::Status;

use crate::world::{World, deliveries, say, set, wakes};

fn waiting(world: &mut World, title: &str, after: &[TaskId]) -> TaskId {
    let root = world.root();
    world.create(NewTask { after: after.to_vec(), ..NewTask::new(root, title, "") })
}

fn set_after(task: TaskId, after: &[TaskId]) -> Op {
    Op::UpdateTask { task, patch: TaskPatch { after: Some(after.to_vec()), ..TaskPatch::default() } }
}

#[test]
fn a_message_to_a_blocked_task_waits_with_it() {
    let mut world = World::new();
    let root = world.root();
    let (a, b) = (world.task(root, "a"), world.task(root, "b"));
    let task = waiting(&mut world, "t", &[a, b]);
    assert_eq!(world.state.tree().blocked_by(task), [a, b]);
    let decision = world.user(say(1, task, "go when you can"));
    assert_eq!((world.status(task), wakes(&decision)), (Status::Pending, vec![]));
    assert_eq!(deliveries(&decision).len(), 2, "stored, and told above");
    assert_eq!(
        world.refused(Actor::User, set(task, Status::InProgress)),
        Refusal::Blocked { task, by: vec![a, b] }
    );

    world.walk(a, &[Status::InProgress]);
    assert_eq!(wakes(&world.agent(a, set(a, Status::Passed))), []);
    world.walk(b, &[Status::InProgress]);
    assert_eq!(wakes(&world.agent(b, set(b, Status::Verify))), [], "verify is not finished");
    let decision = world.agent(root, set(b, Status::Passed));
    assert_eq!(wakes(&decision), [task]);
    assert_eq!(world.status(task), Status::InProgress);
}

#[test]
fn only_tasks_that_were_asked_start() {
    let mut world = World::new();
    let a = world.task(world.root(), "a");
    let (asked, quiet) = (waiting(&mut world, "asked", &[a]), waiting(&mut world, "quiet", &[a]));
    world.user(say(1, asked, "go"));
    world.user(Op::UpdateTask {
        task: quiet,
        patch: TaskPatch { title: Some("q".into()), ..TaskPatch::default() },
    });
    assert!(!world.state.inbox(quiet).is_empty(), "a notice is no reason to start");
    let decision = world.user(Op::CloseTask { task: a });
    assert_eq!(wakes(&decision), [asked]);
    assert_eq!(world.status(quiet), Status::Pending);
}

#[test]
fn a_blocked_task_that_was_closed_stays_closed() {
    let mut world = World::new();
    let a = world.task(world.root(), "a");
    let task = waiting(&mut world, "t", &[a]);
    world.user(say(1, task, "go"));
    world.user(Op::CloseTask { task });
    assert_eq!(wakes(&world.user(Op::CloseTask { task: a })), []);
    assert_eq!(world.status(task), Status::Closed);
}

#[test]
fn a_finished_task_that_is_blocked_again_waits_too() {
    let mut world = World::new();
    let a = world.task(world.root(), "a");
    let task = world.task(world.root(), "t");
    world.walk(task, &[Status::InProgress, Status::Passed]);
    world.user(set_after(task, &[a]));
    world.user(say(1, task, "again"));
    assert_eq!(world.status(task), Status::Passed);
    assert_eq!(wakes(&world.user(Op::CloseTask { task: a })), [task]);
}

#[test]
fn deleting_a_dependency_frees_those_who_waited() {
    let mut world = World::new();
    let root = world.root();
    let (a, b) = (world.task(root, "a"), world.task(root, "b"));
    let below = world.task(a, "below");
    let task = waiting(&mut world, "t", &[below, b]);
    let free = waiting(&mut world, "free", &[a, below]);
    world.user(say(1, task, "go"));
    world.user(say(2, free, "go"));
    let decision = world.agent(root, Op::DeleteTask { task: a, reach: Reach::Recursive });
    assert_eq!(wakes(&decision), [free]);
    let after = |id| world.state.tree().get(id).unwrap().task().unwrap().after.clone();
    assert_eq!((after(task), after(free)), (vec![b], vec![]));
    assert_eq!(world.state.tree().waiting_for(below).count(), 0);
}

#[test]
fn waiting_for_less_can_start_a_task() {
    let mut world = World::new();
    let a = world.task(world.root(), "a");
    let task = waiting(&mut world, "t", &[a]);
    world.user(say(1, task, "go"));
    let decision = world.user(set_after(task, &[]));
    assert_eq!(wakes(&decision), [task]);
}

#[test]
fn a_running_task_is_woken_whatever_it_waits_for() {
    let mut world = World::new();
    let a = world.task(world.root(), "a");
    let task = world.task(world.root(), "t");
    world.user(say(1, task, "go"));
    world.user(set_after(task, &[a]));
    assert_eq!(wakes(&world.user(say(2, task, "more"))), [task]);
}

#[test]
fn nobody_waits_in_a_circle() {
    let mut world = World::new();
    let a = world.task(world.root(), "a");
    let b = waiting(&mut world, "b", &[a]);
    let c = waiting(&mut world, "c", &[b]);
    for (task, dependency) in [(a, a), (a, b), (a, c), (b, c)] {
        let refusal = world.refused(Actor::User, set_after(task, &[dependency]));
        assert_eq!(refusal, Refusal::DependencyCycle { task, dependency });
    }
    world.user(set_after(c, &[a, b]));
}

#[test]
fn what_is_waited_for_exists_once_and_is_a_task() {
    let mut world = World::new();
    let root = world.root();
    let (a, folder) = (world.task(root, "a"), world.folder(root, "f"));
    let gone = world.task(root, "gone");
    world.agent(root, Op::DeleteTask { task: gone, reach: Reach::Only });
    let create = |after: Vec<TaskId>| Op::CreateTask(NewTask { after, ..NewTask::new(root, "t", "") });
    for (after, code) in
        [(vec![gone], "unknown_task"), (vec![folder], "not_a_task"), (vec![a, a], "repeated_dependency")]
    {
        assert_eq!(world.refused(Actor::User, create(after)).code(), code);
    }
    world.limits = Limits { after_entries: 0, ..Limits::DEFAULT };
    let refusal = world.refused(Actor::User, create(vec![a]));
    assert_eq!(refusal, Refusal::TooManyDependencies { given: 1, limit: 0 });
}
