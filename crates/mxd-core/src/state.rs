//! The state of a project: the fold of its events.
//!
//! Folding is total. The log is the truth even where a line of it was lost, so an event that no longer fits
//! is counted as an anomaly and the fold goes on; it never panics and never stops.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::commit::Commit;
use crate::id::TaskId;
use crate::inbox::Inbox;
use crate::tree::Tree;

mod fold;

/// Everything `decide` needs to know, and nothing that is only text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    tree: Tree,
    /// Only tasks that ever got a message have one.
    inboxes: BTreeMap<TaskId, Inbox>,
    anomalies: Anomalies,
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
