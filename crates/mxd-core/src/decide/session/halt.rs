//! Breaking off: the turn, the agent with all below it, or the conversation back to an earlier point.

use super::finish::end_run;
use super::turn::{Kind, Turn};
use super::{host, settle};
use crate::commit::Seq;
use crate::decide::{Actor, Effect, Refusal};
use crate::event::body::{
    AgentInterrupted, AgentStopped, CacheBreak, CacheBreakReason, ExitReason, RewindMarker, ToolCallId,
};
use crate::tree::Status;

/// Breaks the running turn off. The agent stays, and goes on with the next message.
pub(super) fn interrupt(turn: &mut Turn<'_, '_>) -> Result<(), Refusal> {
    let task = turn.task;
    if turn.is_broken_off() || !turn.session.is_busy() || turn.session.launching {
        return Err(Refusal::NothingToChange { task });
    }
    turn.emit(AgentInterrupted {});
    if turn.session.asking.is_some() {
        turn.effect(Effect::CancelModel { task });
        return Ok(());
    }
    turn.effect(Effect::CancelTools { task });
    answer_unasked(turn, "Not run: the turn was broken off before the user had answered.");
    settle::after_result(turn)
}

/// Nobody has to say a word about these calls any more.
fn answer_unasked(turn: &mut Turn<'_, '_>, text: &str) {
    let unasked: Vec<ToolCallId> =
        turn.session.approvals.values().map(|waiting| waiting.call.clone()).collect();
    for call in unasked {
        turn.answer_call(&call, text, Kind::Error);
    }
    host::withdraw_all(turn);
}

/// Stops the agent and every agent below it, at once. Their tasks stay in progress and do not start by themselves.
pub(super) fn stop(turn: &mut Turn<'_, '_>, reason: Option<String>) -> Result<(), Refusal> {
    let below = turn.plan.tree().descendants(turn.task);
    let tasks = [turn.task].into_iter().chain(below.iter().map(|node| node.id));
    let running: Vec<_> = tasks
        .filter(|id| turn.plan.tree().get(*id).is_some_and(|node| node.status() == Some(Status::InProgress)))
        .collect();
    if running.is_empty() {
        return Err(Refusal::NothingToChange { task: turn.task });
    }
    for task in running {
        let mut each = Turn::of(turn.plan, task);
        answer_unasked(&mut each, "Not run: you were stopped before the user had answered.");
        each.emit(AgentStopped { reason: reason.clone() });
        end_run(&mut each, false, ExitReason::Interrupted);
        each.effect(Effect::StopAgent { task });
    }
    Ok(())
}

/// Takes the conversation back. Nothing is deleted: what came after is only not sent any more.
pub(super) fn rewind(turn: &mut Turn<'_, '_>, to: Seq) -> Result<(), Refusal> {
    if turn.plan.actor != Actor::User {
        return Err(Refusal::UserOnly { wanted: "rewind a conversation" });
    }
    if turn.session.is_busy() {
        return Err(Refusal::Busy { task: turn.task });
    }
    turn.emit(RewindMarker { to_seq: to });
    turn.emit(CacheBreak { reason: CacheBreakReason::Rewind });
    // What is unread was kept from it by a reason that is gone.
    turn.effect(Effect::Wake { task: turn.task });
    Ok(())
}
