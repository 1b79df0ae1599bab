//! [`Processes`]: the handle through which the commands of an agent are looked after.

use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::fs::AtFlags;
use tokio::sync::{Notify, watch};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::cwd;
use super::live::CallId;
use super::output::Shown;
use super::table::{Completion, Ended, Place, Snapshot, Table, file_name, name};
use super::waiting::{Awaited, Waiting};
use crate::kept::{Kept, create_in, own_folder};
use crate::sandbox::Policy;

/// The commands of one agent. Cheap to clone; with the last handle everything ends.
#[derive(Debug, Clone)]
pub struct Processes {
    pub(super) shared: Arc<Shared>,
    _last: Arc<DropGuard>,
}

#[derive(Debug)]
pub(super) struct Shared {
    table: Mutex<Table>,
    completed: Notify,
    pub(super) closing: CancellationToken,
    pub(super) tasks: TaskTracker,
    waiting: Waiting,
    pub(super) kept: Kept,
    /// Where commands say where they ended. They can write there, so nothing there is trusted.
    pub(super) reports: PathBuf,
    reports_descriptor: OwnedFd,
    /// A folder they can look into, with what bash runs first.
    pub(super) startup: PathBuf,
}

impl Processes {
    /// For an agent with this scratch.
    ///
    /// # Errors
    ///
    /// When the folders in the scratch cannot be made.
    pub fn open(scratch: &Path, kept: Kept) -> io::Result<Self> {
        let (startup, descriptor) = own_folder(scratch, "shell")?;
        let _not_there = rustix::fs::unlinkat(&descriptor, cwd::STARTUP_FILE, AtFlags::empty());
        create_in(&descriptor, cwd::STARTUP_FILE)?.write_all(cwd::STARTUP.as_bytes())?;
        let (reports, reports_descriptor) = own_folder(scratch, "cwd")?;
        // Names stay unique when the agent comes back after a restart.
        let number = |file: &String| file.strip_prefix("bg-")?.strip_suffix(".txt")?.parse().ok();
        let last = kept.names().iter().filter_map(number).max().unwrap_or(0);
        let closing = CancellationToken::new();
        let shared = Shared {
            table: Mutex::new(Table::after(last)),
            completed: Notify::new(),
            closing: closing.clone(),
            tasks: TaskTracker::new(),
            waiting: Waiting::default(),
            kept,
            reports,
            reports_descriptor,
            startup,
        };
        Ok(Self { shared: Arc::new(shared), _last: Arc::new(closing.drop_guard()) })
    }

    /// Adds what commands need of the agent's scratch to what they may touch. They can look at kept output and
    /// cannot change it.
    pub fn allow(&self, policy: &mut Policy) {
        policy.read.extend([self.shared.kept.path().to_owned(), self.shared.startup.clone()]);
        policy.write.push(self.shared.reports.clone());
    }

    /// Moves the running command of a call to the background, because the user wants so. False when there is
    /// none: it ended, or is there already.
    pub fn to_background(&self, call: &CallId) -> bool {
        let mut table = self.shared.table();
        let found = table.of_call(call);
        found.is_some_and(|number| table.move_away(number))
    }

    /// The next background command that ended. Each is given out once; until then it is kept.
    pub async fn next_completion(&self) -> Completion {
        loop {
            let news = self.shared.completed.notified();
            tokio::pin!(news);
            // From here on no news is missed.
            news.as_mut().enable();
            if let Some(completion) = self.shared.table().take_completion() {
                return completion;
            }
            news.await;
        }
    }

    /// Where the next command starts, unless that is the root of the worktree.
    pub fn away(&self) -> Option<PathBuf> {
        self.shared.table().cwd.away()
    }

    /// The background commands, those that ended first.
    pub fn list(&self) -> Vec<Snapshot> {
        self.shared.table().snapshots()
    }

    /// Ends a background command; false when none of this name runs.
    pub fn kill(&self, id: &str) -> bool {
        self.shared.table().kill(id)
    }

    /// Waits for the end of a background command. False when it still runs after that time.
    pub async fn wait(&self, id: &str, patience: Duration) -> bool {
        let Some(mut ended) = self.shared.table().end_of(id) else { return true };
        tokio::time::timeout(patience, ended.wait_for(Option::is_some)).await.is_ok()
    }

    /// The same for an agent, whom the user can let go.
    pub async fn await_end(&self, id: &str, patience: Duration) -> Awaited {
        let seat = self.shared.waiting.sit_down(id);
        tokio::select! {
            biased;
            ended = self.wait(id, patience) => if ended { Awaited::Ended } else { Awaited::TooLong },
            () = seat.let_go.cancelled() => Awaited::LetGo,
        }
    }

    /// Lets the agent go on that waits for a background command, which runs on; false when nobody waits for it.
    pub fn let_go(&self, id: &str) -> bool {
        self.shared.waiting.let_go(id)
    }

    /// Ends everything and waits until it has ended. Nothing can be started any more.
    pub async fn close(&self) {
        self.shared.closing.cancel();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }
}

impl Shared {
    pub(super) fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads and removes what a command said about where it ended.
    pub(super) fn take_report(&self, number: u64) -> cwd::Said {
        cwd::said(&self.reports_descriptor, &name(number))
    }

    /// Takes in the end of a command, and tells whoever is to know.
    pub(super) fn end(&self, number: u64, ended: Ended, tell: &watch::Sender<Option<Arc<Ended>>>) {
        let ended = Arc::new(ended);
        let place = self.table().end(number, &ended);
        let all_is_shown = matches!(ended.output.shown, Shown::Whole(_));
        match place {
            Some(Place::Background) => {
                let _of_no_use = self.take_report(number);
                self.kept.admit(&file_name(number), ended.output.file_bytes);
            }
            Some(Place::Foreground) if all_is_shown => self.kept.remove(&file_name(number)),
            Some(Place::Foreground) | None => self.kept.admit(&file_name(number), ended.output.file_bytes),
        }
        tell.send_replace(Some(ended));
        self.completed.notify_waiters();
    }
}
