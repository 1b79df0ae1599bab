//! Processes that can touch only what they were given.
//!
//! The daemon never starts a tool itself. It starts its own binary again, as a small supervisor, and tells it
//! over a socket what to run and what that may touch ([`wire`]). The supervisor has two stages: [`outer`]
//! leaves the namespaces of the daemon, [`inner`] builds what the command will see, locks the door behind
//! itself, starts the command, and ends everything that is left when the command ends or the daemon goes
//! away. [`level`] says how much of that the machine allows; [`Sandbox::probe`] finds it out by trying.

mod doors;
mod error;
mod inner;
mod launch;
mod level;
mod namespaces;
mod outer;
mod policy;
mod probe;
mod system;
mod view;
mod wire;

pub use error::SandboxError;
pub use launch::{Child, Command, End, Exit, Input, Launcher, Output, Sandbox};
pub use level::{Level, Mode};
pub use policy::{Limits, Network, Overlay, Policy, StandIn};
pub use wire::Usage;

use std::process::ExitCode;

/// The life of a supervisor: what the launcher's `main` does when it is started as one.
///
/// `stage` is the argument after the hidden one. The socket to the daemon is standard input.
pub fn enter(stage: Option<&str>) -> ExitCode {
    match stage {
        Some(outer::STAGE) => outer::run(),
        Some(inner::STAGE) => inner::run(),
        _ => ExitCode::from(wire::NOT_STARTED_BY_US),
    }
}
