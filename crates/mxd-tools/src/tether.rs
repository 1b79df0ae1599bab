//! Whether anything still runs of a program that is no more: a lock that all its processes hold together, and that the
//! kernel lets go with the last of them.
//!
//! A program that is killed says nothing to what it has started. Supervisors notice and end their commands, and git
//! ends by itself, but that takes a moment, and whoever begins again meanwhile would find their locks, their half
//! written files and themselves in the way.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

/// What ties processes to the program that starts them. Cheap to clone; clones share the lock, also in other processes.
#[derive(Debug, Clone)]
pub struct Tether(Arc<File>);

/// What became of the processes of earlier programs with the same file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Earlier {
    /// None is left.
    Gone,
    /// Some did not end in the time they were given.
    Living,
}

impl Tether {
    /// Waits until nothing runs any more that is tied to the file, at most as long as it is said, and ties this program to
    /// it. The file is made if needed and stays empty.
    ///
    /// # Errors
    ///
    /// When the file cannot be opened or locked.
    pub fn take(path: &Path, patience: Duration) -> io::Result<(Self, Earlier)> {
        let open = || OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path);
        let (own, probe) = (open()?, open()?);
        let earlier = match flock(&probe, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                drop(probe);
                Earlier::Gone
            }
            Err(rustix::io::Errno::WOULDBLOCK) => wait_for(probe, patience)?,
            Err(error) => return Err(error.into()),
        };
        flock(&own, FlockOperation::LockShared)?;
        Ok((Self(Arc::new(own)), earlier))
    }

    /// The file as the standard input of a process, which finds nothing in it and is tied by it.
    ///
    /// # Errors
    ///
    /// When the process has no number left for another open file.
    pub fn stdin(&self) -> io::Result<Stdio> {
        Ok(Stdio::from(self.0.try_clone()?))
    }
}

impl AsFd for Tether {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The wait for a lock has no limit of its own, so it has a thread. One that waits in vain ends with this program.
fn wait_for(probe: File, patience: Duration) -> io::Result<Earlier> {
    let (told, gone) = sync_channel(1);
    thread::Builder::new().name("tether".to_owned()).spawn(move || {
        let free = flock(&probe, FlockOperation::LockExclusive).is_ok();
        drop(probe);
        // Nobody listens any more when it took too long.
        let _late = told.send(free);
    })?;
    Ok(if gone.recv_timeout(patience) == Ok(true) { Earlier::Gone } else { Earlier::Living })
}
