//! Removing worktrees and conversations that are not wanted any more.

use std::path::PathBuf;

use mxd_core::event::EventKind;
use mxd_core::id::TaskId;
use mxd_store::Prune;

use super::Agents;
use crate::clock;
use crate::git::worktree::{self, Removal};

impl Agents {
    /// Removes a worktree. What was in it is kept as a snapshot in the repository.
    pub(super) async fn remove_worktree(self, task: TaskId, (path, branch): (String, Option<String>)) {
        let desk = self.desks().remove(&task);
        if let Some(desk) = desk {
            desk.clear().await;
        }
        let Some(branch) = branch.and_then(|branch| branch.parse().ok()) else { return };
        let removal = Removal { task, folder: PathBuf::from(path), branch };
        if let Err(error) = worktree::remove(&self.surroundings().repository, &removal).await {
            // The worktree stays, with everything in it; the next removal finds it.
            tracing::warn!(%task, %error, "a worktree could not be removed");
        }
    }

    /// Removes the conversation of a task from the log. The state does not know it any more.
    pub(super) fn prune(&self, task: TaskId) {
        let log = self.parts().log.clone();
        let through = *log.head().borrow();
        self.inner.work.spawn_blocking(move || {
            let types: Vec<&str> =
                EventKind::ALL.iter().filter(|kind| kind.is_conversation()).map(|kind| kind.name()).collect();
            let name = task.to_string();
            let prune = Prune {
                task: &name,
                through,
                types: &types,
                why: "the conversation was thrown away",
                at: clock::now().0,
            };
            if let Err(error) = log.prune(&prune) {
                tracing::warn!(%task, %error, "a conversation could not be removed from the log");
            }
        });
    }
}
