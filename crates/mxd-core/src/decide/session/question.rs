//! Questions to the user: asked, answered, or left without an answer for too long.

use super::turn::Turn;
use crate::decide::{Actor, Alarm, Effect, Refusal, report, text};
use crate::event::body::{ClarificationAnswered, ClarificationExpired, ClarificationRequested};
use crate::id::ClarificationId;
use crate::message::{ClarifyResponse, NoticeTopic};
use crate::time::Millis;

/// Puts a question to the user. The agent goes on.
pub(super) fn ask(turn: &mut Turn<'_, '_>, question: &str) -> Result<ClarificationId, Refusal> {
    let id = turn.plan.new_id();
    put(turn, id, (None, question))?;
    Ok(id)
}

/// Puts a question of a tool server to the user. The call it asks in goes on when it is answered.
pub(super) fn ask_for_server(
    turn: &mut Turn<'_, '_>,
    id: ClarificationId,
    (server, question): (String, &str),
) -> Result<(), Refusal> {
    if turn.plan.actor != Actor::Daemon {
        return Err(Refusal::UserOnly { wanted: "ask for a server" });
    }
    if turn.is_broken_off() || turn.session.questions.contains_key(&id) {
        return Err(Refusal::Late { task: turn.task, what: "a question of a server" });
    }
    text::name(turn.plan.limits, "the name of the server", &server)?;
    put(turn, id, (Some(server), question))
}

fn put(
    turn: &mut Turn<'_, '_>,
    id: ClarificationId,
    (server, question): (Option<String>, &str),
) -> Result<(), Refusal> {
    let limit = turn.plan.limits.questions_per_task;
    if turn.session.questions.len() >= limit {
        return Err(Refusal::TooManyQuestions { task: turn.task, limit });
    }
    text::bytes("the question", question.len(), turn.plan.limits.report_bytes)?;
    let question = question.trim();
    let (title, body) = question.split_once('\n').unwrap_or((question, ""));
    if title.is_empty() {
        return Err(Refusal::Empty { field: "the question" });
    }
    let body = Some(body.trim().to_owned()).filter(|body| !body.is_empty());
    let (question, title) = (question.to_owned(), title.trim().to_owned());
    turn.emit(ClarificationRequested { id, question, title, body, server });
    let wait = turn.plan.limits.question_ms;
    if wait > 0 {
        let at = Millis(turn.plan.at.0.saturating_add(wait));
        turn.effect(Effect::Alarm { task: turn.task, at, what: Alarm::Question(id) });
    }
    Ok(())
}

/// A question of a server is of no use any more: its call has ended.
pub(super) fn withdraw(turn: &mut Turn<'_, '_>, id: ClarificationId) -> Result<(), Refusal> {
    if !turn.session.of_servers.contains(&id) {
        return Err(Refusal::Late { task: turn.task, what: "the end of this question" });
    }
    turn.emit(ClarificationExpired { id });
    Ok(())
}

/// The servers that asked died with the daemon.
pub(super) fn withdraw_all(turn: &mut Turn<'_, '_>) {
    for id in turn.session.of_servers.clone() {
        turn.emit(ClarificationExpired { id });
    }
}

pub(super) fn answer(turn: &mut Turn<'_, '_>, id: ClarificationId, answer: String) -> Result<(), Refusal> {
    if turn.plan.actor != Actor::User {
        return Err(Refusal::UserOnly { wanted: "answer questions" });
    }
    known(turn, id)?;
    if answer.trim().is_empty() {
        return Err(Refusal::Empty { field: "the answer" });
    }
    let is_of_server = turn.session.of_servers.contains(&id);
    turn.emit(ClarificationAnswered { id, answer: answer.clone() });
    if is_of_server {
        return Ok(());
    }
    let message = turn.plan.new_id();
    let response = ClarifyResponse { clarification_id: Some(id), answer };
    report::report(turn.plan, message, turn.task, response.into())
}

pub(super) fn expire(turn: &mut Turn<'_, '_>, id: ClarificationId) -> Result<(), Refusal> {
    let asked = known(turn, id)?;
    let wait = turn.plan.limits.question_ms;
    if wait == 0 || turn.plan.at.0 < asked.0.saturating_add(wait) {
        return Err(Refusal::Late { task: turn.task, what: "the end of this question" });
    }
    let is_of_server = turn.session.of_servers.contains(&id);
    turn.emit(ClarificationExpired { id });
    if is_of_server {
        return Ok(());
    }
    let text = "Nobody answered your question in time. Decide yourself: take the most careful way, \
                and say in your report what you assumed.";
    turn.tell_itself(NoticeTopic::Unanswered, text.to_owned());
    Ok(())
}

fn known(turn: &Turn<'_, '_>, id: ClarificationId) -> Result<Millis, Refusal> {
    let asked = turn.session.questions.get(&id).copied();
    asked.ok_or(Refusal::Late { task: turn.task, what: "an answer to this question" })
}
