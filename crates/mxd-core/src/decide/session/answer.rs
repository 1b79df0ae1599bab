//! What the model answered, or why it did not.

use super::compact;
use super::input::{Answer, AnswerItem, Cost, Failure};
use super::money::{self, Settling};
use super::next;
use super::place::{self, Place};
use super::route;
use super::turn::Turn;
use crate::decide::notices::{Concern, change};
use crate::decide::{Actor, Alarm, Effect, Refusal};
use crate::event::body::{
    AssistantText, CacheBreak, CacheBreakReason, CallMade, MessagePosted, ModelItem, RestReason, StopReason,
    ToolCall, TurnEnded, TurnPurpose, Usage,
};
use crate::message::{Compact, NoticeTopic, TreeAction};
use crate::session::{FAILED, FAILING, fingerprint};
use crate::time::Millis;
use crate::tree::Status;

pub(super) fn answered(turn: &mut Turn<'_, '_>, answer: Answer) -> Result<(), Refusal> {
    let asking = turn.session.asking.filter(|asking| asking.turn == answer.turn);
    let Some(asking) = asking else {
        return Err(Refusal::Late { task: turn.task, what: "an answer" });
    };
    let broken_off = turn.is_broken_off() || answer.stop == StopReason::Cancelled;
    if asking.purpose == TurnPurpose::Summary && !broken_off {
        return compact::summarised(turn, answer);
    }
    let Answer { items, stop, model, usage, cost, .. } = answer;
    let summarising = asking.purpose == TurnPurpose::Summary;
    let made: Vec<ToolCall> = items.iter().filter_map(AnswerItem::call).cloned().collect();
    let written = match asking.purpose {
        // Nobody has read half a summary.
        TurnPurpose::Summary => Written::default(),
        // What a model that will not answer still wants of tools is not what was asked for.
        TurnPurpose::Work if broken_off || stop == StopReason::Refusal => texts_only(turn, items),
        TurnPurpose::Work => write_down(turn, items),
    };
    let ended = if broken_off { StopReason::Cancelled } else { stop.clone() };
    end_turn_with(turn, Ending { stop: ended, model, usage, cost }, written);
    if summarising {
        turn.emit(CacheBreak { reason: CacheBreakReason::Compaction });
    }
    if broken_off {
        turn.break_off();
        return Ok(());
    }
    if !turn.session.calls.is_empty() {
        return route::route(turn, &made);
    }
    without_calls(turn, stop)
}

/// What is known about a model call when it has ended.
pub(super) struct Ending {
    pub(super) stop: StopReason,
    pub(super) model: Option<String>,
    pub(super) usage: Usage,
    pub(super) cost: Cost,
}

/// A model call has ended, and nothing of what it said stays in the conversation.
pub(super) fn end_turn(turn: &mut Turn<'_, '_>, ending: Ending) {
    end_turn_with(turn, ending, Written::default());
}

fn end_turn_with(turn: &mut Turn<'_, '_>, ending: Ending, written: Written) {
    let Ending { stop, model, usage, cost } = ending;
    // What was said before the usage was known, or without it ever being known, is not in it.
    let is_counted = usage != Usage::default() && stop != StopReason::Cancelled;
    let answer_bytes = if is_counted { 0 } else { u64::try_from(written.bytes).unwrap_or(u64::MAX) };
    let (cost_usd, cost_unknown, settling) = match cost {
        Cost::Known(cost) => (cost, false, Settling::Cost(cost)),
        Cost::Unknown => (money::reserved(turn), true, Settling::All),
    };
    let calls = written.calls;
    turn.emit(TurnEnded { stop_reason: stop, model, usage, cost_usd, cost_unknown, answer_bytes, calls });
    money::settle(turn, settling);
}

/// What was written down of an answer.
#[derive(Default)]
struct Written {
    calls: Vec<CallMade>,
    bytes: usize,
}

