//! What tool calls came to, and calls the user has to be asked about.

use super::host;
use super::input::Settled;
use super::next;
use super::route::open_call;
use super::turn::{Kind, Turn};
use crate::decide::{Actor, Effect, Refusal, text};
use crate::event::body::{ApprovalGiven, ApprovalRequested, ApprovalScope, ToolCallId, Verdict};
use crate::id::ApprovalId;
use crate::tool::orchestrator::{Orchestrator, SERVER};

pub(super) fn settled(turn: &mut Turn<'_, '_>, settled: Settled) -> Result<(), Refusal> {
    let Settled { verdict, mut result } = settled;
    result.tool = open_call(turn, &result.tool_call_id)?;
    if let Some(verdict) = verdict {
        turn.emit(verdict);
    }
    turn.emit(result);
    after_result(turn)
}

/// Goes on when the last call has its result.
pub(super) fn after_result(turn: &mut Turn<'_, '_>) -> Result<(), Refusal> {
    if !turn.session.calls.is_empty() {
        return Ok(());
    }
    if turn.session.background.is_empty() {
        host::withdraw_all(turn);
    }
    // Nobody waits for what is still being written for servers.
    if !turn.session.samplings.is_empty() {
        turn.effect(Effect::CancelTools { task: turn.task });
    }
    if turn.is_broken_off() {
        turn.break_off();
        return Ok(());
    }
    next::advance(turn)
}

/// A call has to be asked about: the user is asked, unless the answer is known.
pub(super) fn ask_user(
    turn: &mut Turn<'_, '_>,
    call: ToolCallId,
    (rule, call_hash): (String, String),
) -> Result<(), Refusal> {
    let (task, tool) = (turn.task, open_call(turn, &call)?);
    if turn.is_broken_off() {
        turn.answer_call(&call, "Not run: the turn was broken off before the user was asked.", Kind::Error);
        return after_result(turn);
    }
    // A word for a tool is about what a server does. What the program asks about one of its own calls is asked each time.
    if turn.session.allows(&tool) && !is_own_tool(&tool) {
        turn.effect(Effect::RunTool { task, call, approved: Some(call_hash) });
        return Ok(());
    }
    if turn.session.approvals.values().any(|waiting| waiting.call == call) {
        return Err(Refusal::Late { task, what: "a question about this call" });
    }
    let id = turn.plan.new_id();
    turn.emit(ApprovalRequested { id, tool_call_id: call, tool, call_hash, reason: rule });
    Ok(())
}

fn is_own_tool(tool: &str) -> bool {
    tool.strip_prefix(&format!("mcp__{SERVER}__")).is_some_and(|name| Orchestrator::NAMES.contains(&name))
}

pub(super) fn approve(
    turn: &mut Turn<'_, '_>,
    id: ApprovalId,
    (verdict, scope, reason): (Verdict, ApprovalScope, Option<String>),
) -> Result<(), Refusal> {
    if turn.plan.actor != Actor::User {
        return Err(Refusal::UserOnly { wanted: "approve calls" });
    }
    text::reason(turn.plan.limits, reason.as_deref())?;
    if turn.session.host_requests.contains_key(&id) {
        host::answer(turn, id, (verdict, scope));
        return Ok(());
    }
    let Some(waiting) = turn.session.approvals.get(&id).cloned() else {
        return Err(Refusal::Late { task: turn.task, what: "an approval" });
    };
    let by = turn.plan.edited_by();
    let allowed = verdict == Verdict::Allow;
    let told = denial(reason.as_deref());
    turn.emit(ApprovalGiven { id, verdict, scope, by, reason });
    if allowed && turn.is_broken_off() {
        turn.answer_call(
            &waiting.call,
            "Not run: the task was ended before the user had answered.",
            Kind::Error,
        );
        return after_result(turn);
    }
    if allowed {
        let approved = Some(waiting.call_hash);
        turn.effect(Effect::RunTool { task: turn.task, call: waiting.call, approved });
        return Ok(());
    }
    turn.answer_call(&waiting.call, &told, Kind::Error);
    after_result(turn)
}

/// What an agent reads as the result of a call that the user denied.
fn denial(reason: Option<&str>) -> String {
    let advice = "Do not try to reach the same by other means; ask, or go another way.";
    match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("The user did not allow this call, and says why: {reason}\n{advice}"),
        None => format!("The user did not allow this call. {advice}"),
    }
}
