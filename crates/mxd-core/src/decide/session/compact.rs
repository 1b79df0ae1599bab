//! Compaction: a conversation that fills the model's window is summarised, and goes on from the summary.

use super::answer;
use super::input::{Answer, Failure};
use super::money::{self, Money, Settling};
use super::next::{self, Reading};
use super::turn::Turn;
use crate::decide::{Effect, Refusal};
use crate::event::body::{
    CacheBreak, CacheBreakReason, CompactMarker, CompactStarted, CompactedResume, MessagesConsumed,
    RestReason, SummarizationRequest, TurnEnded, TurnPurpose,
};
use crate::message::MessageKind;
use crate::prompt::text;

/// Whether the conversation is to be summarised before the model is asked again: it is nearly full, or the user wants it.
pub(super) fn is_due(turn: &Turn<'_, '_>) -> bool {
    // A summary of a summary helps nobody.
    turn.session.context.answers > 0 && (!wishes(turn).ids.is_empty() || fullness(turn) == Fullness::Full)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fullness {
    Fits,
    Full,
}

/// By estimate. Where the provider counts, its count has the last word: see [`counted`].
fn fullness(turn: &Turn<'_, '_>) -> Fullness {
    match threshold(turn) {
        Some(threshold) if turn.session.context.estimate() > threshold => Fullness::Full,
        Some(_) | None => Fullness::Fits,
    }
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
        reading.bytes = reading.bytes.saturating_add(wish.bytes);
    }
    reading
}

/// Asks the model for a summary.
pub(super) fn begin(turn: &mut Turn<'_, '_>) -> Result<(), Refusal> {
    let (wishes, over) = (wishes(turn), next::end_of_waiting(turn));
    let more = wishes.bytes + over.bytes() + text::INSTRUCTION.len();
    let Money::SetAside(amount) = money::set_aside(turn, more)? else {
        return Ok(());
    };
    let resting = match turn.session.rest {
        None => false,
        // It owes the turn that failed, unless that was a summary.
        Some(RestReason::Failed) => turn.session.resting_before,
        Some(_) => true,
    };
    over.tell(turn);
    if !wishes.ids.is_empty() {
        turn.emit(MessagesConsumed { message_ids: wishes.ids });
    }
    turn.emit(CompactStarted { resting });
    turn.emit(SummarizationRequest { instruction: text::INSTRUCTION.to_owned() });
    next::start(turn, TurnPurpose::Summary, amount);
    Ok(())
}

/// The provider counted: the exact number replaces the estimate.
pub(super) fn counted(turn: &mut Turn<'_, '_>, tokens: u64) -> Result<(), Refusal> {
    let full = threshold(turn).is_some_and(|threshold| tokens > threshold);
    let wanted = turn.inbox().wants_agent() || turn.session.owes_a_turn();
    if !turn.works() || turn.session.is_busy() || !wanted || !full || turn.session.context.answers == 0 {
        return Ok(());
    }
    begin(turn)
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
    turn.emit(TurnEnded {
        stop_reason: answer.stop,
        usage: answer.usage,
        cost_usd: answer.cost,
        calls: Vec::new(),
    });
    money::settle(turn, Settling::Cost(answer.cost));
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
