//! Hosts that the commands of an agent want to reach, and about which the user is asked.

use super::turn::Turn;
use crate::decide::{Actor, Refusal, text};
use crate::event::body::{
    ApprovalScope, HostApprovalExpired, HostApprovalGiven, HostApprovalRequested, Verdict,
};
use crate::id::ApprovalId;

/// Puts a host to the user. The connection to it waits, and with it the call that wants it.
pub(super) fn ask(turn: &mut Turn<'_, '_>, id: ApprovalId, host: String) -> Result<(), Refusal> {
    if turn.plan.actor != Actor::Daemon {
        return Err(Refusal::UserOnly { wanted: "ask about a host" });
    }
    let nothing_runs = turn.session.calls.is_empty() && turn.session.background.is_empty();
    if nothing_runs || turn.is_broken_off() || turn.session.host_requests.contains_key(&id) {
        return Err(Refusal::Late { task: turn.task, what: "a question about a host" });
    }
    let limit = turn.plan.limits.questions_per_task;
    if turn.session.host_requests.len() >= limit {
        return Err(Refusal::TooManyQuestions { task: turn.task, limit });
    }
    if host.is_empty() {
        return Err(Refusal::Empty { field: "the host" });
    }
    // A name has 253 characters at most; a port and brackets come to it.
    text::bytes("the host", host.len(), turn.plan.limits.reason_chars)?;
    turn.emit(HostApprovalRequested { id, host });
    Ok(())
}

/// The user's word about a host that waits for it.
pub(super) fn answer(turn: &mut Turn<'_, '_>, id: ApprovalId, (verdict, scope): (Verdict, ApprovalScope)) {
    let by = turn.plan.edited_by();
    turn.emit(HostApprovalGiven { id, verdict, scope, by });
}

/// Nobody waits for the word about this host any more.
pub(super) fn withdraw(turn: &mut Turn<'_, '_>, id: ApprovalId) -> Result<(), Refusal> {
    if !turn.session.host_requests.contains_key(&id) {
        return Err(Refusal::Late { task: turn.task, what: "the end of this question" });
    }
    turn.emit(HostApprovalExpired { id });
    Ok(())
}

/// The commands that wanted to reach these hosts have ended.
pub(super) fn withdraw_all(turn: &mut Turn<'_, '_>) {
    let open: Vec<ApprovalId> = turn.session.host_requests.keys().copied().collect();
    for id in open {
        turn.emit(HostApprovalExpired { id });
    }
}
