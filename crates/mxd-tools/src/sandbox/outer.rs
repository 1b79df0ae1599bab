//! The first stage of a command that has no namespaces: join the agent's limits, then start the second.

use std::io;
use std::os::unix::net::UnixStream;
use std::process::{ExitCode, Stdio};

use rustix::process::{Pid, set_child_subreaper};

use super::hush::Nowhere;
use super::orphans::end_descendants;
use super::wire::{self, NOT_STARTED_BY_US, Order, Report};
use super::{groups, inner};

/// Its argument.
pub(super) const STAGE: &str = "outer";

/// Runs until the second stage has ended.
pub(super) fn run() -> ExitCode {
    let Ok(control) = wire::control() else { return ExitCode::from(NOT_STARTED_BY_US) };
    let (order, _tether): (Order, _) = match wire::receive(&control) {
        Ok(Some(received)) => received,
        Ok(None) | Err(_) => return ExitCode::from(NOT_STARTED_BY_US),
    };
    let done = adopt().and_then(|()| groups::join(&order.groups)).and_then(|()| run_inner(&control));
    end_descendants();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            wire::report(&control, &Report::SetUpFailed { what });
            ExitCode::FAILURE
        }
    }
}

/// A command could kill the second stage; what that leaves comes here.
fn adopt() -> Result<(), String> {
    set_child_subreaper(Some(Pid::INIT)).map_err(|error| format!("adopting orphans: {error}"))
}

fn run_inner(control: &UnixStream) -> Result<(), String> {
    let nowhere = Nowhere::open()?;
    let mut inner = inner::start(control, STAGE, [Stdio::inherit(), Stdio::inherit()])?;
    nowhere.hush();
    inner.wait().map(drop).map_err(|error: io::Error| format!("waiting for the second stage: {error}"))
}
