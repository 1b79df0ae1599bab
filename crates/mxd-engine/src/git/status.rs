//! How a worktree stands: its branch against its base, and what is not committed.

use super::changes::{Detail, Names};
use super::error::GitError;
use super::import::Tip;
use super::inspect::Files;
use super::limits;
use super::merge::Stat;
use super::names::{Branch, ObjectId, readable};
use super::record;
use super::refs::RefError;
use super::repository::{Place, Repository};
use super::run::{Call, Overflow};
use super::worktree::Worktree;

/// How a worktree stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Where its branch stands; none when the agent deleted it.
    pub head: Option<ObjectId>,
    /// The tree of that commit.
    pub tree: Option<ObjectId>,
    /// What the agent has checked out.
    pub stands: Stands,
    /// The commit that the agent has checked out, when its branch does not have it.
    pub elsewhere: Option<ObjectId>,
    /// The base, now.
    pub base: Drift,
    /// What the branch changes.
    pub stat: Stat,
    /// Files that are not committed, also those that git does not know.
    pub dirty: Names,
}

/// What is checked out in a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stands {
    /// Its own branch.
    OnItsBranch,
    /// Another branch.
    OnAnother(Branch),
    /// A commit without a branch.
    Detached(ObjectId),
    /// Something that cannot be told.
    Unknown,
}

/// How far a branch and its base went apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drift {
    /// Where the base branch stands; none when there is none any more.
    pub now: Option<ObjectId>,
    /// Commits of the branch that the base does not have.
    pub ahead: usize,
    /// Commits of the base that the branch does not have.
    pub behind: usize,
}

/// A difference as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// The text, or its beginning.
    pub text: String,
    /// Whether there is more.
    pub cut: bool,
}

/// Looks at a worktree. What the agent did to its own index does not matter: files are compared by another one.
///
/// # Errors
///
/// When a branch is not what it seems, or git fails.
pub async fn status(repository: &Repository, worktree: &Worktree) -> Result<Status, RefError> {
    let turn = repository.task_turn(worktree.task).await;
    let Tip { commit: head, stands, at } = repository.import(worktree, &turn).await?;
    let compared = at.or_else(|| head.clone());
    let dirty = dirty(repository, worktree, compared.as_ref().unwrap_or(&worktree.base)).await?;
    let Some(at) = &head else {
        let (base, stat) = (Drift::default(), Stat::default());
        return Ok(Status { head, tree: None, stands, elsewhere: compared, base, stat, dirty });
    };
    let elsewhere = match compared {
        Some(compared) if !repository.is_ancestor(&compared, at).await? => Some(compared),
        _ => None,
    };
    let tree = Some(repository.tree(at).await?);
    let base = drift(repository, worktree, at).await?;
    let (_, stat) = repository.stat(&worktree.base, at, 0).await?;
    Ok(Status { head, tree, stands, elsewhere, base, stat, dirty })
}

async fn dirty(repository: &Repository, worktree: &Worktree, head: &ObjectId) -> Result<Names, GitError> {
    let index = record::index(repository.common(), worktree.task);
    let inspected = repository.inspect(&worktree.folder, &index, Files::Read).await?;
    let place = Place::Files(&inspected);
    repository.ask(place, Call::new(["read-tree", "--reset", head.as_str()])).await?;
    let changes = repository.changes(place, Detail::Untracked).await?;
    Ok(Names::of(changes.iter().map(|change| change.path.as_path()), limits::DIRTY_FILES))
}

async fn drift(repository: &Repository, worktree: &Worktree, head: &ObjectId) -> Result<Drift, RefError> {
    let now = match &worktree.base_branch {
        Some(branch) => repository.branch(branch).await?,
        None => None,
    };
    let base = now.as_ref().unwrap_or(&worktree.base);
    let call = Call::new(["rev-list", "--left-right", "--count", &format!("{head}...{base}")]);
    let answer = repository.ask(Place::Store, call).await?;
    let mut counts = answer
        .text()
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<Vec<usize>, _>>()
        .unwrap_or_default();
    match (counts.pop(), counts.pop()) {
        (Some(behind), Some(ahead)) => Ok(Drift { now, ahead, behind }),
        _ => Err(answer.odd().into()),
    }
}

/// The difference between two commits as text, at most so many bytes of it.
///
/// # Errors
///
/// When git fails.
pub async fn diff(
    repository: &Repository,
    ends: (&ObjectId, &ObjectId),
    most: usize,
) -> Result<Diff, GitError> {
    let call = Call::new(["diff-tree", "-r", "-p", "-M", "--no-color", "--no-ext-diff", "--no-textconv"]);
    let call =
        call.args(["--ignore-submodules", ends.0.as_str(), ends.1.as_str()]).at_most(most, Overflow::Cut);
    let answer = repository.ask(Place::Store, call).await?;
    Ok(Diff { text: answer.text(), cut: answer.cut })
}

impl Repository {
    /// Which files differ between two commits, and how much.
    pub(super) async fn stat(
        &self,
        from: &ObjectId,
        to: &ObjectId,
        names: usize,
    ) -> Result<(Names, Stat), GitError> {
        let call = Call::new([
            "diff-tree",
            "-r",
            "-z",
            "--numstat",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
        ]);
        let answer = self.ask(Place::Store, call.args([from.as_str(), to.as_str()])).await?;
        let mut stat = Stat::default();
        let mut files = Names::default();
        for line in answer.parts() {
            let mut columns = line.splitn(3, |byte| *byte == b'\t');
            let mut number = || std::str::from_utf8(columns.next()?).ok()?.parse().ok();
            // Files that are not text have dashes in place of numbers.
            let (new, gone): (Option<usize>, Option<usize>) = (number(), number());
            stat = Stat {
                files: stat.files + 1,
                insertions: stat.insertions + new.unwrap_or(0),
                deletions: stat.deletions + gone.unwrap_or(0),
            };
            files.count += 1;
            if files.first.len() < names {
                files.first.extend(columns.next().map(readable));
            }
        }
        Ok((files, stat))
    }
}
