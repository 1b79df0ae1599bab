//! A plan: the decision while it is being made, with what every subject needs to make it.

use std::collections::{BTreeMap, BTreeSet};

use super::notices::Told;
use super::{Actor, Decision, Effect, Refusal, session};
use crate::event::body::{EditedBy, RestReason, TaskStatusChanged};
use crate::event::{Event, EventBody};
use crate::id::{Fresh, Id, TaskId};
use crate::limits::Limits;
use crate::state::State;
use crate::time::Millis;
use crate::tree::{Node, Status, TaskFields, Tree};

/// Who asks for a decision, and when.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) actor: Actor,
    pub(super) at: Millis,
    pub(super) fresh: Fresh,
}

/// What is known, and what was decided so far. The state is the one before the decision throughout.
pub(super) struct Plan<'a> {
    pub(super) state: &'a State,
    pub(super) limits: &'a Limits,
    pub(super) actor: Actor,
    pub(super) at: Millis,
    fresh: Fresh,
    decision: Decision,
    /// Notices of this very plan, by recipient: they count for the size of an inbox and are not sent twice.
    pub(super) notices: BTreeMap<TaskId, Told>,
    /// Tasks that keep nobody from starting any more, by this very plan.
    released: BTreeSet<TaskId>,
    /// Tasks that this very plan sets to work.
    started: BTreeSet<TaskId>,
    /// Tasks whose conversations this very plan throws away.
    pub(super) discarded: BTreeSet<TaskId>,
    /// Nodes that this very plan deletes: they are told nothing any more.
    pub(super) deleted: BTreeSet<TaskId>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(state: &'a State, limits: &'a Limits, asked: Asked) -> Self {
        let Asked { actor, at, fresh } = asked;
        Self {
            state,
            limits,
            actor,
            at,
            fresh,
            decision: Decision::default(),
            notices: BTreeMap::new(),
            released: BTreeSet::new(),
            started: BTreeSet::new(),
            discarded: BTreeSet::new(),
            deleted: BTreeSet::new(),
        }
    }

    /// A plan of its own for somebody else's wish, whose refusal leaves this one as it is.
    pub(super) fn aside(&self, actor: Actor) -> Self {
        Self::new(self.state, self.limits, Asked { actor, at: self.at, fresh: self.fresh.clone() })
    }

    /// Makes what was planned aside part of this plan.
    pub(super) fn join(&mut self, aside: Self) {
        self.fresh = aside.fresh;
        self.decision.events.extend(aside.decision.events);
        self.decision.effects.extend(aside.decision.effects);
        self.notices.extend(aside.notices);
        self.released.extend(aside.released);
        self.started.extend(aside.started);
        self.discarded.extend(aside.discarded);
        self.deleted.extend(aside.deleted);
    }

    /// The decision, if it fits into one line of the log.
    pub(super) fn into_decision(mut self) -> Result<Decision, Refusal> {
        self.prune_discarded();
        session::call_queued(&mut self);
        self.decision.fitting(self.limits)
    }

    pub(super) fn tree(&self) -> &'a Tree {
        self.state.tree()
    }

    pub(super) fn edited_by(&self) -> EditedBy {
        self.actor.edited_by()
    }

    /// A node that has to exist.
    pub(super) fn node(&self, id: TaskId) -> Result<&'a Node, Refusal> {
        self.tree().get(id).ok_or(Refusal::UnknownTask { task: id })
    }

    /// A node that has to be a task, because only a task can do what is wanted.
    pub(super) fn task(
        &self,
        id: TaskId,
        wanted: &'static str,
    ) -> Result<(&'a Node, &'a TaskFields), Refusal> {
        let node = self.node(id)?;
        node.task().map(|task| (node, task)).ok_or(Refusal::NotATask { task: id, wanted })
    }

    /// Whether the agent of a task is called for what nobody wrote to it: one at work, unless it was stopped.
    pub(super) fn is_called(&self, task: TaskId) -> bool {
        let works = self.tree().get(task).and_then(Node::status) == Some(Status::InProgress);
        works && self.state.session(task).rest() != Some(&RestReason::Stopped)
    }

    pub(super) fn new_id<I: Id>(&mut self) -> I {
        self.fresh.issue()
    }

    /// The ids that are left.
    pub(super) fn fresh(&self) -> Fresh {
        self.fresh.clone()
    }

    pub(super) fn emit(&mut self, task: TaskId, body: impl Into<EventBody>) {
        self.decision.events.push(Event::new(task, body));
    }

    /// What is planned so far.
    pub(super) fn events(&self) -> &[Event] {
        &self.decision.events
    }

    /// The node of the first event so far.
    pub(super) fn first_node(&self) -> Option<TaskId> {
        self.decision.events.first().map(|event| event.task)
    }

    pub(super) fn effect(&mut self, effect: Effect) {
        self.decision.effects.push(effect);
    }

    /// Changes a status, if the table has the way.
    pub(super) fn change_status(
        &mut self,
        task: TaskId,
        (from, to): (Status, Status),
        reason: Option<String>,
    ) -> Result<(), Refusal> {
        from.check(to).map_err(|transition| Refusal::Transition { task, transition })?;
        let edited_by = self.edited_by();
        self.emit(task, TaskStatusChanged { from, to, edited_by, reason });
        Ok(())
    }

    /// The tasks that keep this one from starting, after what is planned so far.
    pub(super) fn blocked_by(&self, task: TaskId) -> Vec<TaskId> {
        let mut blocking = self.tree().blocked_by(task);
        blocking.retain(|dependency| !self.released.contains(dependency));
        blocking
    }

    /// Notes that these tasks keep nobody from starting any more.
    pub(super) fn note_released(&mut self, tasks: &BTreeSet<TaskId>) {
        self.released.extend(tasks);
    }

    /// Sets a task to work, once.
    pub(super) fn start(&mut self, task: TaskId, from: Status, reason: &str) -> Result<(), Refusal> {
        if !self.started.insert(task) {
            return Ok(());
        }
        self.change_status(task, (from, Status::InProgress), Some(reason.to_owned()))?;
        self.effect(Effect::Wake { task });
        Ok(())
    }
}
