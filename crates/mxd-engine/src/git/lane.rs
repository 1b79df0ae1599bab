//! One lane per repository: whatever changes it goes through one at a time.
//!
//! Git locks single files and gives up when one is taken, so two of our own would make each other fail. Other
//! people's git does not know the lane; for them there is waiting, in [`super::Repository`].

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::private::RefFolders;
use mxd_core::id::TaskId;
use tokio::sync::{Mutex as Turns, MutexGuard, OwnedMutexGuard};

/// The lanes of all repositories of this daemon.
#[derive(Debug, Default)]
pub struct Lanes {
    by_folder: Mutex<HashMap<PathBuf, Weak<Lane>>>,
}

impl Lanes {
    /// No lanes yet.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// The lane of the repository with this folder, which must be its real path.
    pub(super) fn of(&self, common: &Path) -> Arc<Lane> {
        let mut lanes = self.by_folder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lane) = lanes.get(common).and_then(Weak::upgrade) {
            return lane;
        }
        lanes.retain(|_, lane| lane.strong_count() > 0);
        let lane = Arc::new(Lane::default());
        lanes.insert(common.to_owned(), Arc::downgrade(&lane));
        lane
    }
}

/// The order in which a repository is changed.
#[derive(Debug, Default)]
pub(super) struct Lane {
    changes: Turns<()>,
    /// What the refs looked like when a task was last given them.
    given: Mutex<HashMap<TaskId, RefFolders>>,
    tasks: Mutex<HashMap<TaskId, Weak<Turns<()>>>>,
}

/// The right to change the repository.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    _held: MutexGuard<'a, ()>,
}

/// The right to the worktree of one task.
#[derive(Debug)]
pub(super) struct TaskTurn {
    _held: OwnedMutexGuard<()>,
}

impl Lane {
    /// Waits until it is our turn, in the order of asking.
    pub(super) async fn turn(&self) -> Turn<'_> {
        Turn { _held: self.changes.lock().await }
    }

    /// Waits until nobody else makes, removes or looks at the worktree of the task.
    pub(super) async fn task(&self, task: TaskId) -> TaskTurn {
        let turns = self.turns_of(task);
        TaskTurn { _held: turns.lock_owned().await }
    }

    /// Whether the refs still look as they did when the task was last given them.
    pub(super) fn has_seen(&self, task: TaskId, folders: &RefFolders) -> bool {
        let given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        given.get(&task) == Some(folders)
    }

    /// Notes what they looked like.
    pub(super) fn saw(&self, task: TaskId, folders: RefFolders) {
        self.given.lock().unwrap_or_else(PoisonError::into_inner).insert(task, folders);
    }

    fn turns_of(&self, task: TaskId) -> Arc<Turns<()>> {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turns) = tasks.get(&task).and_then(Weak::upgrade) {
            return turns;
        }
        tasks.retain(|_, turns| turns.strong_count() > 0);
        let turns = Arc::new(Turns::default());
        tasks.insert(task, Arc::downgrade(&turns));
        turns
    }
}
