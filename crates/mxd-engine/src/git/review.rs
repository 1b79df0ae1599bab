//! What a task has changed, file by file: everything between where its branch left its base and its files as they are
//! now, committed or not.

use super::changes::Detail;
use super::error::GitError;
use super::inspect::Files;
use super::limits;
use super::names::{ObjectId, readable};
use super::record;
use super::refs::RefError;
use super::repository::{Place, Repository};
use super::run::{Call, Output, Overflow};
use super::worktree::Worktree;

/// What a task has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// The commit that its files are compared with.
    pub base: ObjectId,
    /// Where its branch stands; none when the agent deleted it.
    pub head: Option<ObjectId>,
    /// Whether something is not committed.
    pub dirty: bool,
    /// The files, by path.
    pub files: Vec<FileChange>,
    /// Whether something was left out, because it is too much or because git refuses a file of this name.
    pub truncated: bool,
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Where it is.
    pub path: String,
    /// Where it was, when it has another name now.
    pub old_path: Option<String>,
    /// What happened to it.
    pub status: FileStatus,
    /// Lines that are new.
    pub additions: u64,
    /// Lines that are gone.
    pub deletions: u64,
    /// The difference as text, unless it is too long or no text.
    pub patch: Option<String>,
    /// Whether it is no text.
    pub binary: bool,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileStatus {
    /// It is new.
    Added,
    /// It has other content.
    Modified,
    /// It is gone.
    Deleted,
    /// It has another name.
    Renamed,
    /// It is something else now: a link, a program.
    Other,
}

const PATCH: &[&str] = &["-M", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules"];

/// Looks at what a worktree has changed.
///
/// # Errors
///
/// When a branch is not what it seems, or git fails.
pub async fn review(repository: &Repository, worktree: &Worktree) -> Result<Review, RefError> {
    let turn = repository.task_turn(worktree.task).await;
    let head = repository.import(worktree, &turn).await?.commit;
    let base = base(repository, worktree, head.as_ref()).await?;
    let index = record::index(repository.common(), worktree.task);
    let inspected = repository.inspect(&worktree.folder, &index, Files::Read).await?;
    let place = Place::Files(&inspected);
    let start = head.as_ref().unwrap_or(&worktree.base);
    repository.ask(place, Call::new(["read-tree", "--reset", start.as_str()])).await?;
    let dirty = !repository.changes(place, Detail::Untracked).await?.is_empty();
    let mut is_refused = false;
    if dirty {
        // The index is ours alone, so files that git does not know can be shown without anything being added. One that git
        // refuses, such as a link with the name `.gitmodules`, does not hide the others.
        let add = Call::new(["add", "--intent-to-add", "--ignore-errors", "--all", "--", "."]).accepts(&[1]);
        is_refused = repository.ask(place, add).await?.code == 1;
    }
    let look = |more: &[&str]| {
        let call = Call::new(["diff-index", "-r"]).args(more).args(PATCH).args([base.as_str(), "--"]);
        call.at_most(limits::REVIEW, Overflow::Cut)
    };
    let names = repository.ask(place, look(&["-z", "--name-status"])).await?;
    let counts = repository.ask(place, look(&["-z", "--numstat"])).await?;
    let patches = repository.ask(place, look(&["-p"])).await?;
    let mut files = named(&names)?;
    let truncated = is_refused || names.cut || patches.cut || files.len() > limits::REVIEW_FILES;
    files.truncate(limits::REVIEW_FILES);
    counted(&counts, &mut files)?;
    let left_out = add_patches(&patches, &mut files);
    Ok(Review { base, head, dirty, files, truncated: truncated || left_out })
}

/// Where the branch left its base. What was merged from the base since then is not the task's own work.
async fn base(
    repository: &Repository,
    worktree: &Worktree,
    head: Option<&ObjectId>,
) -> Result<ObjectId, RefError> {
    let now = match &worktree.base_branch {
        Some(branch) => repository.branch(branch).await?,
        None => None,
    };
    let (Some(now), Some(head)) = (now, head) else { return Ok(worktree.base.clone()) };
    let call = Call::new(["merge-base", now.as_str(), head.as_str()]).accepts(&[1]);
    let answer = repository.ask(Place::Store, call).await?;
    Ok(answer.line().parse().unwrap_or_else(|_| worktree.base.clone()))
}

fn named(answer: &Output) -> Result<Vec<FileChange>, GitError> {
    let mut parts = answer.parts();
    let mut files = Vec::new();
    while let Some(letter) = parts.next() {
        let status = match letter.first() {
            Some(b'A') => FileStatus::Added,
            Some(b'M') => FileStatus::Modified,
            Some(b'D') => FileStatus::Deleted,
            Some(b'R') => FileStatus::Renamed,
            _ => FileStatus::Other,
        };
        let Some(first) = parts.next() else {
            if answer.cut {
                break;
            }
            return Err(answer.odd());
        };
        let (old_path, path) = match status {
            FileStatus::Renamed => (Some(readable(first)), parts.next().map(readable)),
            _ => (None, Some(readable(first))),
        };
        let Some(path) = path else { break };
        files.push(FileChange {
            path,
            old_path,
            status,
            additions: 0,
            deletions: 0,
            patch: None,
            binary: false,
        });
    }
    Ok(files)
}

/// The numbers come in the order of the names.
fn counted(answer: &Output, files: &mut [FileChange]) -> Result<(), GitError> {
    let mut parts = answer.parts();
    for file in files {
        let Some(line) = parts.next() else { return Ok(()) };
        let mut columns = line.splitn(3, |byte| *byte == b'\t');
        let mut number = || std::str::from_utf8(columns.next()?).ok();
        let (Some(new), Some(gone)) = (number(), number()) else { return Err(answer.odd()) };
        // Files that are not text have dashes in place of numbers.
        file.binary = new == "-";
        (file.additions, file.deletions) = (new.parse().unwrap_or(0), gone.parse().unwrap_or(0));
        if columns.next().is_none_or(<[u8]>::is_empty) {
            let _old_and_new = (parts.next(), parts.next());
        }
    }
    Ok(())
}

/// The texts come in the order of the names, too; tells whether one was left out.
fn add_patches(answer: &Output, files: &mut [FileChange]) -> bool {
    const BEGINNING: &str = "diff --git ";
    let text = answer.text();
    let mut starts: Vec<usize> = text.match_indices(BEGINNING).map(|(at, _)| at).collect();
    starts.retain(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n');
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let pieces: Vec<&str> = starts.iter().zip(ends).map(|(start, end)| &text[*start..end]).collect();
    let whole = pieces.len().saturating_sub(usize::from(answer.cut));
    let (mut left_out, mut next) = (false, 0);
    for file in files {
        // What became something else is told as one that went and one that came.
        let count = if file.status == FileStatus::Other { 2 } else { 1 };
        let (from, to) = (next, (next + count).min(pieces.len()));
        next += count;
        let own = pieces.get(from..to).filter(|_| to <= whole && from < to).map(<[&str]>::concat);
        match own.filter(|piece| piece.len() <= limits::REVIEW_PATCH) {
            Some(piece) if !file.binary => file.patch = Some(piece),
            Some(_) => {}
            None => left_out = true,
        }
    }
    left_out
}
