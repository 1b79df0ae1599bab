//! Messages of a process: one per line.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::unix::pipe;
use tokio::sync::watch;

use super::error::Cause;
use super::traffic::Traffic;
use crate::sandbox::End;

/// Bytes that are read at once.
const CHUNK: usize = 64 << 10;
/// How long the end of a process may take to be told after it has closed a pipe, and the other way round.
const MOMENT: Duration = Duration::from_secs(1);

/// The lines a process writes.
#[derive(Debug)]
pub(super) struct Lines {
    output: BufReader<pipe::Receiver>,
    /// The line as far as it has come. It outlives the reading of it, which may be interrupted at any time.
    line: Vec<u8>,
    exit: watch::Receiver<Option<End>>,
    is_gone: bool,
}

impl Lines {
    pub(super) fn new(output: pipe::Receiver, exit: watch::Receiver<Option<End>>) -> Self {
        Self { output: BufReader::with_capacity(CHUNK, output), line: Vec::new(), exit, is_gone: false }
    }

    /// The next line that is not empty; nothing when there is none any more, and then the traffic knows why.
    pub(super) async fn next(&mut self, traffic: &Traffic) -> Option<Vec<u8>> {
        loop {
            let available = tokio::select! {
                biased;
                available = self.output.fill_buf() => available.unwrap_or_default(),
                _ended = self.exit.wait_for(Option::is_some), if !self.is_gone => {
                    self.is_gone = true;
                    continue;
                }
                // Its output may stay open in what it has started.
                () = tokio::time::sleep(MOMENT), if self.is_gone => &[],
            };
            if available.is_empty() {
                traffic.end(self.after_the_end(traffic).await);
                return None;
            }
            let end = memchr::memchr(b'\n', available);
            let taken = end.unwrap_or(available.len());
            if self.line.len() + taken > traffic.limits.message_bytes {
                traffic.end(Cause::MessageTooLong { limit: traffic.limits.message_bytes });
                return None;
            }
            self.line.extend_from_slice(&available[..taken]);
            self.output.consume(taken + usize::from(end.is_some()));
            if end.is_some() {
                let line = std::mem::take(&mut self.line);
                if !line.trim_ascii().is_empty() {
                    return Some(line);
                }
            }
        }
    }

    /// What was cut off by the end of the process is worth a look in the error.
    fn drain(&mut self, traffic: &Traffic) {
        if !self.line.trim_ascii().is_empty() {
            traffic.odd(&std::mem::take(&mut self.line));
        }
    }

    /// Output ends a moment before the process whose end explains it.
    async fn after_the_end(&mut self, traffic: &Traffic) -> Cause {
        self.drain(traffic);
        explained(&mut self.exit, Cause::ClosedOutput).await
    }
}

/// The end of a process, when it comes in a moment; otherwise what it seems to have done.
pub(super) async fn explained(exit: &mut watch::Receiver<Option<End>>, otherwise: Cause) -> Cause {
    let ended = tokio::time::timeout(MOMENT, exit.wait_for(Option::is_some)).await;
    ended.ok().and_then(Result::ok).and_then(|end| *end).map_or(otherwise, Cause::from)
}

impl From<End> for Cause {
    fn from(end: End) -> Self {
        match end {
            End::Code(code) => Self::Exited(code),
            End::Signal(signal) => Self::Killed(signal),
        }
    }
}
