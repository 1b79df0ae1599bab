//! Compaction: a conversation that fills the model's window is summarised, and goes on from the summary.

use super::answer::{self, Ending};
use super::input::{Answer, Failure};
use super::money::{self, Money};
use super::next::{self, Reading};
use super::place::{self, Place};
use super::turn::Turn;
use crate::decide::text::cut as text_cut;
use crate::decide::{Effect, Refusal};
use crate::event::body::{
    CacheBreak, CacheBreakReason, CompactMarker, CompactStarted, CompactedResume, ContextCounted,
    CountRequested, Counter, MessagesConsumed, RestReason, SummarizationRequest, TurnPurpose,
};
use crate::message::MessageKind;
use crate::prompt::text;
use crate::session::Load;

/// Whether the conversation is to be summarised before the model is asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    /// It fits.
    No,
    /// It is nearly full, or the user wants it.
    Now,
    /// An estimate does not decide, and the provider can.
    Unsure,
}

/// Whether it is due when the model is to read so much more. By estimate first; where that is close to the limit and not
/// all of it was counted, the provider has the last word.
pub(super) fn due(turn: &Turn<'_, '_>, more: Load) -> Due {
    let mut context = turn.session.context;
    // A summary of a summary helps nobody.
    if context.answers == 0 {
        return Due::No;
    }
    if !wishes(turn).ids.is_empty() {
        return Due::Now;
    }
    let (Some(threshold), Some(terms)) = (threshold(turn), turn.session.terms) else {
        return Due::No;
    };
    let (counted, since) = context.known();
    context.add(more);
    let estimate = context.estimate();
    let close = estimate.abs_diff(threshold) <= turn.plan.limits.count_within;
    if close && terms.counts_tokens && since != Load::NONE && counted <= threshold {
        return Due::Unsure;
    }
    if estimate > threshold { Due::Now } else { Due::No }
}

/// Has the provider count what is in the log. What is unread is not, and stays an estimate.
pub(super) fn count(turn: &mut Turn<'_, '_>) {
    turn.emit(CountRequested {});
    turn.effect(Effect::CountTokens { task: turn.task });
}

/// The tokens that a request may have.
fn threshold(turn: &Turn<'_, '_>) -> Option<u64> {
    let window = turn.session.terms?.context_window;
    Some(window.saturating_sub(window.saturating_mul(turn.plan.limits.window_reserve) / 1_000))
}

/// Messages by which somebody asks for a summary.
fn wishes(turn: &Turn<'_, '_>) -> Reading {
    let wishes = turn.inbox().pending().filter(|message| message.kind == MessageKind::Compact);
    let mut reading = Reading::default();
    for wish in wishes {
        reading.ids.push(wish.id);
        reading.load = reading.load.and(wish.load());
    }
    reading
}

/// Asks the model for a summary.
pub(super) fn begin(turn: &mut Turn<'_, '_>) -> Result<(), Refusal> {
    let (wishes, over) = (wishes(turn), next::end_of_waiting(turn));
    let more = wishes.load.and(over.load()).and(Load::text(text::INSTRUCTION.len()));
    let Money::SetAside(allowance) = money::set_aside(turn, more)? else {
        return Ok(());
    };
    if place::take(turn) == Place::None {
        return Ok(());
    }
    let resting = match turn.session.rest {
        // It owes the turn that failed or was not made, unless that was a summary.
        None | Some(RestReason::Failed) => turn.session.resting_before,
        Some(_) => true,
    };
    over.tell(turn);
    if !wishes.ids.is_empty() {
        turn.emit(MessagesConsumed { message_ids: wishes.ids });
    }
    turn.emit(CompactStarted { resting });
    turn.emit(SummarizationRequest { instruction: text::INSTRUCTION.to_owned() });
    next::start(turn, TurnPurpose::Summary, allowance);
    Ok(())
}

/// The provider counted, or could not: then the estimate has to do.
pub(super) fn counted(turn: &mut Turn<'_, '_>, outcome: Result<u64, String>) -> Result<(), Refusal> {
    if !turn.session.counting {
        return Err(Refusal::Late { task: turn.task, what: "a count" });
    }
    let counted = match outcome {
        Ok(tokens) => ContextCounted { tokens, by: Counter::Provider },
        Err(message) => {
            let tokens = turn.session.context.estimate();
            let message = text_cut(&message, turn.plan.limits.reason_chars);
            let message = format!("the provider could not count the conversation: {message}");
            turn.error("count", message, Some(format!("Its size is estimated: {tokens} tokens.")));
            ContextCounted { tokens, by: Counter::Estimate }
        }
    };
    turn.emit(counted);
    if turn.is_broken_off() {
        turn.break_off();
        return Ok(());
    }
    next::go_on(turn)
}

/// Takes back wishes for a summary of what is one already.
pub(super) fn drop_idle_wishes(turn: &mut Turn<'_, '_>) -> Dropped {
    let wishes = wishes(turn);
    if wishes.ids.is_empty() || turn.session.context.answers > 0 {
        return Dropped::Nothing;
    }
    let others = turn.inbox().pending().any(|message| message.wake && message.kind != MessageKind::Compact);
    if others || turn.session.owes_a_turn() {
        return Dropped::Nothing;
    }
    turn.emit(MessagesConsumed { message_ids: wishes.ids });
    Dropped::AllThatCalled
}

/// What is left after wishes were taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dropped {
    /// Everything.
    Nothing,
    /// Nothing that calls the agent.
    AllThatCalled,
}

/// The summary is made: the conversation goes on from it.
pub(super) fn summarised(turn: &mut Turn<'_, '_>, answer: Answer) -> Result<(), Refusal> {
    let missing = missing(&answer);
    let Some(refreshed) = answer.refreshed.filter(|refreshed| !refreshed.checkpoint.is_empty()) else {
        return answer::failed(turn, missing);
    };
    let was_resting = turn.session.resting_before;
    let saved_tokens = turn.session.context.tokens;
    let Answer { items, stop, model, usage, cost, .. } = answer;
    let written = answer::written_bytes(&items);
    answer::end_turn(turn, Ending { stop, model, usage, cost, written });
    turn.emit(CompactMarker { checkpoint: refreshed.checkpoint, saved_tokens });
    turn.emit(CacheBreak { reason: CacheBreakReason::Compaction });
    turn.emit(refreshed.config);
    turn.emit(CompactedResume { content: refreshed.content, cwd: refreshed.cwd });
    if was_resting {
        turn.rest(RestReason::EndTurn);
        turn.effect(Effect::Wake { task: turn.task });
        return Ok(());
    }
    next::advance(turn)
}

/// An answer without a summary is a failed call.
fn missing(answer: &Answer) -> Failure {
    Failure {
        turn: answer.turn,
        message: "the model was asked for a summary and wrote none".to_owned(),
        class: "summary".to_owned(),
        advice: Some("Write to the task, or clear its conversation.".to_owned()),
        passing: true,
        too_long: false,
        usage: answer.usage,
        cost: answer.cost,
    }
}
