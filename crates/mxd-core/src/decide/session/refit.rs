//! Another model for a conversation that has begun: the settings were changed since.

use super::answer::{self, Ending};
use super::compact;
use super::input::Cost;
use super::next;
use super::turn::Turn;
use crate::decide::Refusal;
use crate::event::body::{
    CacheBreak, CacheBreakReason, ContextCounted, Counter, SessionConfig, StopReason, TurnPurpose, Usage,
};
use crate::money::Usd;
use crate::session::REFITTED;

/// The model that was to be asked, or to count, is not that of the settings any more, and nothing was sent to it. The
/// conversation goes on with the other one, and what is set aside for its calls is what that one costs.
pub(super) fn refitted(
    turn: &mut Turn<'_, '_>,
    (number, config): (u64, SessionConfig),
) -> Result<(), Refusal> {
    let asking = turn.session.asking;
    if turn.session.life.turns != number || (asking.is_none() && !turn.session.counting) {
        return Err(Refusal::Late { task: turn.task, what: "another model" });
    }
    let summarising = asking.is_some_and(|asking| asking.purpose == TurnPurpose::Summary);
    if asking.is_some() {
        let (stop, usage) = (StopReason::Other(REFITTED.to_owned()), Usage::default());
        answer::end_turn(turn, Ending { stop, model: None, usage, cost: Cost::Known(Usd::ZERO), written: 0 });
    } else {
        turn.emit(ContextCounted { tokens: turn.session.context.estimate(), by: Counter::Estimate });
    }
    if summarising {
        turn.emit(CacheBreak { reason: CacheBreakReason::Compaction });
    }
    turn.emit(CacheBreak { reason: CacheBreakReason::ModelChanged });
    turn.emit(config);
    if turn.is_broken_off() {
        turn.break_off();
        return Ok(());
    }
    if summarising { compact::begin(turn) } else { next::go_on(turn) }
}
