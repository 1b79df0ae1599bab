//! The statuses of a task and the only ways from one to another.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Written down, not ready to be started.
    Draft,
    /// Ready; starts with its first message.
    Pending,
    /// An agent works on it or waits in it.
    InProgress,
    /// Done by its agent, waiting for review.
    Verify,
    /// Done.
    Passed,
    /// Given up.
    Failed,
    /// Put away.
    Closed,
}

/// From each status, the statuses a task can go to. What is not listed is refused.
pub const TRANSITIONS: &[(Status, &[Status])] = {
    use Status::{Closed, Draft, Failed, InProgress, Passed, Pending, Verify};
    &[
        (Draft, &[Pending, Closed]),
        (Pending, &[Draft, InProgress, Closed]),
        (InProgress, &[Verify, Passed, Failed, Pending]),
        (Verify, &[Passed, Failed, InProgress, Closed, Pending]),
        (Passed, &[InProgress, Closed, Pending]),
        (Failed, &[InProgress, Closed, Pending]),
        (Closed, &[InProgress, Pending]),
    ]
};

/// A way that the table does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a task cannot go from {from} to {to}")]
pub struct IllegalTransition {
    /// Where it stands.
    pub from: Status,
    /// Where it was to go.
    pub to: Status,
}

impl Status {
    /// All statuses, in the order of a task's life.
    pub const ALL: [Self; 7] = [
        Self::Draft,
        Self::Pending,
        Self::InProgress,
        Self::Verify,
        Self::Passed,
        Self::Failed,
        Self::Closed,
    ];

    /// Where a task can go from here.
    pub fn next(self) -> &'static [Self] {
        TRANSITIONS.iter().find(|(from, _)| *from == self).map_or(&[], |(_, to)| to)
    }

    /// Checks a way against the table.
    pub fn check(self, to: Self) -> Result<(), IllegalTransition> {
        if self.next().contains(&to) { Ok(()) } else { Err(IllegalTransition { from: self, to }) }
    }

    /// Whether tasks that wait for this one may start.
    pub fn releases(self) -> bool {
        match self {
            Self::Passed | Self::Closed => true,
            Self::Draft | Self::Pending | Self::InProgress | Self::Verify | Self::Failed => false,
        }
    }

    /// Whether the task had been worked on to an end, so that a message brings it back.
    pub fn is_ended(self) -> bool {
        match self {
            Self::Verify | Self::Passed | Self::Failed | Self::Closed => true,
            Self::Draft | Self::Pending | Self::InProgress => false,
        }
    }

    /// The name in JSON and on the screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Verify => "verify",
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Closed => "closed",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
