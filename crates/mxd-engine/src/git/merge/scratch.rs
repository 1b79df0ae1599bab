//! The scratch worktree in which the check of a merge runs, and its end.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use super::super::admin;
use super::super::errand::{Errand, Ran};
use super::super::error::GitError;
use super::super::files::{blocking, remove_tree};
use super::super::limits;
use super::super::names::ObjectId;
use super::super::repository::Repository;
use super::super::space;
use super::super::worktree::{fill, register_detached, unregister};
use super::{MergeError, Request};

/// Where the merge of a branch is tried. One place per branch, so that what a crash leaves is found again.
fn folder(request: &Request) -> Result<PathBuf, MergeError> {
    let parent = &request.scratch;
    std::fs::create_dir_all(parent).map_err(GitError::file("make", parent))?;
    let parent = std::fs::canonicalize(parent).map_err(GitError::file("find", parent))?;
    Ok(parent.join(format!("merge-{}", request.from.as_str().replace('/', "-"))))
}

/// Removes what an earlier merge of the same branch left.
pub(super) async fn sweep(repository: &Repository, request: &Request) -> Result<(), MergeError> {
    let folder = folder(request)?;
    let known = repository.entries()?.iter().any(|entry| entry.folder.as_deref() == Some(&folder));
    if !known && !folder.exists() {
        return Ok(());
    }
    let removed = folder.clone();
    let ended = blocking(move || remove_tree(&removed)).await.and_then(|ended| ended);
    ended.map_err(GitError::file("remove", &folder))?;
    let turn = repository.turn().await;
    Ok(unregister(repository, &turn, &folder)?)
}

/// Runs the check on the files of a commit.
pub(super) async fn check<R, F>(
    repository: &Repository,
    request: &Request,
    (commit, check): (&ObjectId, &[OsString]),
    run: &R,
) -> Result<Ran, MergeError>
where
    R: Fn(Errand) -> F,
    F: Future<Output = io::Result<Ran>>,
{
    let folder = folder(request)?;
    space::check(&folder, request.room)?;
    let turn = repository.turn().await;
    admin::refuse_traps(repository.common())?;
    let own = register_detached(repository, &turn, &folder, commit).await?;
    drop(turn);
    let filled = fill(repository, &folder, &own, commit).await;
    let errand = Errand {
        purpose: Errand::CHECK,
        command: check.to_vec(),
        folder: folder.clone(),
        time: limits::CHECK,
    };
    let ran = match filled {
        Ok(()) => run(errand).await.map_err(MergeError::NotRun),
        Err(error) => Err(error.into()),
    };
    sweep(repository, request).await?;
    ran
}
