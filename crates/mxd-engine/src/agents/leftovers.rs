//! What a crash may have left: conversations that were thrown away and worktrees of deleted tasks. That they go was
//! durable before anybody began to remove them, and nothing says in the log that somebody has.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use mxd_core::event::{Event, EventBody};
use mxd_core::id::TaskId;
use mxd_core::session::Session;
use serde::{Deserialize, Serialize};

use super::{Agents, remove};
use crate::git::worktree;

/// What the log says is not wanted any more. Whether it is gone, only a look can tell.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unwanted {
    /// Tasks of whom a conversation was thrown away.
    conversations: BTreeSet<TaskId>,
    /// Tasks that were deleted.
    tasks: BTreeSet<TaskId>,
}

impl Unwanted {
    pub(crate) fn note(&mut self, event: &Event) {
        match event.body {
            EventBody::TaskReset(_) | EventBody::ConversationCleared(_) => {
                self.conversations.insert(event.task);
            }
            EventBody::TaskDeleted(_) => {
                self.conversations.insert(event.task);
                self.tasks.insert(event.task);
            }
            _ => {}
        }
    }
}

impl Agents {
    /// Removes what is still there of it, behind everything else that goes on.
    pub(crate) fn clear_up(&self) {
        let Unwanted { conversations, tasks } = self.unwanted();
        self.clear_conversations(&conversations);
        let agents = self.clone();
        // Not broken off by a failing disk: what it does is nobody's work.
        self.inner.work.spawn(async move { agents.clear_worktrees(&tasks).await });
    }

    /// What is not wanted any more, from the beginning until now.
    pub(crate) fn unwanted(&self) -> Unwanted {
        self.inner.unwanted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// One that somebody else's conversation begins with stays, as it did when it was thrown away.
    fn clear_conversations(&self, thrown_away: &BTreeSet<TaskId>) {
        let lineages = |state: &mxd_core::state::State| {
            state.sessions().values().flat_map(Session::lineage).copied().collect::<BTreeSet<TaskId>>()
        };
        let needed = self.parts().shown.look(lineages);
        let decided = self.parts().shown.head();
        let unwanted: Vec<TaskId> = thrown_away.difference(&needed).copied().collect();
        let log = self.parts().log.clone();
        let each = move || unwanted.into_iter().for_each(|task| remove::prune(&log, task, decided));
        self.inner.work.spawn_blocking(each);
    }

    async fn clear_worktrees(&self, deleted: &BTreeSet<TaskId>) {
        let known = match worktree::removals(&self.surroundings().repository) {
            Ok(known) => known,
            Err(error) => {
                tracing::warn!(%error, "worktrees of deleted tasks could not be looked for");
                return;
            }
        };
        for removal in known.iter().filter(|removal| deleted.contains(&removal.task)) {
            if let Err(error) = worktree::remove(&self.surroundings().repository, removal).await {
                tracing::warn!(task = %removal.task, %error, "the worktree of a deleted task could not be removed");
            }
        }
    }
}
