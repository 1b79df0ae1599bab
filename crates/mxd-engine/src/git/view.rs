//! What the root agent reads: the files of the base branch as they are committed, in a folder of their own.
//!
//! The user's checkout holds more than the work: ignored files with keys, worktrees of other agents, `.git/config` with tokens.
//! So the root does not see it. Its view has a repository of its own, as the worktree of every other agent has, and nothing
//! leads back from there: what the view holds is never imported.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use mxd_core::id::TaskId;

use super::error::GitError;
use super::files::publish;
use super::inspect::Wish;
use super::names::{Branch, ObjectId};
use super::private::Private;
use super::refs::RefError;
use super::repository::{Place, Repository};
use super::run::Call;
use super::worktree::{IncludeError, Worktree, carry_included};

/// Why there is no view.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// The branch is not there.
    #[error("the branch {0} is gone")]
    NoBranch(Branch),
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A branch could not be read.
    #[error(transparent)]
    Ref(#[from] RefError),
    /// Files that git ignores and the user wants there could not be copied.
    #[error(transparent)]
    Include(#[from] IncludeError),
}

/// The view that is wanted.
#[derive(Debug)]
pub struct ViewRequest<'a> {
    /// Who reads it.
    pub task: TaskId,
    /// Of which branch.
    pub branch: &'a Branch,
    /// Where its files go.
    pub folder: &'a Path,
    /// Which ignored files of the user's checkout are in it.
    pub include: &'a [String],
}

/// Makes the view, or brings it to where its branch stands now.
///
/// # Errors
///
/// When the branch is not there, or git fails.
pub async fn bring_up_to_date(repository: &Repository, request: &ViewRequest<'_>) -> Result<(), ViewError> {
    let gone = || ViewError::NoBranch(request.branch.clone());
    let commit = repository.branch(request.branch).await?.ok_or_else(gone)?;
    let private = Private::of(repository.common(), request.task);
    let view = Worktree {
        task: request.task,
        folder: request.folder.to_owned(),
        own: private.git_dir(),
        branch: request.branch.clone(),
        base_branch: None,
        base: commit.clone(),
    };
    if !shows(&private, &view, &commit)? {
        let _turn = repository.task_turn(request.task).await;
        if !shows(&private, &view, &commit)? {
            show(repository, &private, &view).await?;
            carry_included(repository, request.include, &view.folder).await?;
            private.write_known(&commit)?;
        }
    }
    Ok(repository.refresh_given(&view).await?)
}

/// Whether it has this branch and all files of this commit.
fn shows(private: &Private, view: &Worktree, commit: &ObjectId) -> Result<bool, GitError> {
    let head = fs::read_to_string(private.git_dir().join("HEAD")).unwrap_or_default();
    let is_of_branch = head.trim_end() == format!("ref: {}", view.branch.refname());
    let is_whole = private.exists() && view.folder.join(".git").exists();
    Ok(is_of_branch && is_whole && private.known()?.as_ref() == Some(commit))
}

/// Writes the files. What was begun and not finished is made anew.
async fn show(repository: &Repository, private: &Private, view: &Worktree) -> Result<(), ViewError> {
    let is_usable = private.exists() && private.known()?.is_some() && view.folder.join(".git").exists();
    if !is_usable {
        make(repository, private, view).await?;
    }
    // While it is not finished, it counts as nothing.
    private.forget_known()?;
    let git_dir = private.git_dir();
    let env = vec![("GIT_DIR", git_dir.clone()), ("GIT_WORK_TREE", view.folder.clone())];
    let write = vec![git_dir, view.folder.clone()];
    let inspected =
        repository.git_in_sandbox(Wish { read: Vec::new(), write, folder: Some(&view.folder), env }).await?;
    let place = Place::Files(&inspected);
    repository.ask(place, Call::new(["symbolic-ref", "HEAD", &view.branch.refname()])).await?;
    repository
        .ask(place, Call::new(["update-ref", "--no-deref", &view.branch.refname(), view.base.as_str()]))
        .await?;
    repository.ask(place, Call::new(["read-tree", "--reset", "-u", view.base.as_str()])).await?;
    Ok(())
}

async fn make(repository: &Repository, private: &Private, view: &Worktree) -> Result<(), ViewError> {
    private.remove(repository).await?;
    repository.remove_agents_folder(&view.folder).await?;
    let git_dir = private.git_dir();
    repository.write_private(private, &view.branch, &view.base).await?;
    let pointer = format!("gitdir: {}\n", git_dir.display());
    let write = |path: PathBuf| publish(&path, pointer.as_bytes()).map_err(GitError::file("write", &path));
    // Its files have the modes that the repository says; so others are kept out at its door.
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&view.folder);
    made.map_err(GitError::file("make", &view.folder))?;
    write(view.folder.join(".git"))?;
    write(private.git_file())?;
    private.write_known(&view.base)?;
    Ok(())
}
