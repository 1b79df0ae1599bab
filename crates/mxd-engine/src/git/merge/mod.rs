//! Merging one branch into another where nobody is disturbed.
//!
//! The merge is computed without a checkout and becomes a commit that no branch has yet. The project's check runs on it
//! in a scratch worktree. Then the target branch moves from where it was to the merge, or not at all. A checkout of the
//! target that has changes is never touched; one that is clean follows its branch.

mod conflict;
mod land;
mod made;
mod scratch;
mod settings;

use std::io;
use std::path::PathBuf;

pub use conflict::{Conflict, Conflicts, Hunk};
pub(super) use land::{Landed, land_own};
pub use made::find_made;
pub use settings::{SettingsChange, SettingsRule};

use super::changes::Names;
use super::errand::{Errand, Ran};
use super::error::GitError;
use super::identity::Identity;
use super::limits;
use super::names::{Branch, ObjectId};
use super::refs::RefError;
use super::repository::{Place, Repository};
use super::run::Call;
use super::space::{SpaceError, Watermark};

/// A merge to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The branch whose work is wanted.
    pub from: Branch,
    /// The branch that is to have it.
    pub into: Branch,
    /// What the merge commit says.
    pub message: String,
    /// Who makes the commit.
    pub who: Identity,
    /// What must succeed on the merged files before the branch moves: a program and its arguments.
    pub check: Option<Vec<std::ffi::OsString>>,
    /// Whether it may change the settings and hooks of the target.
    pub settings: SettingsRule,
    /// A folder in which the scratch worktree is made.
    pub scratch: PathBuf,
    /// What has to stay free on the disk.
    pub room: Watermark,
}

/// What a merge came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The target has the work.
    Merged(Merged),
    /// It had it before.
    AlreadyMerged {
        /// Where the target stands.
        at: ObjectId,
    },
    /// Both changed the same, and somebody has to decide. Nothing was changed.
    Conflicts(Conflicts),
    /// It changes settings or hooks, which nobody accepted. Nothing was changed.
    ChangesSettings(SettingsChange),
    /// The check failed on the merged files. Nothing was changed.
    CheckFailed {
        /// What it said.
        ran: Ran,
        /// The tree it was run on.
        tree: ObjectId,
    },
    /// Somebody moved the target meanwhile. Nothing was changed; ask again.
    Overtaken {
        /// Where the target stood at the beginning.
        expected: ObjectId,
    },
    /// A checkout of the target is in the way. Nothing was changed.
    Blocked(Blocked),
}

/// A merge that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The merge commit.
    pub commit: ObjectId,
    /// Its tree.
    pub tree: ObjectId,
    /// Where the target was before.
    pub from: ObjectId,
    /// Files that changed in the target.
    pub files: Names,
    /// How much changed.
    pub stat: Stat,
    /// What the check said, if there was one.
    pub check: Option<Ran>,
    /// The checkout that followed, if the target is checked out.
    pub followed: Option<PathBuf>,
}

/// How much changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stat {
    /// Files.
    pub files: usize,
    /// Lines that are new.
    pub insertions: usize,
    /// Lines that are gone.
    pub deletions: usize,
}

/// Why a checkout of the target kept it from moving.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blocked {
    /// It has changes of files that the merge changes, and they are not committed.
    Dirty {
        /// Which checkout.
        folder: PathBuf,
        /// What is changed.
        files: Names,
    },
    /// Something is going on in it, such as a rebase.
    Busy {
        /// Which checkout.
        folder: PathBuf,
        /// What.
        doing: &'static str,
    },
    /// It could not follow.
    Stuck {
        /// Which checkout.
        folder: PathBuf,
        /// What git said.
        said: String,
    },
    /// Files with a filter such as LFS changed, and no filter is run for agents.
    Filtered {
        /// Which checkout.
        folder: PathBuf,
        /// Which files.
        files: Names,
        /// The merge, to be taken over by hand.
        commit: ObjectId,
    },
    /// Several checkouts have the branch.
    Several {
        /// Which.
        folders: Vec<PathBuf>,
    },
}

impl std::fmt::Display for Blocked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Dirty { folder, files } => {
                let folder = folder.display();
                write!(
                    f,
                    "the user has changed the same files in {folder} ({files}) and not committed them; the user commits or stashes \
                     them, then it can be merged"
                )
            }
            Self::Busy { folder, doing } => {
                write!(f, "{} is in the middle of {doing}; finish it, then ask again", folder.display())
            }
            Self::Stuck { folder, said } => {
                write!(f, "{} cannot follow its branch: {said}", folder.display())
            }
            Self::Filtered { folder, files, commit } => write!(
                f,
                "{} has files with a filter such as LFS that change ({files}); run `git merge --ff-only {commit}` there",
                folder.display()
            ),
            Self::Several { folders } => {
                let folders: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
                write!(
                    f,
                    "several checkouts have the branch: {}; switch all but one away",
                    folders.join(", ")
                )
            }
        }
    }
}

