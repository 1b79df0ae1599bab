//! Workplaces come and go: what is not wanted is written down, removed outside, and replaced only when it is gone.

use mxd_core::decide::{Effect, Op, SessionOp};
use mxd_core::event::EventBody;
use mxd_core::id::TaskId;
use mxd_core::message::Message;
use mxd_core::tree::{Leaving, Status, TaskFields};

use super::script::done;
use super::stage::{Outcome, Stage};

fn fields(stage: &Stage, task: TaskId) -> &TaskFields {
    stage.state.tree().get(task).and_then(|node| node.task()).expect("a task")
}

fn path(task: TaskId) -> String {
    format!("/worktrees/{task}")
}

fn removals(outcome: &Outcome) -> usize {
    outcome.effects.iter().filter(|effect| matches!(effect, Effect::RemoveWorktree { .. })).count()
}

fn removed(stage: &mut Stage, task: TaskId) -> Outcome {
    stage.session(task, SessionOp::WorktreeRemoved { path: path(task) })
}

fn kept(stage: &mut Stage, task: TaskId) -> Outcome {
    let message = "somebody is in it".to_owned();
    stage.session(task, SessionOp::WorktreeKept { path: path(task), message })
}

/// A worker that was reset, with its worktree being removed.
fn leaving(stage: &mut Stage) -> TaskId {
    let task = stage.worker();
    let outcome = stage.reset(task);
    assert_eq!((outcome.has("worktree_dismissed"), removals(&outcome)), (true, 1));
    stage.work.clear();
    task
}

#[test]
fn that_a_worktree_is_gone_is_recorded_when_it_is_gone() {
    let mut stage = Stage::new();
    let task = leaving(&mut stage);
    assert_eq!(fields(&stage, task).worktree_path, Some(path(task)), "it is still there");
    assert_eq!(removed(&mut stage, task).names(), ["worktree_removed"]);
    let gone = fields(&stage, task);
    assert_eq!((&gone.worktree_path, &gone.branch, gone.leaving), (&None, &None, None));
    assert_eq!(stage.refused(task, SessionOp::WorktreeRemoved { path: path(task) }), "late");
}

#[test]
fn a_closed_task_that_is_called_again_gets_a_new_worktree() {
    let mut stage = Stage::new();
    let task = stage.worker();
    stage.calls(task, vec![done("d", "failed")]);
    assert_eq!(removals(&stage.user(Op::CloseTask { task })), 1);
    removed(&mut stage, task);
    let outcome = stage.say(task, "once more");
    assert!(outcome.effects.contains(&Effect::Launch { task }), "{:?}", outcome.effects);
    assert!(stage.launches(task).has("worktree_created"));
    assert!(stage.is_asking(task));
}

#[test]
fn a_new_worktree_waits_until_the_old_one_is_gone() {
    let mut stage = Stage::new();
    let task = leaving(&mut stage);
    let outcome = stage.say(task, "again");
    assert_eq!(outcome.effects, [], "the old one is being removed");
    assert!(stage.state.session(task).is_busy());
    assert_eq!(removed(&mut stage, task).effects, [Effect::Launch { task }]);
    stage.launches(task);
    assert!(stage.is_asking(task));
}

#[test]
fn a_removal_that_a_crash_interrupted_is_made_again() {
    for called in [false, true] {
        let mut stage = Stage::new();
        let task = leaving(&mut stage);
        if called {
            stage.say(task, "again");
        }
        let outcome = stage.crash();
        assert_eq!(removals(&outcome), 1);
        assert!(!outcome.effects.contains(&Effect::Launch { task }), "not beside it");
        assert_eq!(removed(&mut stage, task).effects.contains(&Effect::Launch { task }), called);
    }
}

#[test]
fn a_worktree_that_stays_is_told_and_tried_again_at_the_next_start() {
    let mut stage = Stage::new();
    let task = leaving(&mut stage);
    let outcome = kept(&mut stage, task);
    assert_eq!(outcome.names(), ["worktree_failed", "error"]);
    assert_eq!(fields(&stage, task).leaving, Some(Leaving::Stuck));
    assert_eq!(removals(&stage.crash()), 0, "not by itself");
    assert_eq!(removals(&stage.say(task, "again")), 1);
    assert_eq!(removed(&mut stage, task).effects, [Effect::Launch { task }]);
}

#[test]
fn who_waits_for_a_worktree_that_cannot_be_made_has_failed() {
    let mut stage = Stage::new();
    let task = leaving(&mut stage);
    stage.say(task, "again");
    let outcome = kept(&mut stage, task);
    assert_eq!(stage.status(task), Status::Failed);
    let told = outcome.of(stage.root()).any(|body| match body {
        EventBody::Message(posted) => matches!(&posted.body, Message::TaskComplete(done) if !done.success),
        _ => false,
    });
    assert!(told, "{:?}", outcome.names());
}

#[test]
fn what_is_being_removed_is_not_removed_twice() {
    let mut stage = Stage::new();
    let task = leaving(&mut stage);
    assert_eq!(removals(&stage.reset(task)), 0);
    let outcome = stage.user(Op::DeleteTask { task, reach: mxd_core::decide::Reach::Only });
    assert_eq!(removals(&outcome), 0);
}

#[test]
fn only_so_many_conversations_of_closed_tasks_are_kept() {
    for (kept, gone) in [(0, vec![0, 1, 2]), (1, vec![0, 1]), (2, vec![0]), (usize::MAX, vec![])] {
        let mut stage = Stage::new();
        stage.limits.closed_conversations = kept;
        let root = stage.root();
        let tasks = ["a", "b", "c"].map(|title| stage.task(root, title));
        for task in tasks {
            stage.now += 1;
            stage.begin(task);
            stage.calls(task, vec![done("d", "failed")]);
            stage.user(Op::CloseTask { task });
        }
        let cleared: Vec<usize> = (0..3).filter(|n| !stage.state.session(tasks[*n]).is_open()).collect();
        assert_eq!(cleared, gone, "the oldest, when {kept} are kept");
        let pruned: Vec<TaskId> = stage.prunes.iter().map(|(task, _)| *task).collect();
        assert_eq!(pruned, gone.iter().map(|n| tasks[*n]).collect::<Vec<_>>());
    }
}

#[test]
fn what_is_kept_is_kept_of_closed_tasks_that_ever_worked() {
    let mut stage = Stage::new();
    stage.limits.closed_conversations = 1;
    let root = stage.root();
    let worked = stage.worker();
    stage.calls(worked, vec![done("d", "failed")]);
    stage.user(Op::CloseTask { task: worked });
    for n in 0..3 {
        let task = stage.task(root, &format!("idle {n}"));
        stage.user(Op::CloseTask { task });
    }
    let open = stage.worker();
    stage.calls(open, vec![done("d", "failed")]);
    assert!(stage.state.session(worked).is_open(), "those that never worked or are not closed do not count");
}