/// Writes an answer down and tells which tools it calls.
fn write_down(turn: &mut Turn<'_, '_>, items: Vec<AnswerItem>) -> Written {
    let (mut calls, mut bytes) = (Vec::new(), 0_usize);
    for item in items {
        bytes = bytes.saturating_add(item.bytes());
        match item {
            AnswerItem::Text(content) => turn.emit(AssistantText { content }),
            AnswerItem::Thinking(thinking) => turn.emit(thinking),
            AnswerItem::Other { wire, json } => turn.emit(ModelItem { wire, json }),
            AnswerItem::Call(call) => {
                let digest = fingerprint([call.tool.as_str(), call.input.get()]);
                calls.push(CallMade { id: call.tool_call_id.clone(), tool: call.tool.clone(), digest });
                turn.emit(call);
            }
        }
    }
    Written { calls, bytes }
}

/// Of an answer that was broken off, the words are kept: the user has read them.
fn texts_only(turn: &mut Turn<'_, '_>, items: Vec<AnswerItem>) -> Written {
    let texts = items.into_iter().filter(|item| matches!(item, AnswerItem::Text(_))).collect();
    write_down(turn, texts)
}

/// The model stopped and wants nothing of tools.
fn without_calls(turn: &mut Turn<'_, '_>, stop: StopReason) -> Result<(), Refusal> {
    match stop {
        StopReason::MaxTokens if turn.session.streak.cut_off <= turn.plan.limits.cut_off_answers => {
            let text = "Your answer reached the output limit and was cut off. Go on where it ended; \
                        do long things in several steps.";
            turn.tell_itself(NoticeTopic::CutOff, text.to_owned());
            Ok(())
        }
        StopReason::MaxTokens => {
            let why = "its answers are cut off by the output limit again and again";
            turn.error("cut_off", why, Some("Write to the task, or raise the output limit.".to_owned()));
            turn.rest(RestReason::Failed);
            turn.read_on();
            turn.tell_above(why)
        }
        StopReason::Refusal => {
            let why = "the model would not answer";
            turn.error("refusal", why, Some("Put the request in other words.".to_owned()));
            turn.rest(RestReason::Refused);
            turn.read_on();
            turn.tell_above(why)
        }
        // Its words stand in the conversation; the next request has to end with something that was said to it.
        StopReason::Other(reason) if reason == "pause_turn" => {
            let text = "Your turn was paused by the provider. Go on where it ended.";
            turn.tell_itself(NoticeTopic::CutOff, text.to_owned());
            Ok(())
        }
        StopReason::Other(reason) if reason == "model_context_window_exceeded" => {
            wish_for_summary(turn);
            Ok(())
        }
        StopReason::EndTurn | StopReason::ToolUse | StopReason::Cancelled | StopReason::Other(_) => {
            turn.rest(RestReason::EndTurn);
            at_rest(turn)
        }
    }
}

/// An agent that waits for nothing is reminded of it; if that does not help, the task above is told.
pub(super) fn at_rest(turn: &mut Turn<'_, '_>) -> Result<(), Refusal> {
    let task = turn.task;
    if turn.inbox().wants_agent() {
        turn.effect(Effect::Wake { task });
        return Ok(());
    }
    if turn.is_root() || awaits_something(turn) {
        return Ok(());
    }
    let (reminded, limit) = (turn.session.streak.reminded, turn.plan.limits.reminders);
    if reminded < limit {
        let text = "You ended your turn, but this task is not finished and nothing will happen by itself: no sub-task \
                    runs, no command, and no question waits for an answer. If the work is done, call done. \
                    If you need something, ask for it with send_message or clarify. Otherwise go on.";
        turn.tell_itself(NoticeTopic::Reminder, text.to_owned());
        return Ok(());
    }
    if reminded == limit {
        return turn.tell_above("it waits, and there is nothing it waits for. Write to it, or reset it");
    }
    Ok(())
}

fn awaits_something(turn: &Turn<'_, '_>) -> bool {
    let below = turn.plan.tree().tasks_below(turn.task);
    let running = below.iter().any(|node| node.status() == Some(crate::tree::Status::InProgress));
    let session = &turn.session;
    running
        || !session.questions.is_empty()
        || !session.background.is_empty()
        || !session.approvals.is_empty()
}

