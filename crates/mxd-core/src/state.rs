//! The state of a project: the fold of its events.
//!
//! Folding is total. The log is the truth even where a line of it was lost, so an event that no longer fits
//! is counted as an anomaly and the fold goes on; it never panics and never stops.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::commit::Commit;
use crate::id::{ReservationId, TaskId};
use crate::inbox::Inbox;
use crate::money::Usd;
use crate::session::Session;
use crate::tree::{Node, Tree};

mod fold;

/// Everything `decide` needs to know, and nothing that is only text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    tree: Tree,
    /// Only tasks that ever got a message have one.
    inboxes: BTreeMap<TaskId, Inbox>,
    /// Only tasks that ever worked or were written to have one.
    #[serde(default)]
    sessions: BTreeMap<TaskId, Session>,
    /// Money that is set aside for model calls that run.
    #[serde(default)]
    reservations: BTreeMap<ReservationId, Reservation>,
    anomalies: Anomalies,
}

/// Money set aside for a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reservation {
    /// Whose call.
    pub asker: TaskId,
    /// Whose money: the nearest task, from the asker upwards, that has a budget; none when nobody's is limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<TaskId>,
    /// How much.
    pub amount: Usd,
    /// Tokens that the answer may have at most, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
}

/// How often an event did not fit the state it met. All zero unless something of the log was lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Anomalies {
    /// About a task that does not exist, or about a folder where only a task will do.
    pub unknown_task: u64,
    /// A place in the tree that does not exist; the node was put where it fits.
    pub misplaced: u64,
    /// A second creation of the same node or a second posting of the same message.
    pub repeated: u64,
    /// A change from something that was not there: another status, a message that did not wait, missing
    /// money.
    pub mismatched: u64,
}

static EMPTY: Inbox = Inbox::EMPTY;

impl State {
    /// The tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The inbox of a task; empty for one that never got a message.
    pub fn inbox(&self, task: TaskId) -> &Inbox {
        self.inboxes.get(&task).unwrap_or(&EMPTY)
    }

    /// The session of a task; a fresh one for a task that never worked.
    pub fn session(&self, task: TaskId) -> &Session {
        self.sessions.get(&task).unwrap_or(Session::FRESH)
    }

    /// All sessions there are.
    pub fn sessions(&self) -> &BTreeMap<TaskId, Session> {
        &self.sessions
    }

    /// Money that is set aside for model calls that run.
    pub fn reservations(&self) -> &BTreeMap<ReservationId, Reservation> {
        &self.reservations
    }

    /// The nearest task, from this one upwards, that has a budget.
    pub fn budget_owner(&self, task: TaskId) -> Option<&Node> {
        let itself = self.tree.get(task).into_iter();
        let mut line = itself.chain(self.tree.tasks_above(task));
        line.find(|node| node.task().is_some_and(|fields| fields.budget_usd.is_some()))
    }

    /// What a task has left of its own budget: not spent, not handed on and not set aside.
    pub fn remaining(&self, task: TaskId) -> Option<Usd> {
        let fields = self.tree.get(task)?.task()?;
        let rest = fields.budget_usd?.checked_sub(fields.spent_usd).unwrap_or(Usd::ZERO);
        let mut reserved = self.reservations.values().filter(|reservation| reservation.owner == Some(task));
        let left = reserved.try_fold(rest, |left, reservation| left.checked_sub(reservation.amount));
        Some(left.unwrap_or(Usd::ZERO))
    }

    /// What did not fit.
    pub fn anomalies(&self) -> Anomalies {
        self.anomalies
    }

    /// Applies everything one input caused.
    pub fn apply_commit(&mut self, commit: &Commit) {
        for event in commit.events() {
            self.apply(event, commit.at());
        }
    }
}
