//! Compaction: a conversation that fills the model's window is summarised, and goes on from the summary.

use super::answer;
use super::input::{Answer, AnswerItem};
use super::money::{self, Money, Settling};
use super::next::{self, Reading};
use super::summary;
use super::turn::Turn;
use crate::decide::{Effect, Refusal};
use crate::event::body::{
    CacheBreak, CacheBreakReason, CompactMarker, CompactStarted, CompactedResume, MessagesConsumed,
    RestReason, SummarizationRequest, TurnEnded, TurnPurpose,
};
use crate::message::MessageKind;

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
    let more = wishes.bytes + over.bytes() + summary::INSTRUCTION.len();
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
    turn.emit(SummarizationRequest { instruction: summary::INSTRUCTION.to_owned() });
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
    let checkpoint = summary::of(&words(&answer.items));
    let missing = summary::missing(&answer);
    let Some(refreshed) = answer.refreshed.filter(|_| !checkpoint.is_empty()) else {
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
    turn.emit(CompactMarker { checkpoint: checkpoint.clone(), saved_tokens });
    turn.emit(CacheBreak { reason: CacheBreakReason::Compaction });
    turn.emit(refreshed.config);
    let parts = [refreshed.before, checkpoint, refreshed.after];
    let content = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
    turn.emit(CompactedResume { content, cwd: refreshed.cwd });
    if was_resting {
        turn.rest(RestReason::EndTurn);
        turn.effect(Effect::Wake { task: turn.task });
        return Ok(());
    }
    next::advance(turn)
}

fn words(items: &[AnswerItem]) -> String {
    let texts: Vec<&str> = items
        .iter()
        .filter_map(|item| match item {
            AnswerItem::Text(text) => Some(text.as_str()),
            AnswerItem::Thinking(_) | AnswerItem::Other { .. } | AnswerItem::Call(_) => None,
        })
        .collect();
    texts.join("\n")
}
