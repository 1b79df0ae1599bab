//! Group commit: many callers append, one write and one sync carry whatever waits, each caller hears of its own.
//!
//! A blocking caller that finds the file free writes the group itself, so a lone caller pays no hand-over between
//! threads. Whoever comes meanwhile waits in the queue and is served by the flusher thread.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use super::Shared;
use super::view::{Active, Closed};
use crate::disk::{DiskFile, publish};
use crate::error::AppendError;
use crate::limits::{GROUP_BYTES, QUEUE_BYTES, ROOM_BYTES};
use crate::line::Draft;
use crate::segment::header::{FORMAT, Header};
use crate::segment::index::LineSpan;
use crate::segment::pack::hash_of;
use crate::segment::{Form, SegmentFile};

/// The answer to one append: its number once it is durable. Await it, or [`Ticket::wait`] for it.
#[derive(Debug)]
#[must_use = "a commit is durable only when its ticket says so"]
pub struct Ticket(oneshot::Receiver<Result<u64, AppendError>>);

impl Ticket {
    /// Blocks until the commit is durable. Asynchronous code lets its neighbours go elsewhere first.
    pub fn wait(mut self) -> Result<u64, AppendError> {
        let mut waker = None;
        loop {
            // Looking comes before asking to be woken: a task that has had its share of time is told to wait even for
            // what is there.
            match self.0.try_recv() {
                Ok(answer) => return answer,
                Err(TryRecvError::Closed) => return Err(AppendError::Closed),
                Err(TryRecvError::Empty) => {}
            }
            let waker = waker.get_or_insert_with(|| Waker::from(Arc::new(Unpark(std::thread::current()))));
            if let Poll::Ready(answer) = Pin::new(&mut self).poll(&mut Context::from_waker(waker)) {
                return answer;
            }
            std::thread::park();
        }
    }
}

/// Wakes a thread that waits for an answer.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl Future for Ticket {
    type Output = Result<u64, AppendError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|answer| answer.unwrap_or(Err(AppendError::Closed)))
    }
}

/// How often the flusher lets others run before it writes less than last time.
const PATIENCE: usize = 32;

/// What waits to be written.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    commits: VecDeque<Member>,
    bytes: usize,
    closed: bool,
}

/// A commit and whoever waits for it.
type Member = (Draft, oneshot::Sender<Result<u64, AppendError>>);

impl Queue {
    /// Puts these commits next to each other into the queue.
    pub(crate) fn push(&self, drafts: impl IntoIterator<Item = Draft>) -> Result<Vec<Ticket>, AppendError> {
        let drafts: Vec<Draft> = drafts.into_iter().collect();
        drafts.iter().try_for_each(Draft::check)?;
        let bytes: usize = drafts.iter().map(Draft::weight).sum();
        let mut waiting = self.lock();
        if waiting.closed {
            return Err(AppendError::Closed);
        }
        if waiting.bytes > 0 && waiting.bytes + bytes > QUEUE_BYTES {
            return Err(AppendError::Overloaded { waiting: waiting.bytes, limit: QUEUE_BYTES });
        }
        waiting.bytes += bytes;
        Ok(drafts
            .into_iter()
            .map(|draft| {
                let (answer, ticket) = oneshot::channel();
                waiting.commits.push_back((draft, answer));
                Ticket(ticket)
            })
            .collect())
    }

    /// Takes as much as one group may carry.
    fn take(&self) -> Vec<Member> {
        let mut waiting = self.lock();
        let (mut group, mut bytes) = (Vec::new(), 0);
        while let Some((draft, _)) = waiting.commits.front() {
            let weight = draft.weight();
            if bytes > 0 && bytes + weight > GROUP_BYTES {
                break;
            }
            bytes += weight;
            group.extend(waiting.commits.pop_front());
        }
        waiting.bytes -= bytes.min(waiting.bytes);
        group
    }

    fn is_empty(&self) -> bool {
        self.lock().commits.is_empty()
    }

