//! Closing, beginning again, clearing and deleting.

use mxd_core::change::Change;
use mxd_core::decide::{Actor, Effect, NewTask, Op, Reach, Refusal, TaskPatch};
use mxd_core::event::body::WorktreeCreated;
use mxd_core::event::{Event, EventBody};
use mxd_core::id::TaskId;
use mxd_core::time::Millis;
use mxd_core::tree::{Persistence, Status};

use crate::world::{World, say, set};

fn give_worktree(world: &mut World, task: TaskId) -> Effect {
    let (path, branch) = (format!("/w/{task}"), format!("mxd/{task}"));
    let body = WorktreeCreated { path: path.clone(), branch: branch.clone(), base: "main".into() };
    world.state.apply(&Event::new(task, body), Millis(9));
    Effect::RemoveWorktree { task, path, branch: Some(branch) }
}

#[test]
fn closing_removes_the_worktree_and_refuses_running_tasks() {
    let mut world = World::new();
    let task = world.task(world.root(), "t");
    let removal = give_worktree(&mut world, task);
    world.user(say(1, task, "go"));
    assert_eq!(world.refused(Actor::User, Op::CloseTask { task }), Refusal::Running { task });
    world.walk(task, &[Status::Passed]);
    let decision = world.user(Op::CloseTask { task });
    assert_eq!(decision.effects, [removal]);
    assert_eq!(world.status(task), Status::Closed);
    assert_eq!(world.refused(Actor::User, Op::CloseTask { task }).code(), "illegal_transition");
}

#[test]
fn a_persistent_task_comes_back_when_it_is_closed() {
    for (persistence, effects) in [(Persistence::Reset, 1), (Persistence::Continue, 0)] {
        let mut world = World::new();
        let root = world.root();
        let task = world.create(NewTask { persistent: Some(persistence), ..NewTask::new(root, "t", "") });
        world.user(say(1, task, "go"));
        world.walk(task, &[Status::Verify]);
        let decision = world.user(Op::CloseTask { task });
        assert_eq!(world.status(task), Status::Pending);
        assert_eq!(decision.effects.len(), effects);
        let cleared = decision.events.iter().any(|e| matches!(e.body, EventBody::ConversationCleared(_)));
        assert_eq!(cleared, persistence == Persistence::Reset);
        assert_eq!(world.state.inbox(task).is_empty(), persistence == Persistence::Reset);
    }
}

#[test]
fn closing_a_persistent_task_that_rests_only_clears_it() {
    let mut world = World::new();
    let root = world.root();
    let task =
        world.create(NewTask { persistent: Some(Persistence::Continue), ..NewTask::new(root, "t", "") });
    assert_eq!(world.refused(Actor::User, Op::CloseTask { task }), Refusal::NothingToChange { task });
    let patch = TaskPatch { persistent: Change::Set(Persistence::Reset), ..TaskPatch::default() };
    world.user(Op::UpdateTask { task, patch });
    let decision = world.user(Op::CloseTask { task });
    assert_eq!(decision.effects, [Effect::PruneConversation { task }]);
    assert_eq!(world.status(task), Status::Pending);
}

#[test]
fn a_reset_throws_everything_of_the_task_away() {
    let mut world = World::new();
    let task = world.task(world.root(), "t");
    let removal = give_worktree(&mut world, task);
    world.user(say(1, task, "go"));
    let decision = world.user(Op::ResetTask { task });
    assert_eq!(decision.effects, [Effect::StopAgent { task }, removal, Effect::PruneConversation { task }]);
    assert_eq!(world.status(task), Status::Pending);
    assert!(world.state.inbox(task).is_empty());
    world.walk(task, &[Status::Draft]);
    world.user(Op::ResetTask { task });
    assert_eq!(world.status(task), Status::Draft, "a reset does not make a draft ready");
}

#[test]
fn clearing_keeps_the_task_as_it_is() {
    let mut world = World::new();
    let task = world.task(world.root(), "t");
    world.user(say(1, task, "go"));
    let decision = world.user(Op::ClearConversation { task });
    assert_eq!(decision.effects, [Effect::StopAgent { task }, Effect::PruneConversation { task }]);
    assert_eq!(world.status(task), Status::InProgress);
    assert!(world.state.inbox(task).is_empty());
}

#[test]
fn deletion_goes_from_the_leaves_up_in_one_decision() {
    let mut world = World::new();
    let root = world.root();
    let top = world.task(root, "top");
    let folder = world.folder(top, "folder");
    let leaf = world.task(folder, "leaf");
    world.user(say(1, leaf, "go"));
    let removal = give_worktree(&mut world, leaf);
    let op = |task, reach| Op::DeleteTask { task, reach };
    for task in [top, folder] {
        let refusal = world.refused(Actor::User, op(task, Reach::Only));
        assert_eq!(refusal, Refusal::HasChildren { task, children: 1 });
    }
    let decision = world.agent(root, op(top, Reach::Recursive));
    let gone: Vec<TaskId> = decision.events.iter().map(|event| event.task).collect();
    assert_eq!(gone, [leaf, folder, top]);
    let effects = [
        Effect::StopAgent { task: leaf },
        removal,
        Effect::PruneConversation { task: top },
        Effect::PruneConversation { task: leaf },
    ];
    assert_eq!(decision.effects, effects);
    assert_eq!(world.state.tree().len(), 1);
    assert_eq!(world.refused(Actor::User, op(root, Reach::Recursive)).code(), "is_root");
}

#[test]
fn agents_shape_only_their_own_subtree() {
    let mut world = World::new();
    let root = world.root();
    let (a, b) = (world.task(root, "a"), world.task(root, "b"));
    let ops = [
        Op::CreateTask(NewTask::new(b, "x", "")),
        set(b, Status::InProgress),
        Op::CloseTask { task: b },
        Op::ResetTask { task: b },
        Op::ClearConversation { task: root },
        Op::DeleteTask { task: b, reach: Reach::Only },
    ];
    for op in ops {
        assert_eq!(world.refused(Actor::Agent(a), op.clone()).code(), "outside_subtree", "{op:?}");
    }
    let below = world.agent(a, Op::CreateTask(NewTask::new(a, "x", ""))).events[0].task;
    world.agent(a, set(below, Status::InProgress));
    world.agent(a, Op::DeleteTask { task: below, reach: Reach::Only });
    world.user(Op::DeleteTask { task: a, reach: Reach::Only });
    assert_eq!(world.refused(Actor::Agent(a), Op::ResetTask { task: b }), Refusal::UnknownActor { task: a });
}

#[test]
fn an_agent_that_reports_its_own_end_is_not_stopped() {
    let mut world = World::new();
    let task = world.task(world.root(), "t");
    world.user(say(1, task, "go"));
    let unread = world.refused(Actor::Agent(task), set(task, Status::Verify));
    assert_eq!(unread, Refusal::UnreadMessages { task, unread: 1 });
    world.drain(task);
    assert_eq!(world.agent(task, set(task, Status::Verify)).effects, []);
    world.user(say(2, task, "again"));
    assert_eq!(world.user(set(task, Status::Failed)).effects, [Effect::StopAgent { task }]);
}
