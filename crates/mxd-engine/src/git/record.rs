//! What is remembered about the worktree of a task, where agents cannot write: `mxd/` in the shared folder.
//!
//! Git's own notes about a worktree may be changed by the agent in it, and they do not say how far making or removing
//! it came. The record does; whoever finds one after a crash knows what is owed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mxd_core::id::TaskId;
use serde::{Deserialize, Serialize};

use super::error::GitError;
use super::files::{publish, remove_tree};
use super::names::{Branch, ObjectId};

/// One worktree of one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    pub(super) task: TaskId,
    pub(super) folder: PathBuf,
    pub(super) branch: Branch,
    /// The branch it started from, unless it was a plain commit.
    pub(super) base_branch: Option<Branch>,
    /// The commit it started from.
    pub(super) base: ObjectId,
    /// Where git keeps what belongs to the worktree alone. Git's own note of that is the agent's to change.
    pub(super) own: Option<PathBuf>,
    pub(super) stage: Stage,
}

/// How far it came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "camelCase")]
pub(super) enum Stage {
    /// Being made. No agent was ever in it.
    Making,
    /// An agent may work in it.
    Ready,
    /// What was in it is safe; it is being removed.
    Removing {
        /// The commit that holds what was in it, if there was anything.
        grave: Option<ObjectId>,
        /// The folder by its number on the disk, so that another one at its place is left alone.
        folder: Option<(u64, u64)>,
    },
}

fn folder(common: &Path) -> PathBuf {
    common.join("mxd/worktrees")
}

fn path(common: &Path, task: TaskId) -> PathBuf {
    folder(common).join(format!("{task}.json"))
}

/// The index by which the daemon looks at the files of a task. The agent has another one, which it may change.
pub(super) fn index(common: &Path, task: TaskId) -> PathBuf {
    index_folder(common, task).join("index")
}

/// A folder of its own, because git makes its lock beside the index, and the rest of ours is not its to change.
fn index_folder(common: &Path, task: TaskId) -> PathBuf {
    common.join("mxd/index").join(task.to_string())
}

/// Where it is written down that a worktree is for a moment only and nobody's, by the name git has for it.
fn scratch(common: &Path, own: &Path) -> PathBuf {
    common.join("mxd/scratch").join(own.file_name().unwrap_or_default())
}

/// Writes down that a worktree is nobody's. What runs in it may change what it says about itself.
pub(super) fn mark_scratch(common: &Path, own: &Path, folder: &Path) -> Result<(), GitError> {
    let path = scratch(common, own);
    publish(&path, folder.as_os_str().as_encoded_bytes()).map_err(GitError::file("write", &path))
}

/// Whether a worktree is nobody's.
pub(super) fn is_scratch(common: &Path, own: &Path) -> bool {
    scratch(common, own).exists()
}

/// Forgets about worktrees of nobody's at a folder; where git keeps what belongs to them.
pub(super) fn unmark_scratch(common: &Path, folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(common.join("mxd/scratch")).into_iter().flatten().flatten() {
        let is_there = |text: Vec<u8>| text == folder.as_os_str().as_encoded_bytes();
        if fs::read(entry.path()).is_ok_and(is_there) && fs::remove_file(entry.path()).is_ok() {
            found.push(common.join("worktrees").join(entry.file_name()));
        }
    }
    found
}

impl Record {
    /// The record of a task, if there is one.
    pub(super) fn read(common: &Path, task: TaskId) -> Result<Option<Self>, GitError> {
        read(&path(common, task))
    }

    /// All records.
    pub(super) fn all(common: &Path) -> Result<Vec<Self>, GitError> {
        let folder = folder(common);
        let listed = match fs::read_dir(&folder) {
            Ok(listed) => listed,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(GitError::File { action: "list", path: folder, source }),
        };
        let mut records = Vec::new();
        for entry in listed {
            let path = entry.map_err(GitError::file("list", &folder))?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                records.extend(read(&path)?);
            }
        }
        records.sort_by_key(|record| record.task);
        Ok(records)
    }

    /// Writes it, durably.
    pub(super) fn write(&self, common: &Path) -> Result<(), GitError> {
        let path = path(common, self.task);
        let text = serde_json::to_vec_pretty(self).map_err(io::Error::other);
        text.and_then(|text| publish(&path, &text)).map_err(GitError::file("write", &path))
    }

    /// Forgets it, and the index with it.
    pub(super) fn forget(common: &Path, task: TaskId) -> Result<(), GitError> {
        let seen_by = index_folder(common, task);
        remove_tree(&seen_by).map_err(GitError::file("remove", &seen_by))?;
        let path = path(common, task);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(GitError::File { action: "remove", path, source })
            }
            _ => Ok(()),
        }
    }
}

fn read(path: &Path) -> Result<Option<Record>, GitError> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(GitError::File { action: "read", path: path.to_owned(), source }),
    };
    let understood = serde_json::from_slice(&text).map_err(io::Error::other);
    understood.map(Some).map_err(GitError::file("understand", path))
}
