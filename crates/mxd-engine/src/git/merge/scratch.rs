//! The scratch worktree in which the check of a merge runs.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use super::super::errand::{Errand, Ran};
use super::super::limits;
use super::super::names::ObjectId;
use super::super::repository::Repository;
use super::super::scratch::{self, Scratch};
use super::super::space;
use super::{MergeError, Request};

/// Where the merge of a branch is tried. One place per branch, so that what a crash leaves is found again.
fn folder(request: &Request) -> PathBuf {
    request.scratch.join(format!("merge-{}", request.from.as_str().replace('/', "-")))
}

/// Removes what an earlier merge of the same branch left.
pub(super) async fn sweep(repository: &Repository, request: &Request) -> Result<(), MergeError> {
    Ok(Scratch::at(&folder(request))?.clear(repository).await?)
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
    let folder = folder(request);
    space::check(&folder, request.room)?;
    let scratch = scratch::make(repository, commit, &folder).await?;
    let errand = Errand {
        purpose: Errand::CHECK,
        command: check.to_vec(),
        folder: scratch.folder.clone(),
        time: limits::CHECK,
    };
    let ran = run(errand).await.map_err(MergeError::NotRun);
    scratch.remove(repository).await?;
    ran
}
