//! Servers that have the model of a task write for them: paid from its budget, within limits, and only while it waits for
//! a call.

use super::bill::{self, Reported};
use super::input::{Cost, Sample, Sampled};
use super::money;
use super::route::Route;
use super::turn::Turn;
use crate::decide::{Actor, Refusal, text};
use crate::event::body::{
    BudgetReserved, CallMade, RestReason, SamplingEnded, SamplingStarted, StopReason, Usage,
};
use crate::id::ReservationId;
use crate::money::Usd;
use crate::session::FAILED;

/// A server wants the model to write. What that may cost is set aside first.
pub(super) fn begin(turn: &mut Turn<'_, '_>, sample: Sample) -> Result<(), Refusal> {
    let (task, limits) = (turn.task, turn.plan.limits);
    if turn.plan.actor != Actor::Daemon {
        return Err(Refusal::UserOnly { wanted: "have the model write for a server" });
    }
    let is_known = turn.plan.state.reservations().contains_key(&sample.id);
    if turn.is_broken_off() || is_known || !has_running_call(turn) {
        return Err(Refusal::Late { task, what: "a server that wants the model to write" });
    }
    text::name(limits, "the name of the server", &sample.server)?;
    let limit = limits.samplings_per_turn;
    if turn.session.sampled >= limit {
        return Err(Refusal::TooManySamplings { task, limit });
    }
    if limits.tokens_per_task > 0 && turn.session.life.tokens >= limits.tokens_per_task {
        return Err(Refusal::UsedUp { task, limit: limits.tokens_per_task });
    }
    let Sample { id, server, load, max_tokens } = sample;
    let amount_usd = price(turn, &money::Wanted { load, max_tokens })?;
    let max_output_tokens = Some(max_tokens);
    turn.emit(BudgetReserved { id, amount_usd, max_output_tokens });
    turn.emit(SamplingStarted { id, server, bytes: load.bytes, max_tokens });
    Ok(())
}

/// What has to be set aside.
fn price(turn: &Turn<'_, '_>, wanted: &money::Wanted) -> Result<Usd, Refusal> {
    let worst = money::worst_case_of(turn, wanted);
    let Some(owner) = turn.plan.state.budget_owner(turn.task) else {
        return Ok(worst.unwrap_or(Usd::ZERO));
    };
    let wanted = worst.ok_or(Refusal::PriceUnknown { task: turn.task })?;
    let left = money::left(turn, owner.id);
    if wanted > left {
        return Err(Refusal::NotEnoughMoney { task: owner.id, left, wanted });
    }
    Ok(wanted)
}

/// Whether a tool runs outside: nobody else has a reason to ask.
fn has_running_call(turn: &Turn<'_, '_>) -> bool {
    let session = &turn.session;
    let is_asked_about = |call: &CallMade| session.approvals.values().any(|waiting| waiting.call == call.id);
    session.calls.iter().any(|call| Route::of(&call.tool) == Route::Outside && !is_asked_about(call))
}

/// The model has written for a server, or could not. Whatever became of the task meanwhile, this is to be paid.
pub(super) fn end(turn: &mut Turn<'_, '_>, sampled: Sampled) -> Result<(), Refusal> {
    let Sampled { id, stop, usage, cost, written } = sampled;
    if !turn.session.samplings.contains_key(&id) {
        return Err(Refusal::Late { task: turn.task, what: "what the model wrote for a server" });
    }
    ended(turn, id, (stop, Reported { usage, cost, written }));
    // What a task has left is handed back when it is done, and this is left since then.
    if turn.session.rest == Some(RestReason::Done) {
        money::refund(turn);
    }
    Ok(())
}

/// Nobody will say what became of these.
pub(super) fn lose_all(turn: &mut Turn<'_, '_>) {
    let ids: Vec<ReservationId> = turn.session.samplings.keys().copied().collect();
    for id in ids {
        let lost = Reported { usage: Usage::default(), cost: Cost::Unknown, written: 0 };
        ended(turn, id, (StopReason::Cancelled, lost));
    }
}

fn ended(turn: &mut Turn<'_, '_>, id: ReservationId, (stop, reported): (StopReason, Reported)) {
    let server = turn.session.samplings.get(&id).cloned().unwrap_or_default();
    let bill = bill::of_sampling(turn, id, &reported);
    let settling = bill.settling();
    turn.emit(SamplingEnded {
        id,
        server,
        stop_reason: stop,
        usage: bill.usage,
        cost_usd: bill.cost_usd,
        cost_unknown: bill.cost_unknown,
        usage_fault: bill.fault,
    });
    money::settle_one(turn, id, settling);
}

impl Sampled {
    /// The stop reason of one that failed.
    pub fn failed() -> StopReason {
        StopReason::Other(FAILED.to_owned())
    }
}