    /// Wakes the flusher thread.
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }

    /// Lets the flusher thread end once nothing waits any more.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.wake.notify_one();
    }

    /// Waits until there is something to write; false when the queue is closed and empty.
    fn await_work(&self) -> bool {
        let waiting = self.lock();
        let idle = |waiting: &mut Waiting| waiting.commits.is_empty() && !waiting.closed;
        let waiting = self.wake.wait_while(waiting, idle).unwrap_or_else(PoisonError::into_inner);
        !waiting.commits.is_empty()
    }

    /// Gives callers that were just answered the moment they need to send their next commit, so that it goes with
    /// this group and not with the one after. Costs a few switches of threads, far less than a sync.
    fn gather(&self, answered: usize) {
        for _ in 0..PATIENCE {
            if answered < 2 || self.lock().commits.len() >= answered {
                return;
            }
            std::thread::yield_now();
        }
    }

    /// A panic elsewhere cannot leave the queue half changed.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of the log: the open segment and how far it is durable.
#[derive(Debug)]
pub(crate) struct Tail {
    pub(crate) file: Box<dyn DiskFile>,
    pub(crate) number: u32,
    /// Everything before this is durable and sound.
    pub(crate) len: u64,
    /// From `len` up to here there are blank lines.
    pub(crate) room: u64,
    /// The number the next commit gets.
    pub(crate) next: u64,
    /// Whether a failed write may have left bytes after `len`.
    pub(crate) dirty: bool,
    /// Whether the next segment may have been begun already, or this one is of an older version: then nothing more
    /// is written to it.
    pub(crate) must_rotate: bool,
    pub(crate) buffer: Vec<u8>,
}

/// Blank lines: to anybody who reads the file they are nothing.
static BLANK: [u8; ROOM_BYTES] = [b'\n'; ROOM_BYTES];

impl Tail {
    /// Makes room behind a group that was written and did not fit into the room there is, up to where the segment is full.
    /// What is written over blank lines does not change the length of the file, and making a new length durable costs the
    /// disk a write more.
    fn make_room(&mut self, group: u64, full: u64) {
        let end = self.len + group;
        if end <= self.room {
            return;
        }
        let room = full.saturating_sub(end).min(ROOM_BYTES as u64);
        let blank = usize::try_from(room).map_or(&BLANK[..], |room| &BLANK[..room]);
        let made = self.file.write_at(end, blank).is_ok();
        // A full disk has to have back what was taken of it: commits are to be written, room or not.
        let given_back = !made && self.file.set_len(end).is_ok();
        self.room = if given_back { end } else { end + room };
    }

    /// Takes the room away: whoever reads the file from now on finds commits, and nothing behind them.
    pub(crate) fn close(&mut self) -> io::Result<()> {
        if self.room > self.len {
            self.file.set_len(self.len)?;
            self.room = self.len;
        }
        Ok(())
    }

    /// Takes away what a failed write may have left behind.
    fn clean(&mut self) -> io::Result<()> {
        if self.dirty {
            self.file.set_len(self.len)?;
            self.room = self.len;
            self.file.sync()?;
            self.dirty = false;
        }
        Ok(())
    }
}

