//! What the daemon and the two stages of a supervisor tell each other, and how.
//!
//! The socket is the supervisor's standard input. The daemon sends an [`Order`] for each stage, then the [`Job`],
//! at once or when there is one, and hears [`Report`]s; when either side closes, the other ends what it is doing.
//! An anchor gets its order and then a [`Guest`] for every command. A frame is a length and JSON. Beside it travel
//! file descriptors: with an order what ties the supervisor to the daemon, held until it ends, by which others know
//! that it has not; with a job what the command reads; with a guest its own socket and where it writes.

use std::io::{self, IoSlice, IoSliceMut, Read};
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

/// The most a frame may be.
pub(super) const MAX_FRAME: usize = 96 * 1024;

/// The most file descriptors that travel with a frame.
const MAX_FDS: usize = 3;

/// The most an order may be. Two of them and a job fit into the buffer of a socket, so sending them never waits.
pub(super) const MAX_ORDER: usize = 48 * 1024;

/// The exit code of a supervisor that somebody else started.
pub(super) const NOT_STARTED_BY_US: u8 = 96;

/// What a command may touch, and where it belongs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) level: Level,
    pub(super) policy: Policy,
    /// The files that take a process into its control groups.
    pub(super) groups: Vec<PathBuf>,
}

/// A command that is to live with an anchor. What it may touch and do, it is told over the socket that comes with it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Guest {}

/// What to run, and where.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) program: String,
    pub(super) args: Vec<String>,
    pub(super) cwd: PathBuf,
    pub(super) env: Vec<(String, String)>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Report {
    /// The job has come and is about to be started. Whoever has not heard this knows that nothing ran.
    Taken,
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

/// Sends a frame, and file descriptors with it.
pub(super) fn send(socket: impl AsFd, frame: &[u8], with: &[BorrowedFd<'_>]) -> io::Result<()> {
    let length = u32::try_from(frame.len()).map_err(io::Error::other)?;
    let whole = [&length.to_le_bytes(), frame].concat();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !with.is_empty() && !control.push(SendAncillaryMessage::ScmRights(with)) {
        return Err(io::Error::other("more file descriptors than the limit"));
    }
    // A short frame goes as one piece, so that two who send at once do not get into each other's.
    let sent = sendmsg(&socket, &[IoSlice::new(&whole)], &mut control, SendFlags::NOSIGNAL)?;
    let mut rest = &whole[sent..];
    while !rest.is_empty() {
        let sent = rustix::net::send(&socket, rest, SendFlags::NOSIGNAL)?;
        rest = &rest[sent..];
    }
    Ok(())
}

/// Receives a frame, and the file descriptors that came with it. `None` when the other side is gone.
pub(super) fn receive<T: DeserializeOwned>(socket: &UnixStream) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut length = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
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
