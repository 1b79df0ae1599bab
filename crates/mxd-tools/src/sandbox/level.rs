//! How far the kernel holds an agent: the rungs of the ladder.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What the user asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The highest level this machine allows; none at all is refused.
    #[default]
    On,
    /// Only the top level will do.
    Full,
    /// Landlock and seccomp, also where more is possible.
    Landlock,
    /// No sandbox, because the user said so.
    Off,
}

/// What was reached. Later is stronger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Nothing holds the command but its user's permissions.
    Off,
    /// Landlock for files, seccomp for system calls, resource limits.
    Landlock,
    /// The same, inside of namespaces of its own: what is not given is not there.
    Full,
}

impl fmt::Display for Level {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Off => "off",
            Self::Landlock => "landlock",
            Self::Full => "full",
        })
    }
}
