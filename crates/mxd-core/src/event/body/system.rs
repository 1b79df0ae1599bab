//! The world around the agents: worktrees, the log itself, the daemon. Facts about a whole project stand on
//! its root.

use serde::{Deserialize, Serialize};

/// The task has its own checkout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeCreated {
    /// Where.
    pub path: String,
    /// On which branch.
    pub branch: String,
    /// What the branch started from.
    pub base: String,
}

/// The checkout is not wanted any more and is being removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeDismissed {
    /// Where it is.
    pub path: String,
}

/// The checkout is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeRemoved {
    /// Where it was.
    pub path: String,
    /// On which branch.
    pub branch: String,
}

/// The checkout could not be made or removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeFailed {
    /// What git said.
    pub message: String,
}

/// A closed segment of the log was rewritten without what the user deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogPruned {
    /// Which segment.
    pub segment: u64,
    /// Its hash before.
    pub was: String,
    /// Its hash now.
    pub now: String,
    /// On whose wish.
    pub why: String,
}

/// The daemon opened the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DaemonBooted {
    /// Which version of the program.
    pub version: String,
}