/// Why a merge could not be tried.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A branch is not there.
    #[error("there is no branch {branch}")]
    NoBranch {
        /// Which.
        branch: Branch,
    },
    /// The branches have nothing in common.
    #[error("{from} and {into} have no commit in common, so there is nothing to merge by")]
    Unrelated {
        /// The branch whose work is wanted.
        from: Branch,
        /// The branch that is to have it.
        into: Branch,
    },
    /// The check could not be started.
    #[error("the check could not be run: {0}")]
    NotRun(io::Error),
    /// An agent's own git could not be started.
    #[error("the checkout of the target could not be told to follow: {0}")]
    NotFollowed(io::Error),
    /// The disk is too full.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// A branch is not what it seems.
    #[error(transparent)]
    Ref(#[from] RefError),
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// The two ends of a merge.
#[derive(Debug, Clone)]
struct Ends {
    from: ObjectId,
    into: ObjectId,
}

/// Merges one branch into another.
///
/// `run` runs the check in the scratch worktree, and an agent's own git where the target is checked out by an agent;
/// see [`Errand`].
///
/// # Errors
///
/// When it could not be tried. Whatever happens, the target has all of the merge or nothing, and nothing is left
/// behind.
pub async fn merge<R, F>(repository: &Repository, request: &Request, run: R) -> Result<Outcome, MergeError>
where
    R: Fn(Errand) -> F,
    F: Future<Output = io::Result<Ran>>,
{
    repository.import_branch(&request.from).await?;
    repository.import_branch(&request.into).await?;
    scratch::sweep(repository, request).await?;
    let ends = ends(repository, request).await?;
    land::recover(repository, request, &ends).await?;
    let ends = self::ends(repository, request).await?;
    if repository.is_ancestor(&ends.from, &ends.into).await? {
        return Ok(Outcome::AlreadyMerged { at: ends.into });
    }
    let tree = match join(repository, request, &ends).await? {
        Joined::Clean(tree) => tree,
        Joined::Conflicts(conflicts) => return Ok(Outcome::Conflicts(conflicts)),
    };
    if let Some(change) = settings::unaccepted(repository, &request.settings, (&ends.into, &tree)).await? {
        return Ok(Outcome::ChangesSettings(change));
    }
    let commit = commit(repository, request, &ends, &tree).await?;
    let checked = match &request.check {
        None => None,
        Some(check) => {
            let ran = scratch::check(repository, request, (&commit, check), &run).await?;
            if !ran.is_success() {
                return Ok(Outcome::CheckFailed { ran, tree });
            }
            Some(ran)
        }
    };
    let followed = match land::land(repository, request, (&ends.into, &commit), &run).await? {
        land::Landed::Moved(followed) => followed,
        land::Landed::Overtaken => return Ok(Outcome::Overtaken { expected: ends.into }),
        land::Landed::Blocked(blocked) => return Ok(Outcome::Blocked(blocked)),
    };
    let (files, stat) = repository.stat(&ends.into, &commit, limits::MERGE_FILES).await?;
    Ok(Outcome::Merged(Merged { commit, tree, from: ends.into, files, stat, check: checked, followed }))
}

async fn ends(repository: &Repository, request: &Request) -> Result<Ends, MergeError> {
    let missing = |branch: &Branch| MergeError::NoBranch { branch: branch.clone() };
    let from = repository.branch(&request.from).await?.ok_or_else(|| missing(&request.from))?;
    let into = repository.branch(&request.into).await?.ok_or_else(|| missing(&request.into))?;
    Ok(Ends { from, into })
}

enum Joined {
    Clean(ObjectId),
    Conflicts(Conflicts),
}

/// Computes the merge. No file of any checkout takes part in it.
async fn join(repository: &Repository, request: &Request, ends: &Ends) -> Result<Joined, MergeError> {
    let settings = repository.without_programs().await?;
    let call = Call::new(["merge-tree", "--write-tree", "-z", "--messages", "--name-only"]);
    let call = call.args([ends.into.as_str(), ends.from.as_str()]).settings(&settings).accepts(&[1]);
    // Without a checkout, the target's own rules for its files have to be named.
    let call = call.env("GIT_ATTR_SOURCE", ends.into.as_str());
    let answer = match repository.ask(Place::Store, call).await {
        Err(GitError::Failed { said, .. }) if said.contains("unrelated histories") => {
            return Err(MergeError::Unrelated { from: request.from.clone(), into: request.into.clone() });
        }
        ended => ended?,
    };
    let tree = answer.parts().next().and_then(|tree| String::from_utf8_lossy(tree).parse().ok());
    let tree: ObjectId = tree.ok_or_else(|| answer.odd())?;
    if answer.code == 0 {
        return Ok(Joined::Clean(tree));
    }
    Ok(Joined::Conflicts(conflict::describe(repository, &tree, &answer).await?))
}

async fn commit(
    repository: &Repository,
    request: &Request,
    ends: &Ends,
    tree: &ObjectId,
) -> Result<ObjectId, MergeError> {
    let Identity { name, email } = &request.who;
    let call = Call::new(["commit-tree", tree.as_str(), "-p", ends.into.as_str(), "-p", ends.from.as_str()])
        .args(["-m", &request.message])
        .env("GIT_AUTHOR_NAME", name)
        .env("GIT_AUTHOR_EMAIL", email)
        .env("GIT_COMMITTER_NAME", name)
        .env("GIT_COMMITTER_EMAIL", email);
    let answer = repository.ask(Place::Store, call).await?;
    Ok(answer.line().parse().map_err(|_| answer.odd())?)
}
