//! What an attempt is.

use mxd_tools::sandbox::Limits;

use super::scene::Scene;

/// Attempts of one kind, tried one after the other by the same agent.
pub(super) struct Family {
    /// A heading.
    pub(super) name: &'static str,
    /// What agent `two` does first, so that there is something to be reached.
    pub(super) prepare: &'static str,
    /// What is to be removed from the machine afterwards, where it was not stopped.
    pub(super) clean: &'static str,
    /// Limits of the agents.
    pub(super) limits: fn() -> Limits,
    /// Whether the daemon prepares the agent anew after each attempt.
    pub(super) daemon: Daemon,
    /// The table.
    pub(super) attempts: &'static [Attempt],
}

/// What the daemon does after an attempt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Daemon {
    Waits,
    StartsTheAgentAnew,
}

/// One way out.
pub(super) struct Attempt {
    /// What is tried, as a reader of the page knows it.
    pub(super) name: &'static str,
    /// A script of bash, run by agent `one` in its worktree; [`super::scene`] says which variables it has.
    pub(super) script: &'static str,
    /// How success is known.
    pub(super) sign: Sign,
    /// What the top level does about it.
    pub(super) full: Full,
    /// What Landlock alone does about it.
    pub(super) landlock: Landlock,
    /// Whether it is tried without a sandbox, where it must succeed.
    pub(super) outside: Outside,
}

/// How the success of an attempt is known.
pub(super) enum Sign {
    /// It prints the secret, or a line of its own that says so.
    Told,
    /// It left a trace outside of the sandbox.
    Seen(fn(&Scene) -> bool),
    /// Agent `two` runs this script, and it tells.
    ToldByTheOther(&'static str),
}

/// What the top level does about an attempt.
pub(super) enum Full {
    Stopped,
    /// It succeeds where the machine does not let us use control groups, and why.
    NotStoppedWithoutGroups(&'static str),
}

/// What Landlock alone does about an attempt.
pub(super) enum Landlock {
    Stopped,
    /// It succeeds, and why.
    NotStopped(&'static str),
    /// It succeeds when the daemon runs as root, and why.
    NotStoppedForRoot(&'static str),
    /// It succeeds when the daemon runs as an ordinary user, and why.
    NotStoppedForUsers(&'static str),
    /// It succeeds where the machine does not let us use control groups, and why.
    NotStoppedWithoutGroups(&'static str),
}

/// Whether an attempt is tried without a sandbox.
pub(super) enum Outside {
    Succeeds,
    SucceedsForRoot,
    /// It would do harm, or prove nothing.
    NotTried(&'static str),
}

impl Family {
    /// A family that needs nothing special.
    pub(super) const PLAIN: Self = Self {
        name: "",
        prepare: "",
        clean: "",
        limits: Limits::default,
        daemon: Daemon::Waits,
        attempts: &[],
    };
}

impl Attempt {
    /// An attempt that tells of its success, that every level stops, and that anybody can try outside.
    pub(super) const PLAIN: Self = Self {
        name: "",
        script: "",
        sign: Sign::Told,
        full: Full::Stopped,
        landlock: Landlock::Stopped,
        outside: Outside::Succeeds,
    };

    /// The same for what only root can do outside.
    pub(super) const OF_ROOT: Self = Self { outside: Outside::SucceedsForRoot, ..Self::PLAIN };
}
