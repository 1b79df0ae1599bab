//! What was in removed worktrees, kept by `refs/mxd/grave/<task>`.
//!
//! A grave is a commit: its tree has all files as they were, its first parent is where the branch stood, and further
//! parents hold whatever else would have been lost: side branches, commits that were left behind, what was staged, and
//! the task's earlier grave.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use mxd_core::id::TaskId;

use super::blobs::{self, Stored};
use super::error::GitError;
use super::files::is_vacant;
use super::limits;
use super::names::ObjectId;
use super::refs::RefError;
use super::repository::{Place, Repository};
use super::run::Call;

/// A folder or file with this name would be taken for a repository, and no tree can have it.
const REPOSITORY: &str = ".git";
const KEPT: &str = ".kept";

/// What was in one removed worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grave {
    /// Whose worktree it was.
    pub task: TaskId,
    /// The commit that holds it.
    pub commit: ObjectId,
    /// When it was made, in seconds since 1970.
    pub at: i64,
    /// What it says about itself.
    pub text: String,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// How many files.
    pub files: usize,
    /// Where the branch stood.
    pub head: ObjectId,
}

/// Why nothing came back.
#[derive(Debug, thiserror::Error)]
pub enum GraveError {
    /// There is no grave.
    #[error("nothing is kept of task {task}")]
    None {
        /// Of which task.
        task: TaskId,
    },
    /// Something is at the place.
    #[error("{folder} is there already and not empty; name a new folder", folder = folder.display())]
    Occupied {
        /// Which place.
        folder: PathBuf,
    },
    /// The ref is not what it seems.
    #[error(transparent)]
    Ref(#[from] RefError),
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// The name of a task's grave.
pub(super) fn refname(task: TaskId) -> String {
    format!("refs/mxd/grave/{task}")
}

/// All graves, the oldest task first.
///
/// # Errors
///
/// When git fails.
pub async fn list(repository: &Repository) -> Result<Vec<Grave>, GitError> {
    let format = "--format=%(refname:lstrip=3)%00%(objectname)%00%(creatordate:unix)%00%(contents)%00%01";
    let count = format!("--count={}", limits::GRAVES);
    let call = Call::new(["for-each-ref", format, &count, "refs/mxd/grave"]);
    let answer = repository.ask(Place::Store, call).await?;
    let text = answer.text();
    let mut graves = Vec::new();
    for entry in text.split('\u{1}') {
        let mut parts = entry.trim_start_matches('\n').split('\0');
        let (Some(task), Some(commit)) = (parts.next(), parts.next()) else { continue };
        let (at, about) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let (Ok(task), Ok(commit)) = (task.parse(), commit.parse()) else { return Err(answer.odd()) };
        graves.push(Grave { task, commit, at: at.parse().unwrap_or(0), text: about.trim().to_owned() });
    }
    Ok(graves)
}

/// Puts the files of a grave into a new folder, byte for byte. The grave stays.
///
/// # Errors
///
/// When there is none, or the folder cannot be filled.
pub async fn restore(repository: &Repository, task: TaskId, folder: &Path) -> Result<Restored, GraveError> {
    let commit = repository.read_ref(&refname(task)).await?.ok_or(GraveError::None { task })?;
    if !is_vacant(folder).map_err(GitError::file("look into", folder))? {
        return Err(GraveError::Occupied { folder: folder.to_owned() });
    }
    std::fs::create_dir_all(folder).map_err(GitError::file("make", folder))?;
    let folder = std::fs::canonicalize(folder).map_err(GitError::file("find", folder))?;
    let files = files_of(repository, &commit).await?;
    blobs::write(repository, &folder, &files).await?;
    complete_repositories(&folder, &files)?;
    let head = Call::new(["rev-parse", "--verify", &format!("{commit}^1")]);
    let head = repository.ask(Place::Store, head).await?;
    let head = head.line().parse().map_err(|_| head.odd())?;
    Ok(Restored { files: files.len(), head })
}

async fn files_of(repository: &Repository, commit: &ObjectId) -> Result<Vec<Stored>, GitError> {
    let call = Call::new(["ls-tree", "-r", "-z", "--long", "--full-tree", commit.as_str()]);
    let answer = repository.ask(Place::Store, call).await?;
    let mut files = Vec::new();
    for line in answer.parts() {
        let at = line.iter().position(|byte| *byte == b'\t').ok_or_else(|| answer.odd())?;
        let about = String::from_utf8_lossy(&line[..at]).into_owned();
        let mut words = about.split_ascii_whitespace();
        let (mode, kind) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        if kind != "blob" {
            continue;
        }
        let id = words.next().and_then(|id| id.parse().ok()).ok_or_else(|| answer.odd())?;
        let size = words.next().and_then(|size| size.parse().ok()).ok_or_else(|| answer.odd())?;
        let path = original_path(Path::new(std::ffi::OsStr::from_bytes(&line[at + 1..])));
        files.push(Stored { path, mode: mode.to_owned(), id, size });
    }
    Ok(files)
}

/// Trees have no empty folders, and git takes a repository without these two for none.
fn complete_repositories(folder: &Path, files: &[Stored]) -> Result<(), GitError> {
    for file in files.iter().filter(|file| file.path.ends_with(".git/HEAD")) {
        for name in ["objects", "refs"] {
            let path = folder.join(&file.path).with_file_name(name);
            std::fs::create_dir_all(&path).map_err(GitError::file("make", &path))?;
        }
    }
    Ok(())
}

/// The name under which a tree keeps a file.
pub(super) fn kept_path(path: &Path) -> PathBuf {
    renamed(path, |name| {
        if is_repository(strip_all(name)) { [name, KEPT.as_bytes()].concat() } else { name.to_owned() }
    })
}

/// The name of a file that a tree keeps.
fn original_path(path: &Path) -> PathBuf {
    renamed(path, |name| match name.strip_suffix(KEPT.as_bytes()) {
        Some(stem) if is_repository(strip_all(stem)) => stem.to_owned(),
        _ => name.to_owned(),
    })
}

fn renamed(path: &Path, rename: impl Fn(&[u8]) -> Vec<u8>) -> PathBuf {
    path.iter().map(|name| OsString::from_vec(rename(name.as_bytes()))).collect()
}

fn strip_all(mut name: &[u8]) -> &[u8] {
    while let Some(stem) = name.strip_suffix(KEPT.as_bytes()) {
        name = stem;
    }
    name
}

fn is_repository(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(REPOSITORY.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_no_tree_can_have_come_back() {
        for path in
            ["a/b", "x/.git/HEAD", ".git.kept", "n/.GIT/config", ".git.kept.kept", ".gitignore", "a.kept"]
        {
            let kept = kept_path(Path::new(path));
            assert_eq!(original_path(&kept), Path::new(path), "{path}");
            assert!(kept.iter().all(|part| !is_repository(part.as_bytes())), "{path}");
        }
        assert_eq!(kept_path(Path::new("x/.git/HEAD")), Path::new("x/.git.kept/HEAD"));
        assert_eq!(kept_path(Path::new("a.kept")), Path::new("a.kept"));
    }
}
