//! The commands that live with an anchor: each is started in the namespaces that they share.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::thread;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::launch::GRACE;
use super::wire::{self, Guest, Report};
use super::{anchor, inner, namespaces};

/// Takes commands in until the daemon closes the socket, and waits for the last of them to end.
///
/// Each has a thread: what a thread enters, it enters alone, and what it has started ends with it.
pub(super) fn host(control: &UnixStream) {
    thread::scope(|scope| {
        while let Ok(Some((Guest {}, with))) = wire::receive(control) {
            let Ok([socket, stdout, stderr]) = <[OwnedFd; 3]>::try_from(with) else { return };
            let socket = UnixStream::from(socket);
            let Ok(own) = socket.try_clone() else { continue };
            let attended = thread::Builder::new()
                .spawn_scoped(scope, move || attend(&own, [Stdio::from(stdout), Stdio::from(stderr)]));
            if let Err(error) = attended {
                refuse(&socket, format!("starting a thread for the command: {error}"));
            }
        }
    });
}

fn attend(socket: &UnixStream, outlets: [Stdio; 2]) {
    let started = namespaces::part().and_then(|()| inner::start(socket, anchor::STAGE, outlets));
    if let Err(what) = started.and_then(|inner| watch(inner, socket)) {
        refuse(socket, what);
    }
}

fn refuse(socket: &UnixStream, what: String) {
    wire::report(socket, &Report::SetUpFailed { what });
}

/// Waits for the last stage to end. When the daemon lets go of it, it has a moment for that; then it is killed.
fn watch(mut inner: Child, socket: &UnixStream) -> Result<(), String> {
    let failed = |error: Errno| format!("watching the last stage: {error}");
    let id = Pid::from_child(&inner);
    let over = pidfd_open(id, PidfdFlags::empty()).and_then(|end| {
        let both = &mut [PollFd::new(&end, PollFlags::IN), PollFd::new(socket, PollFlags::empty())];
        retry_on_intr(|| poll(both, None))?;
        let grace = Timespec::try_from(GRACE).ok();
        retry_on_intr(|| poll(&mut [PollFd::new(&end, PollFlags::IN)], grace.as_ref()))
    });
    if !matches!(over, Ok(1..)) {
        let _ended_already = inner.kill();
    }
    let _reaped = inner.wait();
    over.map(drop).map_err(failed)
}
