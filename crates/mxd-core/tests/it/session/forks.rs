//! Conversations that go on in another task.

use mxd_core::decide::Effect;
use mxd_core::event::EventBody;
use mxd_core::event::body::TurnPurpose;
use mxd_core::id::TaskId;

use super::script::{mxd, results};
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
    assert_eq!(outcome.effects, [Effect::CallModel { task: child, turn: 1, purpose: TurnPurpose::Work }]);
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
