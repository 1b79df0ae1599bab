//! Branches, read with suspicion and moved by compare-and-swap.

use std::fs;
use std::path::Path;

use super::admin;
use super::error::GitError;
use super::lane::Turn;
use super::names::{Branch, NAMESPACE, ObjectId};
use super::repository::{Place, Repository};
use super::run::Call;

/// Why a branch is not read or moved.
#[derive(Debug, thiserror::Error)]
pub enum RefError {
    /// Its name is there, but it is not a branch of its own.
    #[error("{name} {what}, so moving it would move something else; remove it and make it anew")]
    NotItsOwn {
        /// Which.
        name: String,
        /// What it is instead.
        what: &'static str,
    },
    /// Somebody else moved it first.
    #[error("{name} moved in the meantime: it was expected at {expected}")]
    Moved {
        /// Which.
        name: String,
        /// Where it was supposed to be.
        expected: String,
    },
    /// The agent and somebody else moved it, each from the same commit.
    #[error(
        "{branch} was moved by its agent to {theirs} and by somebody else to another commit; run `git merge {theirs}` in \
         its worktree, then try again"
    )]
    WentApart {
        /// Which branch.
        branch: Branch,
        /// Where the agent has it.
        theirs: ObjectId,
    },
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// A ref and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ref {
    pub(super) name: String,
    pub(super) commit: ObjectId,
}

impl Repository {
    /// Whether the user has a branch whose name keeps git from making those of tasks below it.
    pub(crate) async fn has_branch_in_the_way(&self) -> Result<bool, RefError> {
        Ok(self.read_ref(&format!("refs/heads/{NAMESPACE}")).await?.is_some())
    }

    /// Where a branch stands.
    ///
    /// # Errors
    ///
    /// When it is a link to something else, or git fails.
    pub async fn branch(&self, branch: &Branch) -> Result<Option<ObjectId>, RefError> {
        self.read_ref(&branch.refname()).await
    }

    /// Where a ref stands. One that leads to another is refused.
    pub(super) async fn read_ref(&self, name: &str) -> Result<Option<ObjectId>, RefError> {
        let found = self.refs_below(name).await?;
        Ok(found.into_iter().find(|found| found.name == name).map(|found| found.commit))
    }

    /// All refs of this name or below it. One that leads to another is refused.
    pub(super) async fn refs_below(&self, prefix: &str) -> Result<Vec<Ref>, RefError> {
        refuse_links(self.common(), prefix)?;
        let format = "--format=%(objectname) %(objecttype) %(refname) %(symref)";
        let answer = self.ask(Place::Store, Call::new(["for-each-ref", format, prefix])).await?;
        let mut refs = Vec::new();
        for line in answer.text().lines() {
            let mut words = line.split(' ');
            let (id, kind) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let (name, leads_to) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            if !leads_to.is_empty() {
                return Err(RefError::NotItsOwn { name: name.to_owned(), what: "leads to another branch" });
            }
            if kind != "commit" {
                return Err(RefError::NotItsOwn { name: name.to_owned(), what: "is not a commit" });
            }
            refs.push(Ref { name: name.to_owned(), commit: id.parse().map_err(|_| answer.odd())? });
        }
        Ok(refs)
    }

    /// Moves a ref if it still stands where it did; from nothing makes it, to nothing deletes it.
    pub(super) async fn swap_ref(&self, turn: &Turn<'_>, swap: Swap<'_>) -> Result<(), RefError> {
        refuse_links(self.common(), swap.name)?;
        let (from, to) = match (swap.from, swap.to) {
            (None, None) => return Ok(()),
            (None, Some(to)) => (to.nothing(), to.to_string()),
            (Some(from), None) => (from.to_string(), from.nothing()),
            (Some(from), Some(to)) => (from.to_string(), to.to_string()),
        };
        let call = Call::new(["update-ref", "--no-deref", "-m", swap.why, swap.name, &to, &from]);
        match self.change(turn, Place::Store, call).await {
            Ok(_) => Ok(()),
            Err(GitError::Failed { said, .. }) if is_other_value(&said) => {
                Err(RefError::Moved { name: swap.name.to_owned(), expected: from })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Whether one commit is in the history of another.
    pub(super) async fn is_ancestor(&self, old: &ObjectId, new: &ObjectId) -> Result<bool, GitError> {
        let call = Call::new(["merge-base", "--is-ancestor", old.as_str(), new.as_str()]).accepts(&[1]);
        Ok(self.ask(Place::Store, call).await?.code == 0)
    }

    /// The tree of a commit.
    pub(super) async fn tree(&self, commit: &ObjectId) -> Result<ObjectId, GitError> {
        let call = Call::new(["rev-parse", "--verify", "--end-of-options", &format!("{commit}^{{tree}}")]);
        let answer = self.ask(Place::Store, call).await?;
        answer.line().lines().last().and_then(|line| line.parse().ok()).ok_or_else(|| answer.odd())
    }
}

/// A ref, from where and to where.
#[derive(Debug, Clone, Copy)]
pub(super) struct Swap<'a> {
    pub(super) name: &'a str,
    pub(super) from: Option<&'a ObjectId>,
    pub(super) to: Option<&'a ObjectId>,
    /// What the history of the ref says about it.
    pub(super) why: &'a str,
}

fn is_other_value(said: &str) -> bool {
    ["but expected", "reference already exists", "unable to resolve reference", "reference is missing"]
        .iter()
        .any(|words| said.contains(words))
}

/// Refuses files in place of a ref, or on the way to it, that are not what git makes: an agent may write to the
/// folder of its branches.
fn refuse_links(common: &Path, name: &str) -> Result<(), RefError> {
    let mut path = common.to_owned();
    for part in name.split('/') {
        path.push(part);
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => {}
            Ok(found) if found.is_file() => return refuse_symbolic(&path, name),
            Ok(_) => return Err(GitError::Tampered { path, what: "a link or a device" }.into()),
            Err(_) => return Ok(()),
        }
    }
    Ok(())
}

fn refuse_symbolic(path: &Path, name: &str) -> Result<(), RefError> {
    match admin::read_small(path) {
        Ok(text) if text.trim_start().starts_with("ref:") => {
            Err(RefError::NotItsOwn { name: name.to_owned(), what: "leads to another branch" })
        }
        _ => Ok(()),
    }
}
