//! The requests of one model call: each has money set aside before it leaves, and is settled when it has failed.

use super::answer::{self, Ending};
use super::bill::{self, Reported};
use super::compact;
use super::input::{Cost, FailedAttempt};
use super::money;
use super::next;
use super::turn::Turn;
use crate::decide::text::cut as text_cut;
use crate::decide::{Effect, Refusal};
use crate::event::body::{AttemptFailed, CacheBreak, CacheBreakReason, StopReason, TurnPurpose, Usage};
use crate::money::Usd;
use crate::session::{Asking, UNPAID};
use crate::state::Reservation;

/// A request failed, and the same one is to be made again. What it cost is spent, and as much as before is set aside for
/// the next one. If that cannot be paid, the call ends here, and what can still be done for the money is decided anew.
pub(super) fn failed(turn: &mut Turn<'_, '_>, attempt: FailedAttempt) -> Result<(), Refusal> {
    let asking = turn.session.asking.filter(|asking| asking.turn == attempt.turn);
    let (Some(asking), Some(reserved)) = (asking, money::reserved_for_call(turn)) else {
        return Err(Refusal::Late { task: turn.task, what: "a failed request" });
    };
    settle(turn, attempt);
    if turn.is_broken_off() {
        end(turn, asking, StopReason::Cancelled);
        turn.break_off();
        return Ok(());
    }
    match set_aside_again(turn, reserved) {
        SetAside::Done => Ok(()),
        SetAside::Short => unpaid(turn, asking),
    }
}

/// The daemon died while a call ran. Whether its request was answered, nobody knows, so it costs all that was set aside
/// for it; the call is made again with new money.
pub(super) fn resume(turn: &mut Turn<'_, '_>, asking: Asking) -> Result<(), Refusal> {
    let Some(reserved) = money::reserved_for_call(turn) else {
        return unpaid(turn, asking);
    };
    let lost = FailedAttempt {
        turn: asking.turn,
        message: "the daemon ended before the answer was complete".to_owned(),
        class: "restart".to_owned(),
        usage: Usage::default(),
        cost: Cost::Unknown,
    };
    settle(turn, lost);
    match set_aside_again(turn, reserved) {
        SetAside::Done => {
            let (task, Asking { turn: number, purpose }) = (turn.task, asking);
            let max_output_tokens = reserved.max_output_tokens;
            turn.effect(Effect::CallModel { task, turn: number, purpose, max_output_tokens });
            Ok(())
        }
        SetAside::Short => unpaid(turn, asking),
    }
}

enum SetAside {
    Done,
    Short,
}

/// The request is the same, so it costs as much at most.
fn set_aside_again(turn: &mut Turn<'_, '_>, reserved: Reservation) -> SetAside {
    let Reservation { amount, max_output_tokens, .. } = reserved;
    let owner = turn.plan.state.budget_owner(turn.task);
    if owner.is_some_and(|owner| money::left(turn, owner.id) < amount) {
        return SetAside::Short;
    }
    money::reserve(turn, money::Allowance { amount, max_output_tokens });
    SetAside::Done
}

fn settle(turn: &mut Turn<'_, '_>, attempt: FailedAttempt) {
    let FailedAttempt { turn: number, message, class, usage, cost } = attempt;
    let bill = bill::of_call(turn, &Reported { usage, cost, written: 0 });
    let settling = bill.settling();
    turn.emit(AttemptFailed {
        turn: number,
        message: text_cut(&message, turn.plan.limits.reason_chars),
        class: Some(class),
        usage: bill.usage,
        cost_usd: bill.cost_usd,
        cost_unknown: bill.cost_unknown,
        usage_fault: bill.fault,
    });
    money::settle(turn, settling);
}

/// The call ends without another request.
fn end(turn: &mut Turn<'_, '_>, asking: Asking, stop: StopReason) {
    let (usage, cost) = (Usage::default(), Cost::Known(Usd::ZERO));
    answer::end_turn(turn, Ending { stop, model: None, usage, cost, written: 0 });
    if asking.purpose == TurnPurpose::Summary {
        turn.emit(CacheBreak { reason: CacheBreakReason::Compaction });
    }
}

fn unpaid(turn: &mut Turn<'_, '_>, asking: Asking) -> Result<(), Refusal> {
    end(turn, asking, StopReason::Other(UNPAID.to_owned()));
    if asking.purpose == TurnPurpose::Summary { compact::begin(turn) } else { next::go_on(turn) }
}
