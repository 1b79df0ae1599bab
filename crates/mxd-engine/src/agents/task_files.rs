//! Persistent tasks and their files in the repository, kept the same.
//!
//! The log is what holds: a file is written after it, from it, as a commit on the base branch. What a file says that this
//! project did not write (a clone, a pull, a merge of an agent's branch) is taken over as a draft, which only the user
//! makes ready. Which side changed is known by what both said when they last agreed; that is kept in the project's folder.

mod file;
mod plan;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::PoisonError;

use mxd_core::commit::Seq;
use mxd_core::decide::{Actor, AdoptedTask, Op};
use mxd_core::event::{Event, EventBody};
use mxd_core::id::TaskId;
use mxd_core::tool::Digest;
use tokio::sync::watch;

use self::file::TaskFile;
use self::plan::{Plan, Task};
use super::Agents;
use crate::git::task_files::{self, Write, Written};
use crate::git::{Branch, ObjectId};
use crate::home::{publish_private, read_private};
use crate::project::{Wish, WishError};

/// How often it is tried again when somebody moves the branch meanwhile.
const ATTEMPTS: usize = 3;

/// What the user should know about the files of persistent tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskFileReport {
    /// Why the files are not as the tasks are; they are written when that has changed.
    pub waiting: Option<String>,
    /// Files that are not taken over, and why.
    pub refused: Vec<(String, String)>,
}

/// When somebody has to look at the files again.
#[derive(Debug)]
pub(super) struct TaskFiles {
    /// The last commit of the log that may have changed a persistent task.
    changed: watch::Sender<Seq>,
    report: std::sync::Mutex<TaskFileReport>,
}

impl Default for TaskFiles {
    fn default() -> Self {
        Self { changed: watch::Sender::new(Seq(0)), report: std::sync::Mutex::default() }
    }
}

impl TaskFiles {
    /// Hears of an event that has become durable.
    pub(super) fn note(&self, seq: Seq, event: &Event) {
        let may_change = matches!(
            event.body,
            EventBody::TaskCreated(_)
                | EventBody::TaskUpdated(_)
                | EventBody::TaskDeleted(_)
                | EventBody::TaskStatusChanged(_)
        );
        if may_change {
            self.changed.send_replace(seq);
        }
    }
}

