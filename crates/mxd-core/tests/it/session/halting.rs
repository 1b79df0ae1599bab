//! Interrupt breaks a turn off, stop an agent with all below it, rewind takes a conversation back.

use mxd_core::commit::Seq;
use mxd_core::decide::{Actor, Effect, Op, SessionOp};
use mxd_core::event::EventBody;
use mxd_core::event::body::{ExitReason, RestReason, StopReason};
use mxd_core::id::TaskId;
use mxd_core::message::{BackgroundComplete, Message};
use mxd_core::tree::Status;

use super::script::{answer, done, in_background, results, run, text, yields};
use super::stage::Stage;
use crate::world::{message_id, set};

const STOP: SessionOp = SessionOp::Stop { reason: None };

#[test]
fn an_interrupt_while_asking_keeps_the_words_and_drops_the_calls() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    assert_eq!(stage.steer(root, SessionOp::Interrupt).effects, [Effect::CancelModel { task: root }]);
    let outcome = stage.answer(root, vec![text("I was"), run("a")], StopReason::ToolUse);
    assert!(outcome.has("assistant_text") && !outcome.has("tool_call"), "{:?}", outcome.names());
    assert_eq!(stage.rest(root), Some(&RestReason::Interrupted));
    assert_eq!(stage.status(root), Status::InProgress);
    stage.say(root, "rather this");
    stage.ends_turn(root);
    assert_eq!(stage.rest(root), Some(&RestReason::EndTurn), "the next turn is whole");
}

#[test]
fn an_interrupt_while_acting_waits_for_what_runs_and_then_rests() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    stage.calls(root, vec![run("a"), run("b")]);
    assert_eq!(stage.steer(root, SessionOp::Interrupt).effects, [Effect::CancelTools { task: root }]);
    stage.returns(root, "a", "ended");
    assert_eq!(stage.rest(root), None);
    let outcome = stage.returns(root, "b", "ended");
    assert_eq!((stage.rest(root), outcome.effects), (Some(&RestReason::Interrupted), vec![]));
}

#[test]
fn an_interrupt_while_checking_calls_the_end_off() {
    let mut stage = Stage::new();
    let task = stage.worker();
    stage.calls(task, vec![done("d", "passed")]);
    stage.steer(task, SessionOp::Interrupt);
    let outcome = stage.checked(task, &[0]);
    assert!(results(&outcome)[0].1.contains("not done"));
    assert_eq!((stage.status(task), stage.rest(task)), (Status::InProgress, Some(&RestReason::Interrupted)));
}

#[test]
fn a_message_that_came_with_the_interrupt_is_read_next() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    stage.steer(root, SessionOp::Interrupt);
    stage.say(root, "rather this");
    stage.answer(root, vec![text("I was")], StopReason::Cancelled);
    assert!(stage.is_asking(root));
    assert!(stage.state.inbox(root).is_empty());
}

#[test]
fn there_is_nothing_to_interrupt_at_rest_and_nothing_twice() {
    let mut stage = Stage::new();
    let root = stage.root();
    assert_eq!(stage.refused(root, SessionOp::Interrupt), "nothing_to_change");
    stage.say(root, "begin");
    assert_eq!(stage.refused(root, SessionOp::Interrupt), "nothing_to_change", "its workplace is being made");
    stage.launches(root);
    stage.steer(root, SessionOp::Interrupt);
    assert_eq!(stage.refused(root, SessionOp::Interrupt), "nothing_to_change");
}

#[test]
fn an_interrupt_does_not_outlive_the_task_it_was_for() {
    let mut stage = Stage::new();
    let task = stage.worker();
    stage.steer(task, SessionOp::Interrupt);
    stage.user(set(task, Status::Failed));
    stage.ends_turn(task);
    stage.say(task, "once more");
    let outcome = stage.calls(task, vec![run("a")]);
    assert!(outcome.has("tool_call"), "the new turn is not broken off: {:?}", outcome.names());
}

#[test]
fn nobody_who_is_being_stopped_is_interrupted_as_well() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    stage.calls(root, vec![run("a")]);
    stage.steer(root, STOP);
    assert_eq!(stage.refused(root, SessionOp::Interrupt), "nothing_to_change");
    stage.returns(root, "a", "ended");
    stage.say(root, "go on");
    assert!(stage.calls(root, vec![run("b")]).has("tool_call"), "the next turn is whole");
}

/// A task and one below it, both asking.
fn family(stage: &mut Stage) -> (TaskId, TaskId) {
    let task = stage.worker();
    let child = stage.task(task, "child");
    stage.begin(child);
    (task, child)
}

#[test]
fn a_stop_reaches_everybody_below_and_nobody_else() {
    let mut stage = Stage::new();
    let (task, child) = family(&mut stage);
    let other = stage.worker();
    let outcome = stage.steer(task, STOP);
    assert_eq!(outcome.effects, [Effect::StopAgent { task }, Effect::StopAgent { task: child }]);
    let exits = outcome.events.iter().filter_map(|event| match &event.body {
        EventBody::OrchestrationCompleted(completed) => completed.exit.clone(),
        _ => None,
    });
    assert_eq!(exits.collect::<Vec<_>>(), [ExitReason::Interrupted, ExitReason::Interrupted]);
    for task in [task, child] {
        assert_eq!((stage.status(task), stage.rest(task)), (Status::InProgress, Some(&RestReason::Stopped)));
    }
    assert_eq!(stage.rest(other), None);
}

