//! What git for agents needs somebody else to run: scripts of the project and an agent's own git, inside the sandbox.
//!
//! The caller gives a function that takes an [`Errand`] and returns what came of it. How it is confined is not known
//! here; that it must be is, because all of it is the agents' to change.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// A command to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Errand {
    /// What it is for: one of the purposes below, or another in words.
    pub purpose: &'static str,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Where.
    pub folder: PathBuf,
    /// How long it may take. The runner ends it after that.
    pub time: Duration,
}

impl Errand {
    /// The set-up script of a new worktree, in that worktree.
    pub const SET_UP: &'static str = "set up the worktree";
    /// The check of a merge, in a scratch worktree of nobody's.
    pub const CHECK: &'static str = "check the merge";
    /// Git in the worktree of an agent, as that agent: it needs the agent's share of the repository.
    pub const FOLLOW: &'static str = "take the merge over";
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// How it ended.
    pub end: End,
    /// What it wrote, both streams, as much as the runner keeps.
    pub output: String,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code.
    Exit(i32),
    /// By a signal.
    Signal(i32),
    /// By its time limit.
    TimedOut,
}

impl Ran {
    /// Whether it did what it was for.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.end == End::Exit(0)
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::TimedOut => f.write_str("its time limit"),
        }
    }
}
