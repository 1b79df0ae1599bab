//! The first stage of a command: join the agent's limits and namespaces, then start the second.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, ExitCode, Stdio};

use rustix::process::{Pid, set_child_subreaper};

use super::hush::Nowhere;
use super::orphans::end_descendants;
use super::wire::{self, NOT_STARTED_BY_US, Order, Report};
use super::{groups, inner, namespaces};

/// Its argument.
pub(super) const STAGE: &str = "outer";

/// Runs until the second stage has ended.
pub(super) fn run() -> ExitCode {
    let Ok(control) = wire::control() else { return ExitCode::from(NOT_STARTED_BY_US) };
    let (order, _tether): (Order, _) = match wire::receive(&control) {
        Ok(Some(received)) => received,
        Ok(None) | Err(_) => return ExitCode::from(NOT_STARTED_BY_US),
    };
    let done = adopt().and_then(|()| leave(&order)).and_then(|()| run_inner(&control));
    end_descendants();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            wire::report(&control, &Report::SetUpFailed { what });
            ExitCode::FAILURE
        }
    }
}

fn leave(order: &Order) -> Result<(), String> {
    groups::join(&order.groups)?;
    match order.anchor {
        Some(anchor) => namespaces::join(anchor),
        None => Ok(()),
    }
}

/// Without a process namespace, a command could kill the second stage; what that leaves comes here.
fn adopt() -> Result<(), String> {
    set_child_subreaper(Some(Pid::INIT)).map_err(|error| format!("adopting orphans: {error}"))
}

/// The second stage is our own binary again: the first process of its namespace, if it has one.
fn run_inner(control: &UnixStream) -> Result<(), String> {
    let socket =
        control.as_fd().try_clone_to_owned().map_err(|error| format!("copying the socket: {error}"))?;
    let nowhere = Nowhere::open()?;
    let mut inner = Command::new("/proc/self/exe")
        .args(std::env::args_os().skip(1).take_while(|argument| argument != STAGE))
        .arg(inner::STAGE)
        .env_clear()
        .stdin(Stdio::from(socket))
        .spawn()
        .map_err(|error| format!("starting the second stage: {error}"))?;
    nowhere.hush();
    inner.wait().map(drop).map_err(|error: io::Error| format!("waiting for the second stage: {error}"))
}