#[test]
fn who_was_stopped_does_not_start_again_and_a_message_does_start_it() {
    let mut stage = Stage::new();
    let (task, child) = family(&mut stage);
    stage.steer(task, STOP);
    stage.ends_turn(child);
    stage.answer(task, vec![run("a")], StopReason::ToolUse);
    assert_eq!(stage.work.iter().filter(|effect| matches!(effect, Effect::CallModel { .. })).count(), 0);
    assert_eq!(stage.crash().effects, [], "nor after a start");
    assert!(!stage.is_asking(task));
    stage.say(task, "go on");
    assert!(stage.is_asking(task));
    assert!(!stage.is_asking(child));
}

#[test]
fn a_message_to_somebody_who_is_being_stopped_is_read_when_that_is_over() {
    let mut stage = Stage::new();
    let task = stage.worker();
    stage.steer(task, STOP);
    stage.say(task, "go on");
    assert_eq!(stage.asked(task).0, 1, "only the call that runs");
    let late = answer(1, vec![text("I was")], StopReason::Cancelled);
    stage.session(task, SessionOp::Answered(late));
    assert_eq!(stage.asked(task).0, 2);
    stage.calls_after_stop(task);
}

impl Stage {
    /// The same with tools that run.
    fn calls_after_stop(&mut self, task: TaskId) {
        self.session(task, SessionOp::Answered(answer(2, vec![run("a")], StopReason::ToolUse)));
        self.steer(task, STOP);
        self.say(task, "go on");
        assert!(!self.is_asking(task));
        self.returns(task, "a", "ended");
        assert!(self.is_asking(task));
    }
}

#[test]
fn who_was_stopped_in_a_yield_or_while_it_was_checked_can_be_written_to() {
    for call in [yields("w"), done("w", "passed")] {
        let mut stage = Stage::new();
        stage.limits.reminders = 0;
        let task = stage.worker();
        stage.calls(task, vec![call]);
        assert_eq!(stage.open(task), ["w"]);
        stage.steer(task, STOP);
        stage.work.clear();
        assert_eq!(stage.crash().effects, []);
        let outcome = stage.say(task, "go on");
        assert_eq!(results(&outcome)[0].0, "w");
        assert!(stage.is_asking(task));
    }
}

#[test]
fn checks_that_come_after_a_stop_end_nothing() {
    let mut stage = Stage::new();
    let task = stage.worker();
    stage.calls(task, vec![done("d", "passed")]);
    stage.steer(task, STOP);
    assert_eq!(stage.refused(task, SessionOp::Checked(super::script::checks(&[0]))), "late");
    assert_eq!(stage.status(task), Status::InProgress);
}

#[test]
fn a_command_that_ends_with_its_agent_does_not_start_it_again() {
    let mut stage = Stage::new();
    let task = stage.worker();
    stage.calls(task, vec![run("a")]);
    stage.session(task, SessionOp::Settled(in_background("a", "server")));
    stage.calls(task, vec![yields("y")]);
    stage.steer(task, STOP);
    let ended = BackgroundComplete {
        command_id: "server".into(),
        command: "serve".into(),
        exit_code: None,
        duration_ms: 1,
        stdout: None,
        stderr: None,
    };
    let (id, message) = (message_id(1), Message::from(ended));
    let outcome = stage.accept(Actor::Daemon, Op::Report { id, to: task, message });
    assert_eq!(outcome.effects, []);
    stage.say(task, "go on");
    assert!(stage.state.inbox(task).is_empty(), "it reads both");
}

#[test]
fn tidying_up_below_a_stopped_agent_does_not_start_it() {
    let mut stage = Stage::new();
    let (task, child) = family(&mut stage);
    stage.steer(task, STOP);
    stage.ends_turn(task);
    stage.reset(child);
    assert!(!stage.is_asking(task));
}

#[test]
fn nothing_is_stopped_that_does_not_run() {
    let mut stage = Stage::new();
    let root = stage.root();
    assert_eq!(stage.refused(root, STOP), "nothing_to_change");
    let (task, child) = family(&mut stage);
    stage.user(set(task, Status::Failed));
    let outcome = stage.steer(task, STOP);
    assert_eq!(outcome.effects, [Effect::StopAgent { task: child }], "it has ended, the one below has not");
}

#[test]
fn a_rewind_is_for_the_user_at_rest_and_deletes_nothing() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    let rewind = |stage: &mut Stage, actor| {
        let op = SessionOp::Rewind { to: Seq(2) };
        stage.refuse(actor, Op::Session { task: root, op }).code()
    };
    assert_eq!(rewind(&mut stage, Actor::User), "busy");
    stage.calls(root, vec![yields("y")]);
    assert_eq!(rewind(&mut stage, Actor::Daemon), "user_only");
    let outcome = stage.steer(root, SessionOp::Rewind { to: Seq(2) });
    assert_eq!(outcome.names(), ["rewind_marker", "cache_break"]);
    assert_eq!((stage.open(root), outcome.effects), (vec![], vec![]));
    stage.say(root, "another way");
    assert!(stage.is_asking(root));
    assert_eq!(stage.state.session(root).life().turns, 2, "what was used is used");
}

#[test]
fn a_stop_reaches_those_below_the_ones_below_too() {
    let mut stage = Stage::new();
    let (task, child) = family(&mut stage);
    let grandchild = stage.task(child, "grandchild");
    stage.begin(grandchild);
    stage.steer(task, STOP);
    assert_eq!(stage.rest(grandchild), Some(&RestReason::Stopped));
}
