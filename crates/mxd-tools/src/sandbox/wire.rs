//! What the daemon and the two stages of a supervisor tell each other, and how.
//!
//! The socket is the supervisor's standard input. The daemon sends the same [`Order`] twice, once for each
//! stage, and hears [`Report`]s; when either side closes, the other ends what it is doing. A frame is a length
//! and JSON; what ties the supervisor to the daemon, and the command's standard input, travel beside it as file
//! descriptors.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::level::Level;
use super::policy::Policy;

/// The most an order may be. It fits into the buffer of a socket twice, so sending it never waits.
pub(super) const MAX_FRAME: usize = 96 * 1024;

/// The exit code of a supervisor that somebody else started.
pub(super) const NOT_STARTED_BY_US: u8 = 96;

/// What to run, where, and what it may touch.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) level: Level,
    pub(super) program: String,
    pub(super) args: Vec<String>,
    pub(super) cwd: PathBuf,
    pub(super) env: Vec<(String, String)>,
    pub(super) policy: Policy,
    /// The process whose namespaces are joined, at the top level.
    pub(super) anchor: Option<u32>,
    /// The files that take a process into its control groups.
    pub(super) groups: Vec<PathBuf>,
    /// Whether the first of the file descriptors ties the supervisor to the daemon.
    pub(super) is_tied: bool,
}

/// The file descriptors that came with an order.
#[derive(Debug)]
pub(super) struct Beside {
    /// Held until the supervisor ends, by which others know that it has not.
    pub(super) tether: Option<OwnedFd>,
    /// What the command reads.
    pub(super) stdin: Option<OwnedFd>,
}

/// Receives an order with what travels beside it. `None` when the daemon is gone.
pub(super) fn receive_order(socket: &UnixStream) -> io::Result<Option<(Order, Beside)>> {
    let received: Option<(Order, Vec<OwnedFd>)> = receive(socket)?;
    Ok(received.map(|(order, fds)| {
        let mut fds = fds.into_iter();
        let tether = if order.is_tied { fds.next() } else { None };
        (order, Beside { tether, stdin: fds.next() })
    }))
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Report {
    /// It runs; this the kernel does not hold.
    Started { missing: Vec<String> },
    /// The sandbox could not be set up.
    SetUpFailed { what: String },
    /// The program could not be started.
    ExecFailed { why: String },
    /// It ended by itself, or by a signal.
    Ended { code: Option<i32>, signal: Option<i32>, usage: Usage },
}

/// What a command used, its children included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Milliseconds of processor time.
    pub cpu_ms: u64,
    /// Bytes of the largest process in memory.
    pub peak_bytes: u64,
}

/// Sends a frame, and at most two file descriptors with it.
pub(super) fn send(socket: &UnixStream, frame: &[u8], with: &[BorrowedFd<'_>]) -> io::Result<()> {
    let length = u32::try_from(frame.len()).map_err(io::Error::other)?.to_le_bytes();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !with.is_empty() && !control.push(SendAncillaryMessage::ScmRights(with)) {
        return Err(io::Error::other("more file descriptors than travel with a frame"));
    }
    let sent = sendmsg(socket, &[IoSlice::new(&length)], &mut control, SendFlags::NOSIGNAL)?;
    let mut socket = socket;
    socket.write_all(&length[sent..])?;
    socket.write_all(frame)
}

/// Receives a frame, and the file descriptors that came with it. `None` when the other side is gone.
fn receive<T: DeserializeOwned>(socket: &UnixStream) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut length = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received =
        recvmsg(socket.as_fd(), &mut [IoSliceMut::new(&mut length)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    if received.bytes == 0 {
        return Ok(None);
    }
    let mut with = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(fds) = message {
            with.extend(fds);
        }
    }
    let mut socket = socket;
    socket.read_exact(&mut length[received.bytes..])?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_FRAME {
        return Err(io::Error::other("a frame longer than the limit"));
    }
    let mut frame = vec![0; length];
    socket.read_exact(&mut frame)?;
    let value = serde_json::from_slice(&frame)?;
    Ok(Some((value, with)))
}

/// Tells the daemon something. It may be gone, and then nobody is left to tell.
pub(super) fn report(socket: &UnixStream, report: &Report) {
    if let Ok(frame) = serde_json::to_vec(report) {
        let _gone = send(socket, &frame, &[]);
    }
}

/// The socket to the daemon: a supervisor's standard input.
pub(super) fn control() -> io::Result<UnixStream> {
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    Ok(UnixStream::from(socket))
}
