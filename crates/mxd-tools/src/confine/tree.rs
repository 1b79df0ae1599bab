//! Walking all there is below a folder, on several threads, through descriptors and never through links.
//!
//! What is hidden, what `.gitignore` leaves out and `.git` itself are passed over.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::num::NonZero;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use rustix::fs::{AtFlags, Dir, DirEntry, FileType, Mode, OFlags, fstat, openat, statat};
use tokio_util::sync::CancellationToken;

use super::MAX_DEPTH;
use super::file::FILE;
use super::resolve::Place;
use super::rules::Rules;

/// How folders are opened to be read.
pub(super) const READ_FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The most threads one walk uses.
const MAX_THREADS: usize = 8;

/// How many files of one folder a thread takes at a time.
const BATCH: usize = 32;

/// How many jobs wait at most before whoever finds files visits them itself.
const MAX_WAITING: usize = 1_024;

/// What to walk and what to pass over.
#[derive(Clone, Copy)]
pub struct Tree<'a> {
    /// A folder.
    pub start: &'a Place,
    /// Which hidden names are looked at all the same.
    pub wanted_hidden: &'a (dyn Fn(&OsStr) -> bool + Sync),
    /// Names of folders, or their paths below the start, that are passed over.
    pub excluded: &'a [String],
    /// Ends the walk early.
    pub cancel: &'a CancellationToken,
}

impl std::fmt::Debug for Tree<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tree")
            .field("start", &self.start)
            .field("excluded", &self.excluded)
            .finish_non_exhaustive()
    }
}

/// Something a walk found.
#[derive(Debug)]
pub struct Entry<'a> {
    folder: BorrowedFd<'a>,
    name: &'a OsStr,
    /// Its path below the start.
    pub path: &'a Path,
    /// What it is.
    pub kind: EntryKind,
}

/// What a walk finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A folder, which is walked too.
    Folder,
    /// An ordinary file.
    File,
    /// A link, which is not followed.
    Link,
}

impl Entry<'_> {
    /// Opens a file. `None` when it is gone, another thing by now, or may not be read.
    pub fn open(&self) -> Option<File> {
        let fd = openat(self.folder, self.name, FILE, Mode::empty()).ok()?;
        let stat = fstat(&fd).ok()?;
        (FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile).then(|| File::from(fd))
    }
}

/// What came of a walk.
#[derive(Debug)]
pub struct Walked<S> {
    /// What each thread gathered.
    pub gathered: Vec<S>,
    /// How many folders could not be read.
    pub unreadable: u64,
    /// Whether it was told to stop.
    pub cancelled: bool,
}

