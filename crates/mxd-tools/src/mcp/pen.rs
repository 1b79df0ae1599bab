//! Messages to a process, one per line: what its pipe takes at once is written at once, the rest when it takes more.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::net::unix::pipe;
use tokio::sync::{Notify, watch};

use super::error::Cause;
use super::lines::explained;
use super::traffic::Traffic;
use crate::sandbox::End;

/// Bytes that wait for a process to read.
const WAITING: usize = 64 << 20;

/// The same of answers to it.
const REPLIES: usize = 64 << 10;

/// Our end of the pipe to a process. Dropped, it is the end of what the process reads.
#[derive(Debug)]
pub(super) struct Pen {
    input: pipe::Sender,
    rest: Mutex<Rest>,
    /// Raised when there is something for the one who waits for room.
    more: Arc<Notify>,
}

/// What the pipe did not take yet.
#[derive(Debug, Default)]
struct Rest {
    bytes: Vec<u8>,
    /// How much of it is written.
    written: usize,
    is_closed: bool,
}

/// Whether everything is written.
enum Progress {
    All,
    Some,
    Failed,
}

impl Pen {
    /// The pen, and somebody who writes what its pipe does not take at once, for as long as there is a pen.
    pub(super) fn new(
        input: pipe::Sender,
        exit: watch::Receiver<Option<End>>,
        traffic: Arc<Traffic>,
    ) -> (Arc<Self>, impl Future<Output = ()> + Send + 'static) {
        let more = Arc::new(Notify::new());
        let pen = Arc::new(Self { input, rest: Mutex::default(), more: Arc::clone(&more) });
        let writing = write_rest(Arc::downgrade(&pen), more, exit, traffic);
        (pen, writing)
    }

    fn rest(&self) -> MutexGuard<'_, Rest> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a message, or has it written when there is room. Messages go out in the order in which they are given.
    pub(super) fn write(&self, line: Vec<u8>) -> Result<(), Cause> {
        self.write_within(WAITING, line)
    }

    /// The same for an answer: a server that asks and does not read is not waited for.
    pub(super) fn reply(&self, line: Vec<u8>) -> Result<(), Cause> {
        self.write_within(REPLIES, line)
    }

    fn write_within(&self, limit: usize, mut line: Vec<u8>) -> Result<(), Cause> {
        line.push(b'\n');
        let mut rest = self.rest();
        // Nobody reads any more. Why, is told by the one who writes the rest, as soon as it is known.
        if rest.is_closed {
            return Ok(());
        }
        if !rest.bytes.is_empty() {
            if rest.bytes.len() - rest.written + line.len() > limit {
                return Err(Cause::Unread { limit });
            }
            rest.bytes.extend(line);
            return Ok(());
        }
        let written = match self.input.try_write(&line) {
            Ok(written) if written == line.len() => return Ok(()),
            Ok(written) => written,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(_) => {
                rest.is_closed = true;
                self.more.notify_one();
                return Ok(());
            }
        };
        *rest = Rest { bytes: line, written, is_closed: false };
        self.more.notify_one();
        Ok(())
    }

    /// Writes what the pipe takes of the rest.
    fn go_on(&self) -> Progress {
        let mut rest = self.rest();
        if rest.is_closed {
            return Progress::Failed;
        }
        match self.input.try_write(&rest.bytes[rest.written..]) {
            Ok(written) => rest.written += written,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => {
                rest.is_closed = true;
                return Progress::Failed;
            }
        }
        if rest.written < rest.bytes.len() {
            return Progress::Some;
        }
        *rest = Rest::default();
        Progress::All
    }

    async fn catch_up(&self) -> Progress {
        loop {
            match self.go_on() {
                Progress::Some if self.input.writable().await.is_ok() => {}
                Progress::Some => return Progress::Failed,
                done => return done,
            }
        }
    }
}

impl Drop for Pen {
    fn drop(&mut self) {
        self.more.notify_one();
    }
}

async fn write_rest(
    pen: Weak<Pen>,
    more: Arc<Notify>,
    mut exit: watch::Receiver<Option<End>>,
    traffic: Arc<Traffic>,
) {
    loop {
        more.notified().await;
        let Some(pen) = pen.upgrade() else { return };
        if let Progress::Failed = pen.catch_up().await {
            return traffic.end(explained(&mut exit, Cause::ClosedInput).await);
        }
    }
}
