//! What can go wrong before a command runs.

use std::path::PathBuf;

/// Why a command could not be started in a sandbox.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The supervisor did not start.
    #[error("cannot start the sandbox supervisor {program}: {source}")]
    Launch {
        /// Our own binary.
        program: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The order is larger than a supervisor accepts.
    #[error(
        "the command, its arguments and its environment are {bytes} bytes; at most {limit} are possible: \
             write long input to a file and pass its name"
    )]
    TooLarge {
        /// How large.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// A stage could not do its part.
    #[error("the sandbox could not be set up: {what}")]
    SetUp {
        /// What was tried, on what, and what the system said.
        what: String,
    },
    /// The program is not there or may not be run.
    #[error("cannot run {program}: {why}")]
    Exec {
        /// What was to run.
        program: String,
        /// What the system said.
        why: String,
    },
    /// The supervisor went away without a word.
    #[error("the sandbox supervisor ended without a report; the system may have run out of memory")]
    Lost,
    /// No level can be reached, and nobody allowed to go without.
    #[error(
        "no sandbox is possible on this machine: {why}. To run tools without one, at your own risk, set \
             sandbox = \"off\" in the configuration"
    )]
    Unavailable {
        /// What is missing.
        why: String,
    },
}
