//! Questions to the user: asked, answered, or left without an answer for too long.

use super::turn::Turn;
use crate::decide::{Actor, Alarm, Effect, Refusal, report, text};
use crate::event::body::{ClarificationAnswered, ClarificationExpired, ClarificationRequested};
use crate::id::ClarificationId;
use crate::message::{ClarifyResponse, NoticeTopic};
use crate::time::Millis;

/// Puts a question to the user. The agent goes on.
pub(super) fn ask(turn: &mut Turn<'_, '_>, question: &str) -> Result<ClarificationId, Refusal> {
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
    let id = turn.plan.new_id();
    let body = Some(body.trim().to_owned()).filter(|body| !body.is_empty());
    turn.emit(ClarificationRequested {
        id,
        question: question.to_owned(),
        title: title.trim().to_owned(),
        body,
    });
    let wait = turn.plan.limits.question_ms;
    if wait > 0 {
        let at = Millis(turn.plan.at.0.saturating_add(wait));
        turn.effect(Effect::Alarm { task: turn.task, at, what: Alarm::Question(id) });
    }
    Ok(id)
}

pub(super) fn answer(turn: &mut Turn<'_, '_>, id: ClarificationId, answer: String) -> Result<(), Refusal> {
    if turn.plan.actor != Actor::User {
        return Err(Refusal::UserOnly { wanted: "answer questions" });
    }
    known(turn, id)?;
    if answer.trim().is_empty() {
        return Err(Refusal::Empty { field: "the answer" });
    }
    turn.emit(ClarificationAnswered { id, answer: answer.clone() });
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
    turn.emit(ClarificationExpired { id });
    let text = "Nobody answered your question in time. Decide yourself: take the most careful way, \
                and say in your report what you assumed.";
    turn.tell_itself(NoticeTopic::Unanswered, text.to_owned());
    Ok(())
}

fn known(turn: &Turn<'_, '_>, id: ClarificationId) -> Result<Millis, Refusal> {
    let asked = turn.session.questions.get(&id).copied();
    asked.ok_or(Refusal::Late { task: turn.task, what: "an answer to this question" })
}
