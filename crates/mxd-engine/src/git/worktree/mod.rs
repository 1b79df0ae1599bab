//! The worktree of a task: made, told about, removed.

mod checkout;
mod create;
mod disclosure;
mod include;
mod remove;
mod repair;
mod setup;

use std::path::{Path, PathBuf};

use mxd_core::id::TaskId;

pub use create::{Base, CreateError, Created, How, Request, create};
pub use disclosure::Disclosure;
pub use include::{IncludeError, Included};
pub use remove::{Removal, RemoveError, Removed, remove};
pub use repair::release_locks;
pub use setup::{FailedSetup, Setup, SetupError};

pub(super) use checkout::{fill, register_detached, unregister};
pub(super) use include::carry as carry_included;
pub(super) use setup::SCRIPT;

use super::error::GitError;
use super::names::{Branch, NAMESPACE, ObjectId};
use super::record::{Record, Stage};
use super::repository::Repository;

/// A worktree that an agent may work in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    /// Whose it is.
    pub task: TaskId,
    /// Where its files are.
    pub folder: PathBuf,
    /// Where git keeps what belongs to this worktree alone.
    pub own: PathBuf,
    /// Its branch.
    pub branch: Branch,
    /// The branch it started from, unless it started from a plain commit.
    pub base_branch: Option<Branch>,
    /// The commit it started from.
    pub base: ObjectId,
}

impl Worktree {
    /// The part of the branch names that is the agent's.
    #[must_use]
    pub fn branches(&self) -> String {
        namespace(self.task)
    }
}

fn namespace(task: TaskId) -> String {
    format!("{NAMESPACE}/{task}")
}

/// The worktree of a task, if it is ready.
///
/// # Errors
///
/// When what is remembered about it cannot be read.
pub fn find(repository: &Repository, task: TaskId) -> Result<Option<Worktree>, GitError> {
    match Record::read(repository.common(), task)? {
        Some(record) if record.stage == Stage::Ready => Ok(described(&record)),
        _ => Ok(None),
    }
}

/// Everything that is remembered of the worktrees of tasks, ready or not, as something to be removed.
///
/// # Errors
///
/// When it cannot be read.
pub fn removals(repository: &Repository) -> Result<Vec<Removal>, GitError> {
    let records = Record::all(repository.common())?.into_iter();
    Ok(records.map(|Record { task, folder, branch, .. }| Removal { task, folder, branch }).collect())
}

/// The worktrees that are ready, of all tasks.
///
/// # Errors
///
/// When what is remembered about them cannot be read.
pub fn list(repository: &Repository) -> Result<Vec<Worktree>, GitError> {
    let records = Record::all(repository.common())?;
    let ready = records.iter().filter(|record| record.stage == Stage::Ready);
    Ok(ready.filter_map(described).collect())
}

/// The worktree of a record, if both its folders are there.
fn described(record: &Record) -> Option<Worktree> {
    let is_folder = |path: &Path| std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    named(record).filter(|worktree| is_folder(&worktree.own) && is_folder(&worktree.folder))
}

/// The worktree of a record, whatever is there of it.
fn named(record: &Record) -> Option<Worktree> {
    Some(Worktree {
        task: record.task,
        folder: record.folder.clone(),
        own: record.own.clone()?,
        branch: record.branch.clone(),
        base_branch: record.base_branch.clone(),
        base: record.base.clone(),
    })
}