/// Has the conversation summarised at the next opportunity.
fn wish_for_summary(turn: &mut Turn<'_, '_>) {
    let id = turn.plan.new_id();
    turn.emit(MessagePosted { id, body: Compact {}.into(), wake: true });
    turn.effect(Effect::Wake { task: turn.task });
}

pub(super) fn failed(turn: &mut Turn<'_, '_>, failure: Failure) -> Result<(), Refusal> {
    if turn.session.asking.is_none_or(|asking| asking.turn != failure.turn) {
        return Err(Refusal::Late { task: turn.task, what: "an answer" });
    }
    let summarising = turn.session.asking.is_some_and(|asking| asking.purpose == TurnPurpose::Summary);
    let broken_off = turn.is_broken_off();
    let (failures, message) = (turn.session.streak.failures, failure.message.clone());
    let stop_reason = match failure.passing {
        _ if broken_off => StopReason::Cancelled,
        true => StopReason::Other(FAILING.to_owned()),
        false => StopReason::Other(FAILED.to_owned()),
    };
    let Failure { usage, cost, .. } = failure;
    if !broken_off {
        turn.error(&failure.class, failure.message, failure.advice);
    }
    end_turn(turn, Ending { stop: stop_reason, model: None, usage, cost });
    if summarising {
        turn.emit(CacheBreak { reason: CacheBreakReason::Compaction });
    }
    if broken_off {
        turn.break_off();
        return Ok(());
    }
    turn.rest(RestReason::Failed);
    if failure.too_long && !summarising {
        wish_for_summary(turn);
        return Ok(());
    }
    if failure.passing && failures + 1 < turn.plan.limits.failed_turns {
        retry_later(turn, failure.turn);
        return Ok(());
    }
    // Who wrote meanwhile may know why. A summary reads no messages, so there it would be the same again.
    if !summarising {
        turn.read_on();
    }
    turn.tell_above(&format!("its model cannot be asked: {message}"))
}

/// Each further failure waits twice as long.
pub(super) fn retry_later(turn: &mut Turn<'_, '_>, failed: u64) {
    let failures = turn.session.streak.failures.saturating_sub(1).min(16);
    let wait = turn.plan.limits.retry_ms.saturating_mul(1 << failures);
    let at = Millis(turn.plan.at.0.saturating_add(wait));
    turn.effect(Effect::Alarm { task: turn.task, at, what: Alarm::Retry { turn: failed } });
}

/// Asks again, unless something else has happened since.
pub(super) fn retry(turn: &mut Turn<'_, '_>, failed: u64) -> Result<(), Refusal> {
    let same = turn.session.life.turns == failed && turn.session.rest == Some(RestReason::Failed);
    let begins_again = turn.plan.actor == Actor::User && turn.fields()?.status == Status::Failed;
    if !same || !(turn.works() || begins_again) || turn.session.is_busy() {
        return Err(Refusal::Late { task: turn.task, what: "another try" });
    }
    if begins_again {
        return begin_again(turn);
    }
    if place::look(turn) == Place::None {
        // Nobody calls it, so it comes back by itself.
        retry_later(turn, failed);
        return Ok(());
    }
    if turn.session.summarising && turn.session.opened {
        return compact::begin(turn);
    }
    next::go_on(turn)
}

/// The workplace of a task could not be made, so it has failed; the user has seen to that and has it tried again.
fn begin_again(turn: &mut Turn<'_, '_>) -> Result<(), Refusal> {
    let (task, title) = (turn.task, turn.node()?.title.clone());
    turn.plan.change_status(task, (Status::Failed, Status::InProgress), Some("another try".to_owned()))?;
    turn.plan.announce(task, &change(TreeAction::StatusChanged, task, &title), Concern::Surroundings);
    next::go_on(turn)
}

/// A call nobody will ever hear of again.
pub(super) fn lost(turn: &mut Turn<'_, '_>) {
    let summarising = turn.session.asking.is_some_and(|asking| asking.purpose == TurnPurpose::Summary);
    let usage = Usage::default();
    end_turn(turn, Ending { stop: StopReason::Cancelled, model: None, usage, cost: Cost::Unknown });
    if summarising {
        turn.emit(CacheBreak { reason: CacheBreakReason::Compaction });
    }
}
