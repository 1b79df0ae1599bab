//! Everything in a worktree that no commit has, found and put into one tree.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::blobs;
use super::changes::{Change, Detail, Difference, Names};
use super::error::GitError;
use super::grave::kept_path;
use super::inspect::{Files, Inspected};
use super::limits;
use super::names::ObjectId;
use super::refs::RefError;
use super::repository::{Place, Repository};
use super::run::Call;
use super::sweep::{self, Seen, Walked};

/// A worktree as its files are.
#[derive(Debug)]
pub(super) struct Subject<'a> {
    pub(super) folder: &'a Path,
    /// The index by which it is looked at.
    pub(super) index: &'a Path,
    /// The commit it is compared with.
    pub(super) head: &'a ObjectId,
}

/// What was found and kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Snapshot {
    /// All of it, with what is committed.
    pub(super) tree: ObjectId,
    /// Files that differ from the commit.
    pub(super) kept: usize,
    /// Ignored files and folders that are too large to be kept.
    pub(super) left_out: Names,
}

/// Why not everything can be kept.
#[derive(Debug, thiserror::Error)]
pub(super) enum SnapshotError {
    #[error("there are too many or too large files")]
    TooLarge { count: usize, bytes: u64 },
    #[error("there are submodules with files")]
    Submodules(Names),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Ref(#[from] RefError),
}

/// Puts the files of a worktree into a tree.
pub(super) async fn take(repository: &Repository, subject: Subject<'_>) -> Result<Snapshot, SnapshotError> {
    let Subject { folder, index, head } = subject;
    let inspected = repository.inspect(folder, index, Files::Read).await?;
    let place = Place::Files(&inspected);
    repository.ask(place, Call::new(["read-tree", "--reset", head.as_str()])).await?;
    refuse_submodules(repository, &inspected, &subject).await?;
    let changes = repository.changes(place, Detail::Everything).await?;
    let (deleted, present): (Vec<_>, Vec<_>) =
        changes.into_iter().partition(|change| change.difference == Difference::Deleted);
    let Search { found, left_out, bytes, .. } = search(repository, &inspected, (folder, &present)).await?;
    if found.len() > limits::GRAVE_FILES || bytes > limits::GRAVE_TOTAL {
        return Err(SnapshotError::TooLarge { count: found.len(), bytes });
    }
    let kept = found.len() + deleted.len();
    let stored = blobs::store(repository, &inspected, (folder, found), head).await?;
    let mut lines = Vec::new();
    for change in &deleted {
        entry(&mut lines, &format!("0 {}", head.nothing()), &change.path);
    }
    for file in &stored {
        entry(&mut lines, &format!("{} {}", file.mode, file.id), &kept_path(&file.path));
    }
    let tree = write_tree(repository, &subject, lines).await?;
    let left_out = Names::of(left_out.iter().map(PathBuf::as_path), limits::NAMES_SHOWN);
    Ok(Snapshot { tree, kept, left_out })
}

fn entry(lines: &mut Vec<u8>, what: &str, path: &Path) {
    lines.extend_from_slice(what.as_bytes());
    lines.push(b'\t');
    lines.extend_from_slice(path.as_os_str().as_bytes());
    lines.push(0);
}

async fn write_tree(
    repository: &Repository,
    subject: &Subject<'_>,
    lines: Vec<u8>,
) -> Result<ObjectId, GitError> {
    // An index made from the commit anew: the one beside it was written where an agent's files are read.
    let parent = repository.common().join("mxd");
    let scratch = TempDir::new_in(&parent).map_err(GitError::file("make a folder in", &parent))?;
    let draft = scratch.path().join("index");
    let place = Place::Index(&draft);
    repository.ask(place, Call::new(["read-tree", subject.head.as_str()])).await?;
    // Names that another system could not have are nothing to refuse here.
    let lenient = ["core.protectNTFS", "core.protectHFS"].map(|key| (key.to_owned(), "false".to_owned()));
    let call = Call::new(["update-index", "-z", "--index-info"]).input(lines).settings(&lenient);
    repository.ask(place, call).await?;
    let written = repository.ask(place, Call::new(["write-tree"]).settings(&lenient)).await?;
    written.line().parse().map_err(|_| written.odd())
}

/// A submodule with files has a repository of its own, whose commits are nowhere else.
async fn refuse_submodules(
    repository: &Repository,
    inspected: &Inspected,
    subject: &Subject<'_>,
) -> Result<(), SnapshotError> {
    let call = Call::new(["ls-tree", "-r", "-z", "--full-tree", subject.head.as_str()]);
    let answer = repository.ask(Place::Store, call).await?;
    let mut links = Vec::new();
    for line in answer.parts().filter(|line| line.starts_with(b"160000 ")) {
        let Some(at) = line.iter().position(|byte| *byte == b'\t') else { continue };
        links.push(Path::new(std::ffi::OsStr::from_bytes(&line[at + 1..])));
    }
    let walked = sweep::walk(repository, inspected, (subject.folder, &links), 1).await?;
    // The folder itself is one of what is found.
    let filled = links.into_iter().zip(walked).filter(|(_, walked)| walked.entries > 1);
    let filled: Vec<&Path> = filled.map(|(path, _)| path).collect();
    if filled.is_empty() {
        return Ok(());
    }
    Err(SnapshotError::Submodules(Names::of(filled.into_iter(), limits::NAMES_SHOWN)))
}

/// What is at the changed paths.
#[derive(Debug, Default)]
struct Search {
    found: Vec<Seen>,
    left_out: Vec<PathBuf>,
    bytes: u64,
    ignored_bytes: u64,
}

/// Looks up what is at the changed paths, in the sandbox and without following anything.
async fn search(
    repository: &Repository,
    inspected: &Inspected,
    (folder, changes): (&Path, &[Change]),
) -> Result<Search, SnapshotError> {
    let (ignored, others): (Vec<&Change>, Vec<&Change>) =
        changes.iter().partition(|change| change.difference == Difference::Ignored);
    let mut search = Search::default();
    let paths: Vec<&Path> = others.iter().map(|change| change.path.as_path()).collect();
    for walked in sweep::walk(repository, inspected, (folder, &paths), limits::GRAVE_FILES).await? {
        search.add(walked.files);
        if walked.is_cut {
            return Err(SnapshotError::TooLarge { count: walked.entries, bytes: search.bytes });
        }
    }
    let most = limits::GRAVE_IGNORED_FOLDER_FILES;
    let paths: Vec<&Path> = ignored.iter().map(|change| change.path.as_path()).collect();
    let walked = sweep::walk(repository, inspected, (folder, &paths), most).await?;
    for (path, walked) in paths.into_iter().zip(walked) {
        search.add_ignored(path, walked, most);
    }
    Ok(search)
}

impl Search {
    fn add(&mut self, files: Vec<Seen>) {
        self.bytes = files.iter().fold(self.bytes, |sum, file| sum.saturating_add(file.size));
        self.found.extend(files);
    }

    /// Ignored files can mostly be made again; those that cannot, such as `.env`, are small.
    fn add_ignored(&mut self, path: &Path, walked: Walked, most: usize) {
        let size = walked.files.iter().fold(0_u64, |sum, file| sum.saturating_add(file.size));
        let room = limits::GRAVE_IGNORED_TOTAL.saturating_sub(self.ignored_bytes);
        if walked.is_cut || walked.files.len() > most || size > limits::GRAVE_IGNORED_FILE.min(room) {
            self.left_out.push(path.to_owned());
        } else {
            self.ignored_bytes += size;
            self.add(walked.files);
        }
    }
}
