//! Several wishes as one decision: each is decided on what the ones before it leave, and one refusal refuses all.

use super::plan::{Asked, Plan};
use super::{Decision, Op, Refusal, apply_op};
use crate::limits::Limits;
use crate::state::State;

pub(super) fn decide(
    state: &State,
    limits: &Limits,
    (asked, ops): (Asked, Vec<Op>),
) -> Result<Decision, Refusal> {
    let (mut state, mut asked, mut whole) = (state.clone(), asked, Decision::default());
    let mut unchanged = None;
    for op in ops {
        let mut plan = Plan::new(&state, limits, asked.clone());
        match apply_op(&mut plan, op) {
            Ok(()) => {}
            // How it is to be is how it is already.
            Err(refusal @ Refusal::NothingToChange { .. }) => {
                unchanged = Some(refusal);
                continue;
            }
            Err(refusal) => return Err(refusal),
        }
        asked.fresh = plan.fresh();
        let Decision { events, effects } = plan.into_decision()?;
        events.iter().for_each(|event| state.apply(event, asked.at));
        whole.events.extend(events);
        whole.effects.extend(effects);
    }
    match unchanged {
        Some(refusal) if whole.events.is_empty() => Err(refusal),
        _ => whole.fitting(limits),
    }
}
