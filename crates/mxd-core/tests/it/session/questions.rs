//! Questions to the user: asked without waiting, answered once, and not for ever.

use mxd_core::decide::{Actor, Alarm, Effect, Op, SessionOp};
use mxd_core::id::{ClarificationId, TaskId};
use mxd_core::time::Millis;
use mxd_core::tree::Status;

use super::script::{mxd, results, run, yields};
use super::stage::Stage;
use crate::world::set;

fn ask(stage: &mut Stage, task: TaskId) -> ClarificationId {
    stage.calls(task, vec![mxd("q", "clarify", r#"{"question":"red or blue?\nit matters"}"#)]);
    *stage.state.session(task).questions().keys().last().expect("a question")
}

fn reply(id: ClarificationId) -> SessionOp {
    SessionOp::AnswerQuestion { id, answer: "blue".into() }
}

#[test]
fn the_agent_goes_on_and_the_answer_comes_as_a_message() {
    let mut stage = Stage::new();
    let task = stage.worker();
    let id = ask(&mut stage, task);
    assert!(stage.is_asking(task), "it does not wait");
    stage.calls(task, vec![yields("y")]);
    assert!(!stage.is_asking(task), "who waits for an answer is not reminded");
    assert_eq!(stage.refused(task, reply(id)), "user_only");
    stage.steer(task, reply(id));
    assert!(stage.is_asking(task));
    let again = Op::Session { task, op: reply(id) };
    assert_eq!(stage.refuse(Actor::User, again).code(), "late");
}

#[test]
fn yield_tells_whether_a_question_is_still_open() {
    let mut stage = Stage::new();
    let task = stage.worker();
    let id = ask(&mut stage, task);
    stage.calls(task, vec![yields("y1")]);
    let woken = stage.say(task, "another thing");
    assert!(results(&woken)[0].1.contains("1 open question(s) to the user"), "{woken:?}");
    stage.calls(task, vec![yields("y2")]);
    let answered = stage.steer(task, reply(id));
    let told = &results(&answered)[0].1;
    assert!(told.contains("no question is open") && !told.contains("waiting"), "{told}");
}

#[test]
fn there_is_a_limit() {
    let mut stage = Stage::new();
    stage.limits.questions_per_task = 1;
    let task = stage.worker();
    ask(&mut stage, task);
    let outcome = stage.calls(task, vec![mxd("q2", "clarify", r#"{"question":"or green?"}"#)]);
    assert!(results(&outcome)[0].1.contains("limit"), "{outcome:?}");
    assert_eq!(stage.state.session(task).questions().len(), 1);
}

#[test]
fn a_question_expires_when_its_time_is_over_and_not_before() {
    let mut stage = Stage::new();
    stage.limits.question_ms = 500;
    let task = stage.worker();
    let asked = stage.now;
    let id = ask(&mut stage, task);
    let alarm = Effect::Alarm { task, at: Millis(asked + 500), what: Alarm::Question(id) };
    assert!(stage.work.contains(&alarm), "{:?}", stage.work);
    stage.calls(task, vec![yields("y")]);
    stage.now = asked + 499;
    assert_eq!(stage.refused(task, SessionOp::ExpireQuestion { id }), "late");
    stage.work.clear();
    assert_eq!(stage.crash().effects, [alarm], "also after a start, at the same time");
    stage.now = asked + 500;
    stage.session(task, SessionOp::ExpireQuestion { id });
    assert!(stage.is_asking(task));
    assert_eq!(stage.refused(task, SessionOp::ExpireQuestion { id }), "late");
}

#[test]
fn a_question_that_expires_starts_nobody_who_has_ended_or_was_stopped() {
    for stopped in [true, false] {
        let mut stage = Stage::new();
        stage.limits.question_ms = 500;
        let task = stage.worker();
        let id = ask(&mut stage, task);
        stage.calls(task, vec![yields("y")]);
        if stopped {
            stage.steer(task, SessionOp::Stop { reason: None });
        } else {
            stage.user(set(task, Status::Failed));
        }
        stage.now += 500;
        let outcome = stage.session(task, SessionOp::ExpireQuestion { id });
        assert_eq!(outcome.effects, []);
        assert!(!stage.state.inbox(task).wants_agent());
    }
}

fn asked_by_a_server(stage: &mut Stage) -> (TaskId, ClarificationId) {
    let task = stage.worker();
    stage.calls(task, vec![run("r")]);
    let id: ClarificationId = "01JZ00000000000000000000C9".parse().expect("an id");
    let op = SessionOp::AskForServer { id, server: "files".into(), question: "Overwrite?".into() };
    stage.session(task, op);
    (task, id)
}

#[test]
fn the_answer_to_a_server_is_the_servers_alone() {
    let mut stage = Stage::new();
    let (task, id) = asked_by_a_server(&mut stage);
    let before = stage.state.inbox(task).len();
    stage.steer(task, reply(id));
    assert!(stage.state.session(task).questions().is_empty());
    assert_eq!(stage.state.inbox(task).len(), before, "the agent is not told");
    assert!(!stage.is_asking(task), "its call still runs");
    stage.returns(task, "r", "ended");
    assert!(stage.is_asking(task));
}

#[test]
fn a_question_of_a_server_ends_with_its_call_and_with_the_daemon() {
    let mut stage = Stage::new();
    let (task, id) = asked_by_a_server(&mut stage);
    stage.session(task, SessionOp::WithdrawQuestion { id });
    let again = Op::Session { task, op: SessionOp::WithdrawQuestion { id } };
    assert_eq!(stage.refuse(Actor::Daemon, again).code(), "late");
    let mut stage = Stage::new();
    let (task, _) = asked_by_a_server(&mut stage);
    stage.session(task, SessionOp::Boot);
    assert!(stage.state.session(task).questions().is_empty(), "nobody would be told the answer");
}
