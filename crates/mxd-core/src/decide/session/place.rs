//! Places: how many agents of a project work at the same time, and who waits for one.
//!
//! A place is taken when an agent that rested, or never worked, begins to be asked, and is free again when it rests. Who
//! finds none is written down and goes on, in the order in which they came, when somebody else's work comes to something.

use std::collections::BTreeSet;

use super::turn::Turn;
use crate::decide::Effect;
use crate::decide::plan::Plan;
use crate::event::body::{AgentQueued, RestReason};
use crate::event::{Event, EventKind};
use crate::id::TaskId;
use crate::state::State;
use crate::tree::{Node, Status};

/// Whether an agent may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// It has one.
    Free,
    /// As many work as may work at once.
    None,
}

/// Whether there is a place for the agent, after those who wait for one longer.
pub(super) fn look(turn: &Turn<'_, '_>) -> Place {
    let (state, limit, task) = (turn.plan.state, turn.plan.limits.agents, turn.task);
    // Who had a place when this was asked keeps it for what comes of it.
    if limit == 0 || turn.session.takes_a_place() || state.session(task).takes_a_place() {
        return Place::Free;
    }
    let others = state.sessions().iter().filter(|(id, _)| **id != task);
    let working = others.filter(|(_, session)| session.takes_a_place()).count();
    let ahead = queue(state).into_iter().take_while(|id| *id != task).count();
    if working + ahead < limit { Place::Free } else { Place::None }
}

/// Takes a place, or waits for one, which is written down once.
pub(super) fn take(turn: &mut Turn<'_, '_>) -> Place {
    let place = look(turn);
    if place == Place::None && turn.session.queued.is_none() {
        let tickets = turn.plan.state.sessions().values().filter_map(|session| session.queued);
        let ticket = tickets.max().unwrap_or(0).saturating_add(1);
        turn.emit(AgentQueued { ticket });
    }
    place
}

/// Who got a place and had no use for it, for want of money or anything else, does not wait for one any more.
pub(super) fn leave_queue(turn: &mut Turn<'_, '_>) {
    if turn.session.queued.is_some() && !turn.session.is_busy() && look(turn) == Place::Free {
        let why = turn.session.rest.clone().unwrap_or(RestReason::EndTurn);
        turn.rest(why);
    }
}

/// Who waits for a place, the longest first.
fn queue(state: &State) -> Vec<TaskId> {
    let mut waiting: Vec<_> = state
        .sessions()
        .iter()
        .filter(|(id, session)| {
            let works = state.tree().get(**id).and_then(Node::status) == Some(Status::InProgress);
            works && !session.is_busy() && state.inbox(**id).wants_agent()
        })
        .filter_map(|(id, session)| session.queued.map(|ticket| (ticket, *id)))
        .collect();
    waiting.sort_unstable();
    waiting.into_iter().map(|(_, id)| id).collect()
}

/// Calls those who wait for a place, when this plan may free some: one for each task it changes anything about.
pub(in crate::decide) fn call_queued(plan: &mut Plan<'_>) {
    if plan.limits.agents == 0 {
        return;
    }
    let frees = |event: &&Event| {
        let kind = event.body.kind();
        kind.is_some_and(|kind| kind.shapes_state() && kind != EventKind::Message)
    };
    let changed: BTreeSet<TaskId> = plan.events().iter().filter(frees).map(|event| event.task).collect();
    if changed.is_empty() {
        return;
    }
    let next = queue(plan.state).into_iter().filter(|task| !changed.contains(task));
    for task in next.take(changed.len()) {
        plan.effect(Effect::Wake { task });
    }
}
