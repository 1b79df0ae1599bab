//! Processes that can touch only what they were given.
//!
//! The daemon never starts a tool itself. It starts its own binary again, as a small supervisor, and tells it
//! over a socket what to run and what that may touch (`wire`). There are three of them:
//!
//! * `anchor`, once per agent and only at the top level: founds the agent's namespaces, builds what its
//!   commands will see (`view`), starts them (`guests`), and passes their traffic to the proxy.
//! * `outer`, once per command and only below the top level: joins the agent's control groups.
//! * `inner`, once per command, started by one of the others: locks the door behind itself (`doors`), starts the
//!   command, and ends everything that is left when the command ends or the daemon goes away.
//!
//! At the top level, one waits behind the locked door for the next command of an agent (`ready`), because starting it
//! takes longer than most commands do.
//!
//! A [`Cell`] is what the commands of one agent share. [`Level`] says how much of all this the machine allows;
//! [`Sandbox::probe`] finds out by trying.

mod agent;
mod anchor;
mod cell;
mod disk;
mod doors;
mod error;
mod groups;
mod guests;
mod hush;
mod inherited;
mod inner;
mod launch;
mod level;
mod namespaces;
mod orphans;
mod outer;
mod policy;
mod probe;
mod ready;
mod system;
mod view;
mod wire;

pub use agent::{Agent, Inspection, Repository, Settled, User};
pub use cell::Cell;
pub use error::SandboxError;
pub use groups::LimitHits;
pub use launch::{Child, Command, End, Exit, Input, Launcher, Output, Sandbox};
pub use level::{Level, Mode};
pub use policy::{Limits, Network, Overlay, Policy, StandIn};
pub use wire::Usage;

use std::process::ExitCode;

/// The life of a supervisor: what the launcher's `main` does when it is started as one.
///
/// `stage` is the argument after the hidden one. The socket to the daemon is standard input.
pub fn enter(stage: Option<&str>) -> ExitCode {
    // What is open when the daemon starts, somebody else may have left open, and an agent would find it.
    if inherited::close().is_err() {
        return ExitCode::from(wire::NOT_STARTED_BY_US);
    }
    match stage {
        Some(outer::STAGE) => outer::run(),
        Some(inner::STAGE) => inner::run(),
        Some(anchor::STAGE) => anchor::run(),
        _ => ExitCode::from(wire::NOT_STARTED_BY_US),
    }
}
