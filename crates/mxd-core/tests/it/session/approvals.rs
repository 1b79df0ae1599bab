//! Calls about which the user is asked.

use mxd_core::decide::{Effect, SessionOp};
use mxd_core::event::EventBody;
use mxd_core::event::body::{ApprovalScope, RestReason, Verdict};
use mxd_core::id::{ApprovalId, TaskId};
use mxd_core::tree::Status;

use super::script::{id, results, run};
use super::stage::{Outcome, Stage};
use crate::world::set;

fn ask(call: &str) -> SessionOp {
    SessionOp::AskUser { call: id(call), rule: "ask first".into(), call_hash: format!("hash of {call}") }
}

fn approval(outcome: &Outcome) -> ApprovalId {
    let asked = outcome.events.iter().find_map(|event| match &event.body {
        EventBody::ApprovalRequested(request) => Some(request.id),
        _ => None,
    });
    asked.expect("the user is asked")
}

fn say(id: ApprovalId, verdict: Verdict, scope: ApprovalScope) -> SessionOp {
    SessionOp::Approve { id, verdict, scope, reason: None }
}

fn approved(task: TaskId, call: &str) -> Effect {
    Effect::RunTool { task, call: id(call), approved: Some(format!("hash of {call}")) }
}

/// An agent with a call about which the user is asked.
fn asked(stage: &mut Stage) -> (TaskId, ApprovalId) {
    let root = stage.root();
    stage.begin(root);
    stage.calls(root, vec![run("a")]);
    stage.work.clear();
    let outcome = stage.session(root, ask("a"));
    assert_eq!(outcome.effects, []);
    (root, approval(&outcome))
}

#[test]
fn an_allowed_call_is_run_and_an_answer_counts_once() {
    let mut stage = Stage::new();
    let (root, id) = asked(&mut stage);
    let allow = say(id, Verdict::Allow, ApprovalScope::Once);
    assert_eq!(stage.refused(root, allow.clone()), "user_only");
    assert_eq!(stage.steer(root, allow.clone()).effects, [approved(root, "a")]);
    assert_eq!(stage.refused(root, allow), "user_only");
    stage.returns(root, "a", "fine");
    stage.calls(root, vec![run("b")]);
    stage.work.clear();
    approval(&stage.session(root, ask("b")));
}

#[test]
fn a_denied_call_is_answered_and_the_agent_goes_on() {
    let mut stage = Stage::new();
    let (root, id) = asked(&mut stage);
    let outcome = stage.steer(root, say(id, Verdict::Deny, ApprovalScope::Once));
    assert!(results(&outcome)[0].1.contains("did not allow"));
    assert!(stage.is_asking(root));
}

#[test]
fn denial_with_reason_reaches_the_agent_as_result() {
    let mut stage = Stage::new();
    let (root, id) = asked(&mut stage);
    let (verdict, scope) = (Verdict::Deny, ApprovalScope::Once);
    let reason = Some("use the crate that is there".to_owned());
    let too_long = Some("x".repeat(10_000));
    let op = |reason| SessionOp::Approve { id, verdict: verdict.clone(), scope: scope.clone(), reason };
    let refused = stage.refuse(
        mxd_core::decide::Actor::User,
        mxd_core::decide::Op::Session { task: root, op: op(too_long) },
    );
    assert_eq!(refused.code(), "too_long");
    let outcome = stage.steer(root, op(reason.clone()));
    assert!(results(&outcome)[0].1.contains("says why: use the crate that is there\n"));
    let given = outcome.events.iter().find_map(|event| match &event.body {
        EventBody::ApprovalGiven(given) => Some(given.reason.clone()),
        _ => None,
    });
    assert_eq!(given, Some(reason));
}

#[test]
fn what_is_allowed_for_the_task_is_not_asked_about_again() {
    let mut stage = Stage::new();
    let (root, id) = asked(&mut stage);
    stage.steer(root, say(id, Verdict::Allow, ApprovalScope::Task));
    stage.returns(root, "a", "fine");
    stage.calls(root, vec![run("b")]);
    stage.work.clear();
    let outcome = stage.session(root, ask("b"));
    assert_eq!(outcome.effects, [approved(root, "b")]);
}

#[test]
fn an_interrupt_answers_the_call_that_waits() {
    let mut stage = Stage::new();
    let (root, id) = asked(&mut stage);
    stage.steer(root, SessionOp::Interrupt);
    assert_eq!((stage.open(root), stage.rest(root)), (vec![], Some(&RestReason::Interrupted)));
    assert!(stage.state.session(root).approvals().is_empty());
    let allow = say(id, Verdict::Allow, ApprovalScope::Once);
    let late =
        stage.refuse(mxd_core::decide::Actor::User, mxd_core::decide::Op::Session { task: root, op: allow });
    assert_eq!(late.code(), "late");
}

#[test]
fn a_question_that_comes_after_an_interrupt_is_not_asked() {
    let mut stage = Stage::new();
    let root = stage.root();
    stage.begin(root);
    stage.calls(root, vec![run("a"), run("b")]);
    stage.steer(root, SessionOp::Interrupt);
    let outcome = stage.session(root, ask("a"));
    assert!(results(&outcome)[0].1.contains("Not run"));
    stage.returns(root, "b", "cancelled");
    assert_eq!(stage.rest(root), Some(&RestReason::Interrupted));
}

#[test]
fn a_stop_answers_the_call_that_waits_and_a_message_goes_on() {
    let mut stage = Stage::new();
    let (root, _) = asked(&mut stage);
    stage.steer(root, SessionOp::Stop { reason: None });
    assert_eq!(stage.open(root), [] as [&str; 0]);
    stage.say(root, "go on");
    assert!(stage.is_asking(root));
}

#[test]
fn what_is_allowed_after_the_task_was_ended_is_not_run() {
    let mut stage = Stage::new();
    let (root, id) = asked(&mut stage);
    stage.user(set(root, Status::Failed));
    let outcome = stage.steer(root, say(id, Verdict::Allow, ApprovalScope::Once));
    assert_eq!(outcome.effects, []);
    stage.say(root, "once more");
    assert!(stage.is_asking(root));
}

#[test]
fn a_question_to_the_user_outlives_the_daemon() {
    let mut stage = Stage::new();
    let (root, id) = asked(&mut stage);
    assert_eq!(stage.crash().effects, []);
    let outcome = stage.steer(root, say(id, Verdict::Allow, ApprovalScope::Once));
    assert_eq!(outcome.effects, [approved(root, "a")]);
}
