//! What runs, what ended, and whom to tell: the bookkeeping behind [`Processes`](super::Processes).
//!
//! Everything here happens under one lock for a few lines, so that a command that ends in the moment it is
//! moved to the background is told about exactly once.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::cwd::Cwd;
use super::end::Ending;
use super::limits::{MAX_BACKGROUND, MAX_FINISHED, MAX_PROCESSES};
use super::live::CallId;
use super::output::{Output, Window};
use super::start::StartError;

/// A background command has ended. Its owner is told exactly once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// Its name, such as `bg-3`.
    pub id: String,
    /// The call that started it.
    pub call: CallId,
    /// What it was.
    pub command: String,
    /// How long it ran.
    pub lasted: Duration,
    /// How it ended.
    pub ending: Ending,
    /// Where its output is.
    pub output: PathBuf,
    /// Bytes of its output.
    pub output_bytes: u64,
    /// The last lines of its output.
    pub tail: String,
}

/// A background command, for whoever asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Its name.
    pub id: String,
    /// The call that started it.
    pub call: CallId,
    /// What it is.
    pub command: String,
    /// What it does.
    pub state: State,
    /// Where its output is.
    pub output: PathBuf,
    /// Bytes of its output so far.
    pub output_bytes: u64,
    /// The last lines of its output so far.
    pub tail: String,
}

/// What a command does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It runs.
    Running {
        /// For so many seconds.
        seconds: u64,
    },
    /// It ended.
    Ended(Ending),
}

/// Whether somebody waits for the end of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Foreground,
    Background,
}

/// What is known about a command from its start on.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) call: CallId,
    pub(super) command: String,
    pub(super) place: Place,
    pub(super) since: Instant,
    pub(super) output: PathBuf,
    pub(super) window: Window,
    /// Ends it.
    pub(super) kill: CancellationToken,
    /// Tells the one who waits that it is a background command now.
    pub(super) moved: CancellationToken,
    pub(super) ended: watch::Receiver<Option<Arc<Ended>>>,
}

/// What is known about a command from its end on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) ending: Ending,
    pub(crate) output: Output,
}

#[derive(Debug)]
struct Finished {
    number: u64,
    call: CallId,
    command: String,
    ended: Arc<Ended>,
}

#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) last: u64,
    pub(super) cwd: Cwd,
    running: BTreeMap<u64, Running>,
    finished: VecDeque<Finished>,
    completions: VecDeque<Completion>,
}

/// What a command is called.
pub(super) fn name(number: u64) -> String {
    format!("bg-{number}")
}

/// The file of its output.
pub(super) fn file_name(number: u64) -> String {
    format!("{}.txt", name(number))
}

impl Table {
    /// A table whose first command comes after this number.
    pub(super) fn after(last: u64) -> Self {
        Self { last, ..Self::default() }
    }

    /// Takes in a command that is about to start.
    pub(super) fn insert(&mut self, number: u64, running: Running) {
        self.running.insert(number, running);
    }

    /// Whether another command may start.
    pub(super) fn room(&self, place: Place) -> Result<(), StartError> {
        let of = |place| self.running.values().filter(|running| running.place == place).count();
        let background = of(Place::Background) + self.completions.len();
        if background + of(Place::Foreground) >= MAX_PROCESSES {
            return Err(StartError::TooMany { limit: MAX_PROCESSES, what: "commands" });
        }
        if place == Place::Background && background >= MAX_BACKGROUND {
            return Err(StartError::TooMany { limit: MAX_BACKGROUND, what: "background commands" });
        }
        Ok(())
    }

    /// Forgets a command that did not start.
    pub(super) fn withdraw(&mut self, number: u64) {
        self.running.remove(&number);
    }

    /// Takes in the end of a command, and says where it was.
    pub(super) fn end(&mut self, number: u64, ended: &Arc<Ended>) -> Option<Place> {
        let running = self.running.remove(&number)?;
        if running.place == Place::Background {
            self.completions.push_back(Completion {
                id: name(number),
                call: running.call.clone(),
                command: running.command.clone(),
                lasted: running.since.elapsed(),
                ending: ended.ending.clone(),
                output: ended.output.path.clone(),
                output_bytes: ended.output.total_bytes,
                tail: ended.output.tail.clone(),
            });
            let (call, command) = (running.call, running.command);
            self.finished.push_back(Finished { number, call, command, ended: Arc::clone(ended) });
            if self.finished.len() > MAX_FINISHED {
                self.finished.pop_front();
            }
        }
        Some(running.place)
    }

    /// Moves a command that runs to the background; false when it has ended.
    pub(super) fn move_away(&mut self, number: u64) -> bool {
        let Some(running) = self.running.get_mut(&number) else { return false };
        running.place = Place::Background;
        running.moved.cancel();
        true
    }

    /// The foreground command of a call.
    pub(super) fn of_call(&self, call: &CallId) -> Option<u64> {
        let mut found = self.running.iter().filter(|(_, running)| running.place == Place::Foreground);
        found.find(|(_, running)| running.call == *call).map(|(number, _)| *number)
    }

    pub(super) fn take_completion(&mut self) -> Option<Completion> {
        self.completions.pop_front()
    }

    /// Ends a background command; false when none of this name runs.
    pub(super) fn kill(&self, id: &str) -> bool {
        let found = self.in_background(id);
        found.is_some_and(|running| {
            running.kill.cancel();
            true
        })
    }

    /// What tells when a background command ends; `None` when none of this name runs.
    pub(super) fn end_of(&self, id: &str) -> Option<watch::Receiver<Option<Arc<Ended>>>> {
        self.in_background(id).map(|running| running.ended.clone())
    }

    fn in_background(&self, id: &str) -> Option<&Running> {
        let mut found = self.running.iter().filter(|(_, running)| running.place == Place::Background);
        found.find(|(number, _)| name(**number) == id).map(|(_, running)| running)
    }

    /// The background commands, those that ended first.
    pub(super) fn snapshots(&self) -> Vec<Snapshot> {
        let finished = self.finished.iter().map(|finished| Snapshot {
            id: name(finished.number),
            call: finished.call.clone(),
            command: finished.command.clone(),
            state: State::Ended(finished.ended.ending.clone()),
            output: finished.ended.output.path.clone(),
            output_bytes: finished.ended.output.total_bytes,
            tail: finished.ended.output.tail.clone(),
        });
        let background = self.running.iter().filter(|(_, running)| running.place == Place::Background);
        let running = background.map(|(number, running)| Snapshot {
            id: name(*number),
            call: running.call.clone(),
            command: running.command.clone(),
            state: State::Running { seconds: running.since.elapsed().as_secs() },
            output: running.output.clone(),
            output_bytes: running.window.total(),
            tail: running.window.tail(),
        });
        finished.chain(running).collect()
    }
}
