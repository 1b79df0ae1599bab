//! A commit: everything one input caused, which is on disk as a whole or not at all.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::event::Event;
use crate::time::Millis;

/// The place of a commit in the log of its project: gapless, starting at 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    /// The place after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A commit without events would say that nothing happened, and the log does not record that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a commit needs at least one event")]
pub struct EmptyCommit;

/// What one input caused. Holds no ephemeral events: those are another type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    seq: Seq,
    at: Millis,
    events: Vec<Event>,
}

impl Commit {
    /// Puts events together in the order in which they are to be applied.
    pub fn new(seq: Seq, at: Millis, events: Vec<Event>) -> Result<Self, EmptyCommit> {
        if events.is_empty() { Err(EmptyCommit) } else { Ok(Self { seq, at, events }) }
    }

    /// Its place in the log.
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// When its input arrived.
    pub fn at(&self) -> Millis {
        self.at
    }

    /// What happened; never empty.
    pub fn events(&self) -> &[Event] {
        &self.events
    }
}