impl Shared {
    /// Writes what waits if the file is free, and leaves the rest to the flusher.
    pub(crate) fn flush_or_leave(&self) {
        match self.tail.try_lock() {
            Ok(mut tail) => self.flush(&mut tail),
            Err(TryLockError::Poisoned(poisoned)) => self.flush(&mut poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => return self.call_flusher(),
        };
        if !self.queue.is_empty() {
            self.call_flusher();
        }
    }

    /// The flusher thread: serves the queue until it is closed.
    pub(crate) fn serve(&self) {
        let mut answered = 0;
        while self.queue.await_work() {
            self.queue.gather(answered);
            answered = self.flush(&mut self.lock_tail());
        }
    }

    pub(crate) fn lock_tail(&self) -> MutexGuard<'_, Tail> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes one group and answers its members; tells how many there were.
    pub(crate) fn flush(&self, tail: &mut Tail) -> usize {
        let group = self.queue.take();
        let size = group.len();
        if size == 0 {
            return 0;
        }
        let written = self.begin_group(tail).and_then(|()| self.write(tail, &group));
        match written {
            Ok(first) => {
                for (seq, (_, answer)) in (first..).zip(group) {
                    // Nobody listens any more: the commit is durable all the same.
                    let _ = answer.send(Ok(seq));
                }
            }
            Err(error) => {
                let error = AppendError::io(error);
                for (_, answer) in group {
                    let _ = answer.send(Err(error.clone()));
                }
            }
        }
        size
    }

    /// Clears the traces of a failed write, and begins a new segment when this one is full.
    fn begin_group(&self, tail: &mut Tail) -> io::Result<()> {
        let full = tail.len >= self.options.segment_bytes;
        if full || tail.must_rotate { self.rotate(tail) } else { tail.clean() }
    }

    /// Writes and syncs the group, then shows it to readers; gives the number of its first commit.
    fn write(&self, tail: &mut Tail, group: &[Member]) -> io::Result<u64> {
        let first = tail.next;
        tail.buffer.clear();
        let mut spans = Vec::with_capacity(group.len());
        for (seq, (draft, _)) in (first..).zip(group) {
            let start = tail.buffer.len();
            draft.write(seq, first - 1, &mut tail.buffer);
            let bytes = (tail.buffer.len() - start) as u64;
            spans.push(LineSpan { start: tail.len + start as u64, bytes, joined: false });
        }
        tail.dirty = true;
        let full = self.options.segment_bytes;
        let mut written = tail.file.write_at(tail.len, &tail.buffer);
        if written.is_ok() {
            tail.make_room(tail.buffer.len() as u64, full);
            written = tail.file.sync();
        }
        if let Err(error) = written {
            // If this fails too, the next append tries it again before it writes.
            let _ = tail.clean();
            return Err(error);
        }
        tail.dirty = false;
        tail.len += tail.buffer.len() as u64;
        tail.next += group.len() as u64;
        let last = tail.next - 1;
        {
            let mut view = self.view_mut();
            for (seq, ((draft, _), span)) in (first..).zip(group.iter().zip(spans)) {
                view.active.index.add(seq, span, draft.tasks().iter().map(String::as_str));
                view.recent.push(draft.commit(seq));
            }
            let begin = view.active.seqs.map_or(first, |(begin, _)| begin);
            view.active.seqs = Some((begin, last));
        }
        self.head.send_replace(last);
        Ok(first)
    }

    /// Closes the open segment and begins the next, whose first line carries the hash of this one.
    pub(crate) fn rotate(&self, tail: &mut Tail) -> io::Result<()> {
        tail.clean()?;
        tail.close()?;
        tail.file.sync()?;
        let log = self.layout.log();
        let (old, new) = (SegmentFile::plain(tail.number), SegmentFile::plain(tail.number + 1));
        let header = Header {
            format: FORMAT,
            vocabulary: self.options.vocabulary,
            segment: new.number,
            first: tail.next,
            previous: Some(hash_of(&*self.disk, &old.path(&log), Form::Plain)?),
        };
        let line = header.line();
        tail.must_rotate = true;
        publish(&*self.disk, &self.layout.tmp(), &new.path(&log), &line)?;
        let file = self.disk.open_for_writing(&new.path(&log))?;
        {
            let mut view = self.view_mut();
            let done = std::mem::replace(&mut view.active, Active::new(new));
            let closed =
                Closed::new(old, tail.len, done.seqs).with_damage(done.damage).with_index(done.index);
            view.closed.insert(old.number, closed.into());
        }
        let len = line.len() as u64;
        (tail.file, tail.number, tail.len, tail.room) = (file, new.number, len, len);
        tail.must_rotate = false;
        self.call_upkeep();
        Ok(())
    }
}
