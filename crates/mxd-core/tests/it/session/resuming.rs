//! What a daemon owes when it starts, read from the shape of the log alone.

use mxd_core::decide::{Effect, SessionOp};
use mxd_core::event::body::{RestReason, TurnPurpose};
use mxd_core::tree::Status;

use super::script::{answer, asks, done, id, in_background, mxd, results, run, text, yields};
use super::stage::{Played, Stage};
use crate::world::set;

#[test]
fn an_open_yield_costs_nothing() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    stage.calls(root, vec![yields("y")]);
    let outcome = stage.crash();
    assert_eq!((outcome.events.len(), outcome.effects), (0, vec![]));
    stage.say(root, "go on");
    assert!(stage.is_asking(root));
}

#[test]
fn a_thousand_agents_that_wait_cost_nothing() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.limits.children_per_node = 2_000;
    stage.limits.reminders = 0;
    for n in 0..1_000 {
        let task = stage.task(root, &format!("t{n}"));
        stage.begin(task);
        if n % 2 == 0 {
            stage.calls(task, vec![yields("y")])
        } else {
            stage.ends_turn(task)
        };
    }
    stage.work.clear();
    stage.steer(root, SessionOp::Stop { reason: None });
    for task in stage.tasks().collect::<Vec<_>>() {
        if task != root {
            stage.say(task, "on with it");
            stage.calls(task, vec![yields("again")]);
        }
    }
    let outcome = stage.crash();
    assert_eq!(outcome.effects, []);
    assert_eq!(outcome.commits, 0, "nothing is written, so nothing is built");
}

#[test]
fn a_model_call_is_made_again_and_the_lost_one_is_paid_as_well() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    let set_aside = stage.state.reservations().values().next().expect("money is set aside").amount;
    let outcome = stage.crash();
    assert_eq!(outcome.effects, [asks((root, 1), TurnPurpose::Work)]);
    assert_eq!(outcome.names(), ["attempt_failed", "budget_settled", "budget_reserved"]);
    let cost = stage.state.tree().get(root).and_then(|node| node.task()).expect("a task").cost_usd;
    assert_eq!(cost, set_aside, "nobody knows whether the model had answered");
    assert_eq!(stage.state.reservations().len(), 1);
    stage.ends_turn(root);
    assert_eq!(stage.state.reservations().len(), 0);
}

#[test]
fn a_tool_call_is_not_made_again_and_its_outcome_is_unknown() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    stage.calls(root, vec![run("a"), run("b")]);
    stage.returns(root, "a", "fine");
    let outcome = stage.crash();
    let results = results(&outcome);
    assert_eq!(results.len(), 1);
    assert!(results[0].0 == "b" && results[0].1.contains("unknown"), "{results:?}");
    assert!(stage.is_asking(root), "the model sees to it");
}

/// The daemon merges, searches and writes to other projects by itself, so it can find out what came of it.
#[test]
fn call_that_the_daemon_carries_out_is_finished_after_a_start() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    let merge = mxd("a", "merge_task", r#"{"taskId":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}"#);
    stage.calls(root, vec![merge, run("b")]);
    let outcome = stage.crash();
    let told = results(&outcome);
    assert!(told.len() == 1 && told[0].0 == "b", "only the command is unknown: {told:?}");
    assert_eq!(outcome.effects, [Effect::ResumeTool { task: root, call: id("a") }]);
    let again = stage.crash();
    assert_eq!(again.effects, outcome.effects, "as often as it is cut off");
    stage.returns(root, "a", "Merged.");
    assert!(stage.is_asking(root));
}