impl Tree<'_> {
    /// Visits everything, in no order. Each thread gathers into a state of its own.
    pub fn walk<S: Send>(
        &self,
        new: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, &Entry<'_>) + Sync,
    ) -> Walked<S> {
        let queue = Queue::default();
        queue.put(self.first());
        let unreadable = AtomicU64::new(0);
        let worker = || {
            let mut state = new();
            while let Some(job) = queue.take() {
                let _done = Done(&queue);
                if self.cancel.is_cancelled() {
                    queue.stop();
                } else if self.perform(job, &queue, &mut |entry| visit(&mut state, entry)).is_none() {
                    unreadable.fetch_add(1, Ordering::Relaxed);
                }
            }
            state
        };
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS);
        let gathered = thread::scope(|scope| {
            // A system that gives no more threads gives time instead.
            let spawn =
                |_| thread::Builder::new().name("mxd-walk".to_owned()).spawn_scoped(scope, worker).ok();
            let others: Vec<_> = (1..threads).filter_map(spawn).collect();
            let mut gathered = vec![worker()];
            for other in others {
                // Half of the results would be worse than none.
                gathered.push(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            gathered
        });
        let cancelled = self.cancel.is_cancelled();
        Walked { gathered, unreadable: unreadable.into_inner(), cancelled }
    }

    /// The start, with the rules of the folders above it.
    fn first(&self) -> Job {
        let place = self.start;
        let mut path = PathBuf::new();
        let mut rules = None;
        let mut above: &Arc<OwnedFd> = &place.ground().fd;
        for step in place.steps() {
            rules = Rules::read(above, path.as_os_str(), rules);
            path.push(&step.name);
            above = &step.fd;
        }
        Job {
            folder: Arc::clone(above),
            path: path.into_os_string(),
            rules,
            depth: 0,
            what: Part::Folder(OsString::from(".")),
        }
    }

    /// Does one job. `None` when the folder cannot be read.
    fn perform(&self, job: Job, queue: &Queue, visit: &mut dyn FnMut(&Entry<'_>)) -> Option<()> {
        match &job.what {
            Part::Folder(name) => {
                let fd = Arc::new(openat(&job.folder, name, READ_FOLDER, Mode::empty()).ok()?);
                self.read(fd, &job, queue, visit)
            }
            Part::Files(files) => {
                for file in files {
                    self.tell(&job, file, EntryKind::File, visit);
                }
                Some(())
            }
        }
    }

    fn read(
        &self,
        fd: Arc<OwnedFd>,
        job: &Job,
        queue: &Queue,
        visit: &mut dyn FnMut(&Entry<'_>),
    ) -> Option<()> {
        let rules = Rules::read(&fd, &job.path, job.rules.clone());
        let part = |what: Part, path: OsString| Job {
            folder: Arc::clone(&fd),
            path,
            rules: rules.clone(),
            depth: job.depth + 1,
            what,
        };
        let inside = part(Part::Files(Vec::new()), job.path.clone());
        let mut files = Vec::new();
        for entry in Dir::read_from(&fd).ok()? {
            let entry = entry.ok()?;
            if self.cancel.is_cancelled() {
                break;
            }
            let Some((name, kind)) = self.admitted(&entry, &inside) else { continue };
            match kind {
                EntryKind::Folder => {
                    self.tell(&inside, &name, kind, visit);
                    if inside.depth <= MAX_DEPTH {
                        let path = joined(&job.path, &name);
                        queue.put(part(Part::Folder(name), path));
                    }
                }
                EntryKind::Link => self.tell(&inside, &name, kind, visit),
                EntryKind::File => files.push(name),
            }
            if files.len() >= BATCH {
                let batch = part(Part::Files(std::mem::take(&mut files)), job.path.clone());
                if let Some(batch) = queue.offer(batch) {
                    self.perform(batch, queue, visit);
                }
            }
        }
        for file in &files {
            self.tell(&inside, file, EntryKind::File, visit);
        }
        Some(())
    }

    /// The name and kind of what is neither hidden nor left out.
    fn admitted(&self, entry: &DirEntry, inside: &Job) -> Option<(OsString, EntryKind)> {
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        let hidden = name.as_bytes().starts_with(b".");
        if hidden && (matches!(name.as_bytes(), b"." | b".." | b".git") || !(self.wanted_hidden)(name)) {
            return None;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                let stat = statat(&inside.folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
                FileType::from_raw_mode(stat.st_mode)
            }
            known => known,
        };
        let kind = match kind {
            FileType::Directory => EntryKind::Folder,
            FileType::RegularFile => EntryKind::File,
            FileType::Symlink => EntryKind::Link,
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => return None,
        };
        if kind == EntryKind::Folder && self.is_excluded(name, inside) {
            return None;
        }
        let left_out = |rules: &Arc<Rules>| rules.leave_out(&joined(&inside.path, name), kind);
        if inside.rules.as_ref().is_some_and(left_out) {
            return None;
        }
        Some((name.to_owned(), kind))
    }

    fn is_excluded(&self, name: &OsStr, inside: &Job) -> bool {
        self.excluded.iter().any(|excluded| {
            let excluded = excluded.trim_start_matches("./").trim_end_matches('/');
            name == excluded || self.below_start(&joined(&inside.path, name)) == Path::new(excluded)
        })
    }

    fn tell(&self, job: &Job, name: &OsStr, kind: EntryKind, visit: &mut dyn FnMut(&Entry<'_>)) {
        // A batch of slow visits ends early; the queue notices by itself.
        if self.cancel.is_cancelled() {
            return;
        }
        let path = joined(&job.path, name);
        visit(&Entry { folder: job.folder.as_fd(), name, path: self.below_start(&path), kind });
    }

    fn below_start<'p>(&self, path: &'p OsStr) -> &'p Path {
        let start: usize = self.start.steps().iter().map(|step| step.name.len() + 1).sum();
        Path::new(OsStr::from_bytes(path.as_bytes().get(start..).unwrap_or_default()))
    }
}

/// Something to do, in a folder that is held open.
struct Job {
    folder: Arc<OwnedFd>,
    /// From the ground to the folder of the job: the one to be read, or the one that has the files.
    path: OsString,
    rules: Option<Arc<Rules>>,
    depth: usize,
    what: Part,
}

enum Part {
    /// Read this folder.
    Folder(OsString),
    /// Visit these files.
    Files(Vec<OsString>),
}

/// What is still to be done, and by how many it is being done.
#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    jobs: Vec<Job>,
    busy: usize,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, job: Job) {
        self.lock().jobs.push(job);
        self.changed.notify_one();
    }

    /// Puts a job, unless there are many: then it comes back.
    fn offer(&self, job: Job) -> Option<Job> {
        let mut waiting = self.lock();
        if waiting.jobs.len() >= MAX_WAITING {
            return Some(job);
        }
        waiting.jobs.push(job);
        drop(waiting);
        self.changed.notify_one();
        None
    }

    /// The next job; `None` when there will be no more.
    fn take(&self) -> Option<Job> {
        let mut waiting = self.lock();
        loop {
            if let Some(job) = waiting.jobs.pop() {
                waiting.busy += 1;
                return Some(job);
            }
            if waiting.busy == 0 {
                return None;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn stop(&self) {
        self.lock().jobs.clear();
    }
}

/// A job that is being done; the others wait for it, even if it panics.
struct Done<'a>(&'a Queue);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        let mut waiting = self.0.lock();
        waiting.busy -= 1;
        let over = waiting.busy == 0 && waiting.jobs.is_empty();
        drop(waiting);
        if over {
            self.0.changed.notify_all();
        }
    }
}

fn joined(path: &OsStr, name: &OsStr) -> OsString {
    let mut joined = OsString::with_capacity(path.len() + 1 + name.len());
    if !path.is_empty() {
        joined.push(path);
        joined.push("/");
    }
    joined.push(name);
    joined
}
