//! The files of persistent tasks, `.mxd/tasks/<id>.json`: read from a commit and never from a checkout, written as a commit
//! on a branch.
//!
//! Whoever can have a branch merged can put anything there. So nothing but plain files of a bounded number and size is
//! read, and only their names and bytes are handed on.

use std::fs;

use super::blobs::{PLAIN, next_blob};
use super::error::GitError;
use super::identity::Identity;
use super::merge::{Landed, MergeError, land_own};
use super::names::{Branch, ObjectId, readable};
use super::repository::{Place, Repository};
use super::run::Call;

/// The folder of the files.
pub const FOLDER: &str = ".mxd/tasks";
/// Files that are read; further ones are refused.
pub const MOST_FILES: usize = 256;
/// Bytes of a file: more than the longest description, as JSON, can need.
pub const MOST_BYTES: u64 = 256 * 1024;

/// Bytes of all files together.
const MOST_BYTES_TOGETHER: u64 = 4 * 1024 * 1024;

/// Something that stands in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name without the folder, made readable.
    pub name: String,
    /// Its bytes, or why it is not read.
    pub content: Result<Vec<u8>, &'static str>,
}

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// Its name without the folder.
    pub name: String,
    /// What is to be in it; nothing to remove it.
    pub content: Option<Vec<u8>>,
}

/// What became of a commit with changed files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// The branch has it.
    Committed,
    /// Somebody moved the branch meanwhile; nothing was changed.
    Overtaken,
    /// A checkout of the branch is in the way; nothing was changed.
    Blocked(String),
}

/// What stands in the folder in a commit.
///
/// # Errors
///
/// When git fails.
pub async fn list(repository: &Repository, commit: &ObjectId) -> Result<Vec<Listed>, GitError> {
    let call = Call::new(["ls-tree", "-z", "-l", commit.as_str(), "--", &format!("{FOLDER}/")]);
    let answer = repository.ask(Place::Store, call).await?;
    let entries = judged(answer.parts().filter_map(Entry::parse));
    let wanted = entries.iter().filter(|(_, problem)| problem.is_none());
    let names: String = wanted.map(|(entry, _)| format!("{}\n", entry.id)).collect();
    let answer = repository.ask(Place::Store, Call::new(["cat-file", "--batch"]).input(names)).await?;
    let mut rest = answer.stdout.as_slice();
    let mut listed = Vec::new();
    for (entry, problem) in entries {
        let content = match problem {
            Some(problem) => Err(problem),
            None => {
                let (bytes, after) = next_blob(rest).ok_or_else(|| answer.odd())?;
                rest = after;
                Ok(bytes.to_vec())
            }
        };
        listed.push(Listed { name: entry.name, content });
    }
    Ok(listed)
}

/// Every entry, and what keeps it from being read.
fn judged(entries: impl Iterator<Item = Entry>) -> Vec<(Entry, Option<&'static str>)> {
    let mut together = 0;
    let judge = |(index, entry): (usize, Entry)| {
        let problem = match entry.problem() {
            Some(problem) => Some(problem),
            None if index >= MOST_FILES => Some("there are too many files before it"),
            None => {
                together += entry.size.unwrap_or(MOST_BYTES);
                (together > MOST_BYTES_TOGETHER).then_some("the files before it are too large together")
            }
        };
        (entry, problem)
    };
    entries.enumerate().map(judge).collect()
}

struct Entry {
    mode: String,
    id: String,
    /// None for what is no file.
    size: Option<u64>,
    name: String,
}

impl Entry {
    /// A line of `git ls-tree -l`: mode, kind, id, size, a tab, and the path.
    fn parse(line: &[u8]) -> Option<Self> {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let about = std::str::from_utf8(&line[..tab]).ok()?;
        let mut words = about.split_ascii_whitespace();
        let (mode, _kind, id, size) = (words.next()?, words.next()?, words.next()?, words.next()?);
        let path = readable(&line[tab + 1..]);
        let name = path.strip_prefix(FOLDER)?.strip_prefix('/')?.to_owned();
        Some(Self { mode: mode.to_owned(), id: id.to_owned(), size: size.parse().ok(), name })
    }

    fn problem(&self) -> Option<&'static str> {
        match self.size {
            _ if self.mode != PLAIN => Some("it is not a plain file"),
            Some(size) if size <= MOST_BYTES => None,
            Some(_) | None => Some("it is too large"),
        }
    }
}

/// Commits changed files on a branch that stands at `base`. Whatever else is changed in a checkout of the branch stays as it
/// is, staged or not.
///
/// # Errors
///
/// When git fails.
pub async fn write(
    repository: &Repository,
    (branch, base): (&Branch, &ObjectId),
    changes: &[Write],
    (message, who): (&str, &Identity),
) -> Result<Written, MergeError> {
    let tree = changed_tree(repository, base, changes).await?;
    let Identity { name, email } = who;
    let call = Call::new(["commit-tree", tree.as_str(), "-p", base.as_str(), "-m", message])
        .env("GIT_AUTHOR_NAME", name)
        .env("GIT_AUTHOR_EMAIL", email)
        .env("GIT_COMMITTER_NAME", name)
        .env("GIT_COMMITTER_EMAIL", email);
    let answer = repository.ask(Place::Store, call).await?;
    let commit: ObjectId = answer.line().parse().map_err(|_| answer.odd())?;
    Ok(match land_own(repository, branch, (base, &commit)).await? {
        Landed::Moved(_) => Written::Committed,
        Landed::Overtaken => Written::Overtaken,
        Landed::Blocked(blocked) => Written::Blocked(blocked.to_string()),
    })
}

/// The tree of a commit with these changes, made with an index of its own.
async fn changed_tree(
    repository: &Repository,
    base: &ObjectId,
    changes: &[Write],
) -> Result<ObjectId, GitError> {
    let mut script = Vec::new();
    for change in changes {
        let path = format!("{FOLDER}/{}", change.name);
        match &change.content {
            Some(content) => {
                let call = Call::new(["hash-object", "-w", "--no-filters", "--stdin"]).input(content.clone());
                let id = repository.ask(Place::Store, call).await?.line();
                script.extend_from_slice(format!("{PLAIN} {id}\t{path}\0").as_bytes());
            }
            None => script.extend_from_slice(format!("0 {}\t{path}\0", base.nothing()).as_bytes()),
        }
    }
    let folder = repository.common().join("mxd");
    fs::create_dir_all(&folder).map_err(GitError::file("make", &folder))?;
    let index = folder.join("tasks.index");
    let place = Place::Index(&index);
    repository.ask(place, Call::new(["read-tree", base.as_str()])).await?;
    repository.ask(place, Call::new(["update-index", "-z", "--index-info"]).input(script)).await?;
    let answer = repository.ask(place, Call::new(["write-tree"])).await?;
    let _ = fs::remove_file(&index);
    answer.line().parse().map_err(|_| answer.odd())
}
