//! What a user sees and does of a project that its tree and its log do not hold: git, and commands that run.

use mxd_core::decide::{Actor, Op};
use mxd_core::event::body::ToolCallId;
use mxd_core::id::TaskId;

use super::{Project, WishError};
use crate::agents::{BaseBranchError, Merge, MergeRequest, TaskFileReport, base_branch};
use crate::config::Config;
use crate::git::init::{CommitError, ScriptChoice};
use crate::git::{self, Branch, Logged, RefError, Review};
use crate::readiness::{self, Readiness};

/// Why git cannot be asked about a task.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    /// The task never had a branch, or has none any more.
    #[error("the task has no branch of its own")]
    NoBranch,
    /// Git failed.
    #[error(transparent)]
    Git(#[from] RefError),
}

impl Project {
    /// Merges the branch of a task into that of the task above, or into the branch the user works on.
    pub async fn merge(&self, task: TaskId, request: MergeRequest) -> Merge {
        self.shared.agents.merge_for_user(task, request).await
    }

    /// Lets a command that runs go on in the background; whether there was one.
    pub async fn to_background(&self, task: TaskId, call: &ToolCallId) -> bool {
        self.shared.agents.to_background(task, call).await
    }

    /// Ends a command that runs in the background; whether there was one.
    pub async fn kill_background(&self, task: TaskId, name: &str) -> bool {
        self.shared.agents.kill_background(task, name).await
    }

    /// Lets an agent go on that waits for a command in the background, which runs on; whether it waited.
    pub async fn let_go(&self, task: TaskId, name: &str) -> bool {
        self.shared.agents.let_go(task, name).await
    }

    /// The last commits of a task's branch, newest first.
    ///
    /// # Errors
    ///
    /// When there is no branch, or git fails.
    pub async fn history(&self, task: TaskId, most: usize) -> Result<Vec<Logged>, LookError> {
        let branch = self.look(|state| {
            state.tree().get(task).and_then(|node| node.task()).and_then(|task| task.branch.clone())
        });
        let branch: Branch = branch.and_then(|branch| branch.parse().ok()).ok_or(LookError::NoBranch)?;
        Ok(git::history(&self.shared.agents.surroundings().repository, &branch, most).await?)
    }

    /// What a task has changed.
    ///
    /// # Errors
    ///
    /// When it has no worktree, or git fails.
    pub async fn review(&self, task: TaskId) -> Result<Review, LookError> {
        let repository = &self.shared.agents.surroundings().repository;
        let found = git::worktree::find(repository, task).map_err(RefError::from)?;
        Ok(git::review(repository, &found.ok_or(LookError::NoBranch)?).await?)
    }

    /// Whether it is ready for its first task, and what is missing.
    pub async fn readiness(&self) -> Readiness {
        let around = self.shared.agents.surroundings();
        let root_budget = self.look(|state| state.tree().root().and_then(|root| root.task()?.budget_usd));
        let (config, repository, keyring) = (&around.config, &around.repository, &around.keyring);
        let base_branch = base_branch::usable(repository, self.look(base_branch::stored)).await;
        readiness::examine(readiness::Subject { config, repository, keyring, root_budget, base_branch }).await
    }

    /// Writes and commits the set-up script that the user wants, unless there is one. Whether something was committed.
    ///
    /// # Errors
    ///
    /// When it cannot be written or committed.
    pub async fn set_up_script(&self, choice: ScriptChoice) -> Result<bool, SetUpScriptError> {
        let repository = &self.shared.agents.surroundings().repository;
        let base = base_branch::usable(repository, self.look(base_branch::stored)).await?;
        Ok(git::init::set_up_script(repository, &base, choice).await?)
    }

    /// What the user should know about the files of persistent tasks.
    pub fn task_files(&self) -> TaskFileReport {
        self.shared.agents.task_file_report()
    }

    /// The settings it works with.
    pub fn config(&self) -> &Config {
        &self.shared.agents.surroundings().config
    }

    /// The branch that tasks start from and that work is merged into, as it is stored.
    pub fn base_branch(&self) -> Option<String> {
        self.look(base_branch::stored)
    }

    /// Has tasks start from another branch from now on, and work merged into it.
    ///
    /// # Errors
    ///
    /// When there is no such branch, or it belongs to a task, or the change is refused.
    pub async fn set_base_branch(&self, wanted: &str) -> Result<(), SetBaseBranchError> {
        let repository = &self.shared.agents.surroundings().repository;
        let branch = base_branch::choose(repository, wanted).await?;
        if self.base_branch().as_deref() == Some(branch.as_str()) {
            return Ok(());
        }
        self.wish(Actor::User, Op::SetBaseBranch { branch: branch.as_str().to_owned() }).await?;
        Ok(())
    }
}

/// Why the set-up script was not written.
#[derive(Debug, thiserror::Error)]
pub enum SetUpScriptError {
    /// There is no branch it could be on.
    #[error(transparent)]
    Base(#[from] BaseBranchError),
    /// It was not committed.
    #[error(transparent)]
    Commit(#[from] CommitError),
}

/// Why the base branch stays.
#[derive(Debug, thiserror::Error)]
pub enum SetBaseBranchError {
    /// It cannot be the base.
    #[error(transparent)]
    Branch(#[from] BaseBranchError),
    /// The project refuses.
    #[error(transparent)]
    Refused(#[from] WishError),
}
