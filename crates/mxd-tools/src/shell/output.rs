//! What a command writes: all of it into a file, its ends in memory, each piece to whoever watches.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::AsyncWriteExt as _;

use super::limits::{
    FILE_HEAD_BYTES, FILE_TAIL_BYTES, NOTICE_TAIL_BYTES, PREVIEW_HEAD_BYTES, PREVIEW_TAIL_BYTES,
};
use super::live::Feed;
use super::text::{self, plain};
use crate::kept::Kept;
use crate::secrets::{Redactor, Secrets};

/// Bytes from the beginning that are in memory when output is so long that its end is not all of it. Escape
/// sequences can make what is shown a small part.
const MEMORY_HEAD_BYTES: usize = 64 << 10;

/// The two ends of what came so far, for whoever asks while the command runs.
#[derive(Debug, Clone)]
pub(super) struct Window {
    ends: Arc<Mutex<Ends>>,
    secrets: Secrets,
}

#[derive(Debug, Default)]
struct Ends {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Window {
    fn new(secrets: Secrets) -> Self {
        Self { ends: Arc::default(), secrets }
    }

    fn ends(&self) -> MutexGuard<'_, Ends> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last lines so far.
    pub(super) fn tail(&self) -> String {
        let last = self.ends().last(NOTICE_TAIL_BYTES * 4);
        text::tail(&self.readable(&last), NOTICE_TAIL_BYTES).to_owned()
    }

    /// As a model reads it. Without its escape sequences output can show a secret that was cut apart by them.
    fn readable(&self, bytes: &[u8]) -> String {
        self.secrets.redact(&plain(bytes))
    }

    /// How many bytes came so far.
    pub(super) fn total(&self) -> u64 {
        self.ends().total
    }

    /// What to show of it.
    pub(super) fn shown(&self) -> Shown {
        let (head, tail, total) = {
            let ends = self.ends();
            (ends.head.clone(), ends.last(FILE_TAIL_BYTES), ends.total)
        };
        let end = self.readable(&tail);
        if total == tail.len() as u64 {
            return match text::preview(&end) {
                None => Shown::Whole(end),
                Some(ends) => Shown::Ends { head: ends.head.to_owned(), tail: ends.tail.to_owned() },
            };
        }
        Shown::Ends {
            head: text::head(&self.readable(&head), PREVIEW_HEAD_BYTES).to_owned(),
            tail: text::tail(&end, PREVIEW_TAIL_BYTES).to_owned(),
        }
    }
}

impl Ends {
    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = MEMORY_HEAD_BYTES - self.head.len();
        self.head.extend(&bytes[..bytes.len().min(room)]);
        let bytes = &bytes[bytes.len().saturating_sub(FILE_TAIL_BYTES)..];
        let excess = (self.tail.len() + bytes.len()).saturating_sub(FILE_TAIL_BYTES);
        self.tail.drain(..excess);
        self.tail.extend(bytes);
    }

    fn last(&self, bytes: usize) -> Vec<u8> {
        self.tail.range(self.tail.len().saturating_sub(bytes)..).copied().collect()
    }
}

/// Output as a model reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shown {
    /// All of it.
    Whole(String),
    /// Where it begins and where it ends.
    Ends { head: String, tail: String },
}

/// What became of the output of a command that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) shown: Shown,
    /// The last lines.
    pub(crate) tail: String,
    /// Where all of it is.
    pub(crate) path: PathBuf,
    pub(crate) total_bytes: u64,
    /// Bytes in the middle that no file holds.
    pub(crate) dropped_bytes: u64,
    /// Bytes of the file.
    pub(crate) file_bytes: u64,
    /// Why the file does not hold what it should.
    pub(crate) problem: Option<String>,
}

impl Output {
    /// Of a command that nobody knows the end of.
    pub(super) fn of(window: &Window, path: PathBuf) -> Self {
        Self {
            shown: window.shown(),
            tail: window.tail(),
            path,
            total_bytes: window.total(),
            dropped_bytes: 0,
            file_bytes: 0,
            problem: None,
        }
    }
}

/// Where the output of a command goes.
#[derive(Debug)]
pub(super) struct Sink {
    path: PathBuf,
    file: tokio::fs::File,
    file_bytes: u64,
    problem: Option<String>,
    redactor: Redactor,
    feed: Feed,
    window: Window,
}

impl Sink {
    /// Into a new file of this name.
    pub(super) fn create(kept: &Kept, name: &str, secrets: &Secrets, feed: Feed) -> std::io::Result<Self> {
        let file = tokio::fs::File::from_std(kept.create(name)?);
        Ok(Self {
            path: kept.path().join(name),
            file,
            file_bytes: 0,
            problem: None,
            redactor: secrets.redactor(),
            feed,
            window: Window::new(secrets.clone()),
        })
    }

    pub(super) fn window(&self) -> Window {
        self.window.clone()
    }

    pub(super) async fn push(&mut self, bytes: &[u8]) {
        let clean = self.redactor.push(bytes);
        self.spread(&clean).await;
    }

    /// The end: what was held back goes out, and the file gets the end of output that was too long for it.
    pub(super) async fn finish(mut self) -> Output {
        let rest = self.redactor.finish();
        self.spread(&rest).await;
        self.feed.finish();
        let (total_bytes, tail) = {
            let ends = self.window.ends();
            let beyond = ends.total.saturating_sub(FILE_HEAD_BYTES);
            (ends.total, ends.last(usize::try_from(beyond).unwrap_or(usize::MAX)))
        };
        let dropped_bytes = total_bytes.saturating_sub(FILE_HEAD_BYTES) - tail.len() as u64;
        if dropped_bytes > 0 {
            self.write(format!("\n[… {dropped_bytes} bytes were dropped here …]\n").as_bytes()).await;
        }
        self.write(&tail).await;
        if let Err(error) = self.file.flush().await {
            self.problem.get_or_insert_with(|| error.to_string());
        }
        let Self { file_bytes, problem, .. } = self;
        Output { dropped_bytes, file_bytes, problem, ..Output::of(&self.window, self.path) }
    }

    async fn spread(&mut self, clean: &[u8]) {
        if clean.is_empty() {
            return;
        }
        self.feed.push(clean);
        let before = self.window.total();
        self.window.ends().push(clean);
        let room = usize::try_from(FILE_HEAD_BYTES.saturating_sub(before)).unwrap_or(usize::MAX);
        self.write(&clean[..clean.len().min(room)]).await;
    }

    /// A full disk is no reason to stop the command; the result says that the file is not whole.
    async fn write(&mut self, bytes: &[u8]) {
        if self.problem.is_some() || bytes.is_empty() {
            return;
        }
        match self.file.write_all(bytes).await {
            Ok(()) => self.file_bytes += bytes.len() as u64,
            Err(error) => self.problem = Some(error.to_string()),
        }
    }
}
