//! The base branch of a project: what tasks start from and what work is merged into.
//!
//! The root task stores it. What the user has checked out meanwhile does not matter, so that nobody's work lands on a branch
//! that was only looked at; `mxd base` changes it deliberately.

use mxd_core::state::State;

use super::Agents;
use crate::git::{Branch, GitError, Head, NameError, RefError, Repository};

/// Why there is no base branch to work with.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the variants are")]
pub enum BaseBranchError {
    #[error(
        "the project has no base branch: none was checked out when it was added. `mxd base BRANCH` chooses one"
    )]
    NotChosen,
    #[error("the base branch {branch} has no commit yet; commit something first")]
    Unborn { branch: Branch },
    #[error("the base branch {branch} does not exist any more. `mxd base BRANCH` chooses another one")]
    Gone { branch: Branch },
    #[error("there is no branch {branch} in the repository")]
    Unknown { branch: Branch },
    #[error("{branch} belongs to a task: choose a branch of your own")]
    OfATask { branch: Branch },
    #[error(transparent)]
    Name(#[from] NameError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Ref(#[from] RefError),
}

/// The base branch as the root task has it.
pub(crate) fn stored(state: &State) -> Option<String> {
    state.tree().root().and_then(|root| root.task()?.branch.clone())
}

/// The stored base branch, when tasks can start from it.
pub(crate) async fn usable(
    repository: &Repository,
    stored: Option<String>,
) -> Result<Branch, BaseBranchError> {
    let branch: Branch = stored.ok_or(BaseBranchError::NotChosen)?.parse()?;
    if repository.branch(&branch).await?.is_some() {
        return Ok(branch);
    }
    match repository.head().await? {
        Head::Unborn { branch: unborn } if unborn == branch => Err(BaseBranchError::Unborn { branch }),
        _ => Err(BaseBranchError::Gone { branch }),
    }
}

/// A branch that the user wants as the base.
pub(crate) async fn choose(repository: &Repository, wanted: &str) -> Result<Branch, BaseBranchError> {
    let branch: Branch = wanted.parse()?;
    if branch.is_of_agents() {
        return Err(BaseBranchError::OfATask { branch });
    }
    match repository.branch(&branch).await? {
        Some(_) => Ok(branch),
        None => Err(BaseBranchError::Unknown { branch }),
    }
}

impl Agents {
    pub(super) async fn base_branch(&self) -> Result<Branch, String> {
        let stored = self.parts().shown.look(stored);
        usable(&self.surroundings().repository, stored).await.map_err(|error| error.to_string())
    }
}
