//! Conversations that go on in another task.

use mxd_core::commit::Seq;
use mxd_core::decide::{Effect, Op, Reach};
use mxd_core::event::EventBody;
use mxd_core::event::body::TurnPurpose;
use mxd_core::id::TaskId;

use super::conversation;
use super::script::{asks, mxd, results};
use super::stage::{Outcome, Stage};

fn fork(stage: &mut Stage, who: TaskId, (source, target): (TaskId, TaskId)) -> Outcome {
    let args = format!(r#"{{"sourceTaskId":"{source}","targetTaskId":"{target}"}}"#);
    stage.calls(who, vec![mxd("f", "fork_task_context", &args)])
}

/// A worker that has said something, and a task below it.
fn pair(stage: &mut Stage) -> (TaskId, TaskId) {
    let task = stage.worker();
    let child = stage.task(task, "child");
    (task, child)
}

#[test]
fn a_fork_is_a_pointer_and_shares_the_frozen_start() {
    let mut stage = Stage::new();
    let (task, child) = pair(&mut stage);
    let before = stage.commits.len() as u64;
    let outcome = fork(&mut stage, task, (task, child));
    let marker = outcome.of(child).find_map(|body| match body {
        EventBody::ForkMarker(marker) => Some(marker.clone()),
        _ => None,
    });
    let marker = marker.expect("a marker");
    assert_eq!((marker.source_task_id, marker.source_seq.0), (task, before + 1), "up to the call itself");
    assert!(results(&outcome)[0].1.contains("You are the one who called"));
    let (source, target) = (stage.state.session(task), stage.state.session(child));
    assert!(target.is_open());
    assert_eq!(target.terms(), source.terms());
    assert!(target.context().worst() > 0 && target.life().turns == 0);
    assert_eq!(outcome.effects.len(), 1, "it does not start by itself");
}

#[test]
fn a_forked_task_starts_with_a_message_and_gets_no_start_of_its_own() {
    let mut stage = Stage::new();
    let (task, child) = pair(&mut stage);
    fork(&mut stage, task, (task, child));
    assert_eq!(stage.say(child, "you take this").effects[0], Effect::Launch { task: child });
    let outcome = stage.launches(child);
    assert!(!outcome.has("session_config"), "{:?}", outcome.names());
    assert_eq!(outcome.effects, [asks((child, 1), TurnPurpose::Work)]);
    assert_eq!(stage.open(child), [] as [&str; 0], "the calls of its parent are not its own");
}

#[test]
fn a_fork_of_a_fork_is_a_fork() {
    let mut stage = Stage::new();
    let (task, child) = pair(&mut stage);
    let grandchild = stage.task(child, "grandchild");
    fork(&mut stage, task, (task, child));
    stage.say(child, "go");
    stage.launches(child);
    fork(&mut stage, child, (child, grandchild));
    assert!(stage.state.session(grandchild).is_open());
    assert_eq!(stage.fold(), stage.state);
}

#[test]
fn only_a_task_below_that_never_began_can_inherit() {
    let mut stage = Stage::new();
    let (task, child) = pair(&mut stage);
    let (root, sibling) = (stage.root(), stage.task(stage.root(), "sibling"));
    let silent = stage.task(task, "silent");
    let begun = stage.task(task, "begun");
    stage.begin(begun);
    let launching = stage.task(task, "launching");
    stage.say(launching, "begin");
    for (source, target) in
        [(task, task), (task, root), (task, sibling), (silent, child), (task, begun), (task, launching)]
    {
        let outcome = fork(&mut stage, task, (source, target));
        assert!(results(&outcome)[0].1.contains("Nothing was done"), "{source} {target}: {outcome:?}");
    }
    stage.launches(launching);
    assert!(stage.is_asking(launching), "and it is as it was");
}

/// What was thrown away is removed from the log, and everybody has all of its conversation.
fn whole(stage: &Stage) {
    let (log, pruned) = (conversation::log(stage), conversation::pruned(stage));
    assert_eq!(conversation::fold(&pruned), stage.state);
    let end = Seq(stage.commits.len() as u64);
    for task in stage.tasks() {
        assert_eq!(conversation::read(&pruned, task, end), conversation::read(&log, task, end));
    }
}

fn prunes(outcome: &Outcome) -> Vec<TaskId> {
    let pruned = outcome.effects.iter().filter_map(|effect| match effect {
        Effect::PruneConversation { task } => Some(*task),
        _ => None,
    });
    pruned.collect()
}

#[test]
fn a_conversation_that_a_fork_begins_with_stays_until_the_fork_goes() {
    let throw_away: [fn(TaskId) -> Op; 3] = [
        |task| Op::ResetTask { task },
        |task| Op::ClearConversation { task },
        |task| Op::DeleteTask { task, reach: Reach::Only },
    ];
    for op in throw_away {
        let mut stage = Stage::new();
        let root = stage.root();
        stage.begin(root);
        let (source, heir) = (stage.task(root, "source"), stage.task(root, "heir"));
        stage.begin(source);
        fork(&mut stage, root, (source, heir));
        assert_eq!(prunes(&stage.user(op(source))), [], "its heir begins with it");
        whole(&stage);
        assert_eq!(prunes(&stage.user(op(heir))), [source, heir], "nobody begins with it any more");
        whole(&stage);
    }
}

#[test]
fn a_conversation_is_kept_for_forks_of_forks() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    let [first, second, third] = ["first", "second", "third"].map(|title| stage.task(root, title));
    stage.begin(first);
    fork(&mut stage, root, (first, second));
    stage.say(second, "go");
    stage.launches(second);
    fork(&mut stage, root, (second, third));
    assert_eq!(stage.state.session(third).lineage(), [first, second]);
    for gone in [first, second] {
        assert_eq!(prunes(&stage.user(Op::DeleteTask { task: gone, reach: Reach::Only })), []);
        whole(&stage);
    }
    let outcome = stage.user(Op::DeleteTask { task: third, reach: Reach::Only });
    assert_eq!(prunes(&outcome), [first, second, third]);
    whole(&stage);
}

#[test]
fn who_goes_with_its_source_keeps_nothing() {
    let mut stage = Stage::new();
    let (task, child) = pair(&mut stage);
    fork(&mut stage, task, (task, child));
    let outcome = stage.user(Op::DeleteTask { task, reach: Reach::Recursive });
    assert_eq!(prunes(&outcome), [task, child]);
    whole(&stage);
}

#[test]
fn conversations_go_back_only_so_far() {
    let mut stage = Stage::new();
    stage.limits.fork_depth = 2;
    let root = stage.root();
    stage.begin(root);
    let tasks: Vec<TaskId> = (0..4).map(|n| stage.task(root, &format!("t{n}"))).collect();
    stage.begin(tasks[0]);
    for n in 0..2 {
        fork(&mut stage, root, (tasks[n], tasks[n + 1]));
    }
    let outcome = fork(&mut stage, root, (tasks[2], tasks[3]));
    assert!(results(&outcome)[0].1.contains("goes back to 2 others"), "{outcome:?}");
    assert!(!stage.state.session(tasks[3]).is_open());
}
