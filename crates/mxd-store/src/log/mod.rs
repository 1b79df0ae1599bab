//! The log: opening, appending, reading, and what belongs to it.

mod boot;
mod catalog;
mod export;
mod ledger;
mod prune;
mod read;
mod recent;
mod recover;
mod report;
mod scan;
mod snapshot;
mod threads;
mod upkeep;
mod verify;
mod view;
mod writer;

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tokio::sync::watch;

pub use export::export;
pub use prune::{Prune, PruneError, Pruned};
pub use report::{Damage, Report, Torn};
pub use verify::{Problem, Proof, verify};
pub use writer::Ticket;

use crate::blobs::Blobs;
use crate::disk::{Disk, LockGuard, OsDisk};
use crate::error::{AppendError, OpenError};
use crate::layout::Layout;
use crate::limits::SEGMENT_BYTES;
use crate::line::{Draft, Line};
use snapshot::Snapshot;
use threads::Threads;
use view::View;
use writer::{Queue, Tail};

/// How a log is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// The newest major version of the events that the owner understands.
    pub vocabulary: u32,
    /// When a segment is full.
    pub segment_bytes: u64,
    /// How many threads read segments while opening.
    pub threads: usize,
    /// Who packs closed segments.
    pub upkeep: Upkeep,
}

impl Default for Options {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(2, |count| count.get().min(8));
        Self { vocabulary: 1, segment_bytes: SEGMENT_BYTES, threads, upkeep: Upkeep::Background }
    }
}

/// Who packs closed segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upkeep {
    /// A thread of the log, whenever a segment is closed.
    Background,
    /// The owner, by calling [`Log::upkeep`].
    Manual,
}

/// The owner of a log, who folds its commits while it is opened.
pub trait Replay {
    /// Takes a state that was given to [`Log::save_snapshot`]; false if it is of no use any more, and then every
    /// commit is replayed.
    fn restore(&mut self, state: &[u8]) -> bool;

    /// Takes the next commit.
    fn commit(&mut self, line: &Line<'_>);

    /// Tells from its events whether a commit has to be passed on at all. Asked on the threads that read, so that
    /// what the owner does not need costs it nothing.
    fn filter(&self) -> fn(events: &str) -> bool {
        |_| true
    }
}

/// An owner that keeps nothing.
impl Replay for () {
    fn restore(&mut self, _state: &[u8]) -> bool {
        true
    }

    fn commit(&mut self, _line: &Line<'_>) {}

    fn filter(&self) -> fn(events: &str) -> bool {
        |_| false
    }
}

/// A commit that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its number.
    pub seq: u64,
    /// When it was decided, in milliseconds since the epoch.
    pub at: u64,
    /// Its events as a JSON array; empty where they were pruned.
    pub events: String,
}

/// An open log. It may be shared between threads; the last one to drop it closes it.
#[derive(Debug)]
pub struct Log {
    shared: Arc<Shared>,
    report: Report,
    _lock: LockGuard,
}

/// What the log's threads have in common.
#[derive(Debug)]
pub(crate) struct Shared {
    disk: Arc<dyn Disk>,
    layout: Layout,
    options: Options,
    queue: Queue,
    tail: Mutex<Tail>,
    view: RwLock<View>,
    head: watch::Sender<u64>,
    blobs: Blobs,
    /// Whoever holds this may make new files for closed segments.
    rewriting: Mutex<()>,
    /// Held while a new file takes its place in the folder and in the view, so that nobody sees only one of them.
    swap: RwLock<()>,
    threads: Threads,
}

impl Log {
    /// Opens the log in `dir`, which is made if it does not exist, and replays it to its owner.
    pub fn open(dir: &Path, options: Options, replay: &mut dyn Replay) -> Result<Self, OpenError> {
        Self::open_on(Arc::new(OsDisk), dir, options, replay)
    }

