//! What tasks have changed, looked at when their agents come to rest: one after the other, each once.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use mxd_core::id::TaskId;
use mxd_engine::project::Project;
use serde_json::json;
use tokio::sync::Notify;

use super::Feed;
use super::frame::{self, Frame, Kind};
use crate::view::DiffView;

/// Tasks to be looked at.
#[derive(Debug, Default)]
pub(super) struct Looks {
    waiting: Mutex<BTreeSet<TaskId>>,
    news: Notify,
}

impl Looks {
    /// Says that a task may have changed something.
    pub(super) fn wish(&self, task: TaskId) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(task);
        self.news.notify_one();
    }

    async fn next(&self) -> TaskId {
        loop {
            let first = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_first();
            match first {
                Some(task) => return task,
                None => self.news.notified().await,
            }
        }
    }
}

impl Feed {
    /// Looks at what tasks have changed, as long as it is polled.
    pub(super) async fn look_around(&self, project: &Project) {
        loop {
            let task = self.looks.next().await;
            // A task without a worktree has changed nothing.
            if let Ok(review) = project.review(task).await {
                self.see_diff(task, DiffView::of(&review));
            }
        }
    }

    /// Remembers what a task has changed, and tells everybody who listens when that is news.
    pub(crate) fn see_diff(&self, task: TaskId, diff: DiffView) {
        if self.tally.write().unwrap_or_else(PoisonError::into_inner).see_diff(task, diff) {
            let DiffView { files, additions, deletions } = diff;
            let data = json!({
                "task": task.to_string(), "type": "diff", "files": files, "additions": additions, "deletions": deletions,
            });
            let bytes = frame::event("delta", &data.to_string());
            let _nobody = self.frames.send(Frame { kind: Kind::Words, bytes });
        }
    }
}