#[test]
fn call_of_a_stopped_agent_is_not_finished() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    stage.calls(root, vec![mxd("a", "merge_task", r#"{"taskId":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}"#)]);
    stage.steer(root, SessionOp::Stop { reason: None });
    let outcome = stage.crash();
    assert_eq!(outcome.effects, [], "who was stopped does nothing");
    assert!(results(&outcome)[0].1.contains("unknown"));
}

#[test]
fn a_call_that_is_decided_here_did_not_happen_and_is_decided_now() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    let args = r#"{"title":"child","description":"d"}"#;
    let (turn, _) = stage.asked(root);
    stage.fuse = Some(1);
    let op = SessionOp::Answered(answer(
        turn,
        vec![mxd("c", "create_task", args)],
        mxd_core::event::body::StopReason::ToolUse,
    ));
    let played =
        stage.play(mxd_core::decide::Actor::Daemon, mxd_core::decide::Op::Session { task: root, op });
    assert!(matches!(played, Played::Died));
    let outcome = stage.crash();
    assert_eq!(outcome.names().iter().filter(|name| **name == "task_created").count(), 1);
    assert!(stage.is_asking(root));
}

#[test]
fn the_end_of_a_task_is_looked_into_again() {
    let mut stage = Stage::new();
    let task = stage.worker();
    stage.calls(task, vec![done("d", "passed")]);
    assert_eq!(stage.crash().effects, [Effect::RunChecks { task }]);
    stage.checked(task, &[0]);
    assert_eq!(stage.status(task), Status::Passed);
    stage.work.clear();
    let outcome = stage.crash();
    let about_it = outcome.effects.iter().filter(|effect| format!("{effect:?}").contains(&task.to_string()));
    assert_eq!(about_it.count(), 0, "an ended task owes nothing");
}

#[test]
fn a_workplace_is_made_again() {
    let mut stage = Stage::new();
    let task = stage.task(stage.root(), "t");
    stage.say(task, "begin");
    assert_eq!(stage.crash().effects, [Effect::Launch { task }]);
    stage.launches(task);
    assert!(stage.is_asking(task));
}

#[test]
fn a_workplace_of_a_task_that_was_ended_meanwhile_is_not_waited_for() {
    let mut stage = Stage::new();
    let task = stage.task(stage.root(), "t");
    stage.say(task, "begin");
    stage.user(set(task, Status::Failed));
    stage.work.clear();
    assert_eq!(stage.crash().effects, []);
    assert_eq!(stage.say(task, "once more").effects, [Effect::Launch { task }]);
}

#[test]
fn a_task_that_was_ended_while_it_was_looked_into_can_be_called_after_a_start() {
    let mut stage = Stage::new();
    let task = stage.worker();
    stage.calls(task, vec![done("d", "passed")]);
    stage.user(set(task, Status::Failed));
    stage.work.clear();
    stage.crash();
    stage.say(task, "once more");
    assert!(stage.is_asking(task));
}

#[test]
fn an_interrupted_turn_is_not_taken_up() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    stage.steer(root, SessionOp::Interrupt);
    let outcome = stage.crash();
    assert_eq!(outcome.effects, []);
    assert!(stage.state.reservations().is_empty(), "what the lost call may have cost is spent");
    assert_eq!(stage.rest(root), Some(&RestReason::Interrupted));
}

#[test]
fn an_interrupted_turn_with_tools_is_brought_to_its_end() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    stage.calls(root, vec![run("a")]);
    stage.steer(root, SessionOp::Interrupt);
    assert_eq!(stage.crash().effects, []);
    assert_eq!((stage.open(root), stage.rest(root)), (vec![], Some(&RestReason::Interrupted)));
}

#[test]
fn a_task_nobody_wrote_to_is_left_alone_and_one_somebody_wrote_to_begins() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.task(root, "fresh");
    stage.fuse = Some(1);
    let op = stage.message(root, "begin");
    assert!(matches!(stage.play(mxd_core::decide::Actor::User, op), Played::Died));
    assert_eq!(stage.crash().effects, [Effect::Launch { task: root }]);
}

#[test]
fn commands_that_ran_died_and_their_agent_is_told() {
    let mut stage = Stage::new();
    let task = stage.worker();
    stage.calls(task, vec![run("a")]);
    stage.work.clear();
    stage.session(task, SessionOp::Settled(in_background("a", "server")));
    stage.calls(task, vec![yields("y")]);
    let outcome = stage.crash();
    assert!(outcome.has("message"), "{:?}", outcome.names());
    assert!(stage.is_asking(task));
    assert!(stage.state.session(task).background().is_empty());
    stage.answer(task, vec![text("ah")], mxd_core::event::body::StopReason::Other("pause_turn".into()));
}

/// Both would bring it back: the call that was broken off, and the news that its command is gone.
#[test]
fn who_was_stopped_stays_so_after_a_start() {
    let mut stage = Stage::new();
    let task = stage.worker();
    stage.calls(task, vec![run("a")]);
    stage.take(|effect| matches!(effect, Effect::RunTool { .. }).then_some(()));
    stage.session(task, SessionOp::Settled(in_background("a", "bg-1")));
    assert!(stage.is_asking(task));
    stage.steer(task, SessionOp::Stop { reason: None });
    let outcome = stage.crash();
    assert_eq!(outcome.effects, [], "{:?}", outcome.names());
    assert!(!stage.is_asking(task) && stage.rest(task) == Some(&RestReason::Stopped));
    assert!(outcome.has("message"), "what became of its command is there to be read");
    assert_eq!(stage.crash().effects, []);
    stage.say(task, "go on");
    assert!(stage.is_asking(task));
}
