//! The files of a commit in a folder of their own, for as long as somebody looks at them.

use std::path::{Path, PathBuf};

use super::admin;
use super::error::GitError;
use super::files::{blocking, remove_tree};
use super::names::ObjectId;
use super::repository::Repository;
use super::worktree::{fill, register_detached, unregister};
use crate::home::make_private_folder;

/// A checkout of a commit that belongs to no task and no branch.
#[derive(Debug)]
pub struct Scratch {
    /// Where its files are.
    pub folder: PathBuf,
}

/// Makes one. What an earlier one left at the place goes first, so that a crash is no obstacle.
///
/// # Errors
///
/// When the folder cannot be made, or git fails.
pub async fn make(repository: &Repository, commit: &ObjectId, folder: &Path) -> Result<Scratch, GitError> {
    let scratch = Scratch::at(folder)?;
    scratch.clear(repository).await?;
    let turn = repository.turn().await;
    admin::refuse_traps(repository.common())?;
    let own = register_detached(repository, &turn, &scratch.folder, commit).await?;
    drop(turn);
    match fill(repository, &scratch.folder, &own, commit).await {
        Ok(()) => Ok(scratch),
        Err(error) => {
            scratch.clear(repository).await?;
            Err(error)
        }
    }
}

impl Scratch {
    /// The place, whatever is there.
    pub(super) fn at(folder: &Path) -> Result<Self, GitError> {
        let parent = folder.parent().unwrap_or(folder);
        make_private_folder(parent).map_err(GitError::file("make", parent))?;
        let parent = std::fs::canonicalize(parent).map_err(GitError::file("find", parent))?;
        Ok(Self { folder: parent.join(folder.file_name().unwrap_or_default()) })
    }

    /// Removes it.
    ///
    /// # Errors
    ///
    /// When files cannot be removed, or git fails.
    pub async fn remove(self, repository: &Repository) -> Result<(), GitError> {
        self.clear(repository).await
    }

    /// Removes what is at the place, if anything is.
    pub(super) async fn clear(&self, repository: &Repository) -> Result<(), GitError> {
        let folder = &self.folder;
        let known = repository.entries()?.iter().any(|entry| entry.folder.as_deref() == Some(folder));
        if !known && !folder.exists() {
            return Ok(());
        }
        let removed = folder.clone();
        let ended = blocking(move || remove_tree(&removed)).await.and_then(|ended| ended);
        ended.map_err(GitError::file("remove", folder))?;
        let turn = repository.turn().await;
        unregister(repository, &turn, folder)
    }
}
