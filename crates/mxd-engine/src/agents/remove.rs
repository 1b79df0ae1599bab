//! Removing worktrees and conversations that are not wanted any more.

use std::path::PathBuf;

use mxd_core::commit::Seq;
use mxd_core::decide::SessionOp;
use mxd_core::event::EventKind;
use mxd_core::id::TaskId;
use mxd_store::{Log, Prune};

use super::Agents;
use crate::clock;
use crate::conversation;
use crate::git::worktree::{self, Removal};

impl Agents {
    /// Removes a worktree, and tells when it is gone. What was in it is kept as a snapshot in the repository.
    pub(super) async fn remove_worktree(self, task: TaskId, (path, branch): (String, Option<String>)) {
        let desk = self.desks().remove(&task);
        if let Some(desk) = desk {
            desk.clear().await;
        }
        let outcome = match branch.and_then(|branch| branch.parse().ok()) {
            None => Err("its branch is not known".to_owned()),
            Some(branch) => {
                let removal = Removal { task, folder: PathBuf::from(&path), branch };
                let removed = worktree::remove(&self.surroundings().repository, &removal).await;
                removed.map_err(|error| error.to_string())
            }
        };
        let op = match outcome {
            Ok(_) => SessionOp::WorktreeRemoved { path },
            // It stays, with everything in it; the next removal finds it.
            Err(message) => {
                tracing::warn!(%task, message, "a worktree could not be removed");
                SessionOp::WorktreeKept { path, message }
            }
        };
        self.report(task, op).await;
    }
}

/// Removes from the log what of a task's conversation was thrown away by this commit or before it. What came since is
/// another conversation, and stays.
pub(super) fn prune(log: &Log, task: TaskId, decided: Seq) {
    if let Err(error) = try_prune(log, task, decided) {
        tracing::warn!(%task, %error, "a conversation could not be removed from the log; the next start tries again");
    }
}

fn try_prune(log: &Log, task: TaskId, decided: Seq) -> Result<(), Box<dyn std::error::Error>> {
    let Some(through) = conversation::thrown_away(log, task, decided)? else { return Ok(()) };
    let types: Vec<&str> =
        EventKind::ALL.iter().filter(|kind| kind.is_conversation()).map(|kind| kind.name()).collect();
    log.prune(&Prune {
        task: &task.to_string(),
        through: through.0,
        types: &types,
        why: "the conversation was thrown away",
        at: clock::now().0,
    })?;
    Ok(())
}