    /// Opens a log on the given disk.
    pub fn open_on(
        disk: Arc<dyn Disk>,
        dir: &Path,
        options: Options,
        replay: &mut dyn Replay,
    ) -> Result<Self, OpenError> {
        let layout = Layout::new(dir);
        let booted = boot::boot(&*disk, &layout, &options, replay)?;
        let active = booted.view.active.file;
        let path = active.path(&layout.log());
        let file = disk.open_for_writing(&path).map_err(|error| OpenError::io(&path, error))?;
        let (len, next) = (booted.len, booted.next);
        let must_rotate = booted.outdated;
        let (number, dirty, buffer) = (active.number, false, Vec::new());
        let tail = Tail { file, number, len, room: len, next, dirty, must_rotate, buffer };
        let shared = Arc::new_cyclic(|shared| Shared {
            blobs: Blobs::new(Arc::clone(&disk), layout.clone()),
            queue: Queue::default(),
            tail: Mutex::new(tail),
            head: watch::Sender::new(booted.view.head()),
            view: RwLock::new(booted.view),
            rewriting: Mutex::new(()),
            swap: RwLock::new(()),
            threads: Threads::of(shared.clone()),
            disk,
            layout,
            options,
        });
        shared.finish_sweep().map_err(|error| OpenError::io(&shared.layout.tmp(), error))?;
        if shared.view().has_plain() {
            shared.call_upkeep();
        }
        Ok(Self { shared, report: booted.report, _lock: booted.lock })
    }

    /// In what state the log was found.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Appends one commit and blocks until it is durable; gives its number. Asynchronous code lets its
    /// neighbours go elsewhere first.
    pub fn append(&self, draft: Draft) -> Result<u64, AppendError> {
        let mut answers = self.append_all([draft])?;
        answers.pop().unwrap_or(Err(AppendError::Closed))
    }

    /// Appends commits next to each other, if possible with one write, and blocks until each is answered.
    pub fn append_all(
        &self,
        drafts: impl IntoIterator<Item = Draft>,
    ) -> Result<Vec<Result<u64, AppendError>>, AppendError> {
        let tickets = self.shared.queue.push(drafts)?;
        self.shared.flush_or_leave();
        Ok(tickets.into_iter().map(Ticket::wait).collect())
    }

    /// Appends one commit without blocking; the ticket tells when it is durable.
    pub fn submit(&self, draft: Draft) -> Result<Ticket, AppendError> {
        self.submit_all([draft])?.pop().ok_or(AppendError::Closed)
    }

    /// Appends commits next to each other, if possible with one write, without blocking.
    pub fn submit_all(&self, drafts: impl IntoIterator<Item = Draft>) -> Result<Vec<Ticket>, AppendError> {
        let tickets = self.shared.queue.push(drafts)?;
        if !tickets.is_empty() {
            self.shared.call_flusher();
        }
        Ok(tickets)
    }

    /// The number of the last durable commit, as a value to watch.
    pub fn head(&self) -> watch::Receiver<u64> {
        self.shared.head.subscribe()
    }

    /// The blobs that belong to this log.
    pub fn blobs(&self) -> &Blobs {
        &self.shared.blobs
    }

    /// Keeps the owner's folded state as of commit `seq`, so that the next boot starts from there.
    pub fn save_snapshot(&self, seq: u64, state: Vec<u8>) -> io::Result<()> {
        let head = *self.shared.head.borrow();
        if seq > head {
            let reason = format!("a snapshot of commit {seq}, but the log ends with {head}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        let Shared { disk, layout, options, .. } = &*self.shared;
        snapshot::save(&**disk, layout, options.vocabulary, &Snapshot { seq, state })
    }

    /// Packs closed segments and writes the catalog, now.
    pub fn upkeep(&self) -> io::Result<()> {
        self.shared.upkeep()
    }

    /// What last went wrong with packing in the background, if anything. The log itself is not concerned.
    pub fn upkeep_trouble(&self) -> Option<String> {
        self.shared.threads.trouble()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.shared.queue.close();
        self.shared.threads.end();
        // The next one to open it would do it otherwise.
        let _ = self.shared.lock_tail().close();
    }
}

impl Shared {
    fn view(&self) -> RwLockReadGuard<'_, View> {
        self.view.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn view_mut(&self) -> RwLockWriteGuard<'_, View> {
        self.view.write().unwrap_or_else(PoisonError::into_inner)
    }
}