impl Agents {
    /// What the user should know about the files of persistent tasks.
    pub(crate) fn task_file_report(&self) -> TaskFileReport {
        self.inner.task_files.report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Has the files looked at again, because the base branch has moved.
    pub(super) fn base_has_moved(&self) {
        self.inner.task_files.changed.send_modify(|_| {});
    }

    /// Keeps tasks and files the same from now on, behind everything else that goes on.
    pub(crate) fn keep_task_files(&self) {
        let agents = self.clone();
        let closing = self.closing();
        self.inner.work.spawn(async move {
            tokio::select! {
                biased;
                () = closing.cancelled() => {}
                () = agents.follow_task_files() => {}
            }
        });
    }

    async fn follow_task_files(&self) {
        let mut changed = self.inner.task_files.changed.subscribe();
        let mut through = self.parts().shown.through();
        let mut before: Option<(Option<ObjectId>, BTreeMap<TaskId, Task>)> = None;
        loop {
            let seq = *changed.borrow_and_update();
            if through.wait_for(|shown| *shown >= seq).await.is_err() {
                return;
            }
            let is_begun = self.parts().shown.look(|state| state.tree().root().is_some());
            if is_begun {
                let tasks = self.parts().shown.look(plan::tasks);
                let base = self.base_commit().await;
                let now = (base.as_ref().ok().map(|(_, commit)| commit.clone()), tasks);
                // Statuses change all the time; git is asked when something is different that files know of.
                if before.as_ref() != Some(&now) || self.task_file_report().waiting.is_some() {
                    let report = self.level(base).await;
                    *self.inner.task_files.report.lock().unwrap_or_else(PoisonError::into_inner) = report;
                    before = Some(now);
                }
            }
            if changed.changed().await.is_err() {
                return;
            }
        }
    }

    async fn base_commit(&self) -> Result<(Branch, ObjectId), String> {
        let branch = self.base_branch().await?;
        let commit = self.surroundings().repository.branch(&branch).await;
        let commit = commit.map_err(|error| error.to_string())?;
        commit.map(|commit| (branch.clone(), commit)).ok_or_else(|| format!("there is no branch {branch}"))
    }

    /// Makes tasks and files the same, as far as that can be done.
    async fn level(&self, base: Result<(Branch, ObjectId), String>) -> TaskFileReport {
        let mut report = TaskFileReport::default();
        let mut base = base;
        for _ in 0..ATTEMPTS {
            let levelled = match base {
                Ok((branch, commit)) => self.try_level((&branch, &commit), &mut report).await,
                Err(why) => Err(why),
            };
            match levelled {
                Ok(Written::Committed) => return report,
                Ok(Written::Blocked(why)) => return self.not_written(report, why),
                Ok(Written::Overtaken) => base = self.base_commit().await,
                Err(why) => return self.not_written(report, why),
            }
        }
        self.not_written(report, "the base branch moves all the time".to_owned())
    }

    /// Without a persistent task nothing is missing.
    fn not_written(&self, report: TaskFileReport, why: String) -> TaskFileReport {
        let any = self.parts().shown.look(|state| !plan::tasks(state).is_empty());
        if any {
            tracing::warn!(why, "the files of persistent tasks are not written");
        }
        TaskFileReport { waiting: any.then_some(why), ..report }
    }

    async fn try_level(
        &self,
        (branch, commit): (&Branch, &ObjectId),
        report: &mut TaskFileReport,
    ) -> Result<Written, String> {
        let repository = &self.surroundings().repository;
        let listed = task_files::list(repository, commit).await.map_err(|error| error.to_string())?;
        let mut agreed = self.read_agreed()?;
        let plan = self.parts().shown.look(|state| Plan::of(state, listed, &agreed));
        report.refused = plan.refused;
        for (id, file) in plan.adopt {
            match self.adopt(id, &file).await {
                Ok(()) => agreed.insert(id, file.digest()),
                Err(why) => {
                    report.refused.push((file::name(id), why));
                    None
                }
            };
        }
        agreed.extend(plan.agreed);
        agreed.retain(|id, _| !plan.forget.contains(id));
        self.write_agreed(&agreed)?;
        if plan.write.is_empty() {
            return Ok(Written::Committed);
        }
        let who = repository.identity().await.map_err(|error| error.to_string())?;
        let changes: Vec<Write> =
            plan.write.iter().map(|(id, file)| file::write(*id, file.as_ref())).collect();
        let message = file::message(&plan.write);
        let written = task_files::write(repository, (branch, commit), &changes, (&message, &who)).await;
        let written = written.map_err(|error| error.to_string())?;
        if written == Written::Committed {
            for (id, file) in plan.write {
                match file {
                    Some(file) => agreed.insert(id, file.digest()),
                    None => agreed.remove(&id),
                };
            }
            self.write_agreed(&agreed)?;
        }
        Ok(written)
    }

    async fn adopt(&self, id: TaskId, file: &TaskFile) -> Result<(), String> {
        let TaskFile { title, description, color, persistent } = file.clone();
        let op = Op::AdoptTask(AdoptedTask { id, title, description, color, persistent });
        let (wish, answer) = Wish::new(Actor::Daemon, op);
        self.parts().wishes.send(wish).await.map_err(|_| WishError::Closed.to_string())?;
        let answer = answer.await.map_err(|_| WishError::Closed.to_string())?;
        answer.map(drop).map_err(|error| error.to_string())
    }

    fn agreed_path(&self) -> PathBuf {
        self.parts().data.join("task-files.json")
    }

    /// What task and file said when they last agreed, by task.
    fn read_agreed(&self) -> Result<BTreeMap<TaskId, Digest>, String> {
        let path = self.agreed_path();
        let bytes = read_private(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let Some(bytes) = bytes else { return Ok(BTreeMap::new()) };
        serde_json::from_slice(&bytes).map_err(|error| format!("{}: {error}", path.display()))
    }

    fn write_agreed(&self, agreed: &BTreeMap<TaskId, Digest>) -> Result<(), String> {
        let path = self.agreed_path();
        if self.read_agreed().is_ok_and(|known| known == *agreed) {
            return Ok(());
        }
        let bytes = serde_json::to_vec_pretty(agreed).map_err(|error| error.to_string())?;
        publish_private(&path, &bytes).map_err(|error| format!("{}: {error}", path.display()))
    }
}
