//! Everything in a worktree that no commit has, found and put into one tree.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::blobs::{self, Found, LINK, PLAIN, PROGRAM};
use super::changes::{Change, Detail, Difference, Names};
use super::error::GitError;
use super::files::blocking;
use super::grave::kept_path;
use super::inspect::Files;
use super::limits;
use super::names::ObjectId;
use super::repository::{Place, Repository};
use super::run::Call;

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
}

/// Puts the files of a worktree into a tree.
pub(super) async fn take(repository: &Repository, subject: Subject<'_>) -> Result<Snapshot, SnapshotError> {
    let Subject { folder, index, head } = subject;
    let inspected = repository.inspect(folder, index, Files::Read).await?;
    let place = Place::Files(&inspected);
    repository.ask(place, Call::new(["read-tree", "--reset", head.as_str()])).await?;
    refuse_submodules(repository, &subject).await?;
    let changes = repository.changes(place, Detail::Everything).await?;
    let (deleted, present): (Vec<_>, Vec<_>) =
        changes.into_iter().partition(|change| change.difference == Difference::Deleted);
    let root = folder.to_owned();
    let found = blocking(move || Search::new(root).through(&present)).await.and_then(|ended| ended);
    let Search { found, left_out, bytes, .. } = found.map_err(GitError::file("look through", folder))?;
    if found.len() > limits::GRAVE_FILES || bytes > limits::GRAVE_TOTAL {
        return Err(SnapshotError::TooLarge { count: found.len(), bytes });
    }
    let kept = found.len() + deleted.len();
    let stored = blobs::store(repository, folder, found).await?;
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
async fn refuse_submodules(repository: &Repository, subject: &Subject<'_>) -> Result<(), SnapshotError> {
    let call = Call::new(["ls-tree", "-r", "-z", "--full-tree", subject.head.as_str()]);
    let answer = repository.ask(Place::Store, call).await?;
    let mut filled = Vec::new();
    for line in answer.parts().filter(|line| line.starts_with(b"160000 ")) {
        let Some(at) = line.iter().position(|byte| *byte == b'\t') else { continue };
        let path = Path::new(std::ffi::OsStr::from_bytes(&line[at + 1..]));
        let mut inside = fs::read_dir(subject.folder.join(path)).into_iter().flatten();
        if inside.next().is_some() {
            filled.push(path);
        }
    }
    if filled.is_empty() {
        return Ok(());
    }
    Err(SnapshotError::Submodules(Names::of(filled.into_iter(), limits::NAMES_SHOWN)))
}

/// Looks up what is at the changed paths, without following anything.
#[derive(Debug)]
struct Search {
    root: PathBuf,
    found: Vec<Found>,
    left_out: Vec<PathBuf>,
    bytes: u64,
    ignored_bytes: u64,
}

impl Search {
    fn new(root: PathBuf) -> Self {
        Self { root, found: Vec::new(), left_out: Vec::new(), bytes: 0, ignored_bytes: 0 }
    }

    fn through(mut self, changes: &[Change]) -> io::Result<Self> {
        for change in changes {
            let mut files = Vec::new();
            let limit = match change.difference {
                Difference::Ignored => limits::GRAVE_IGNORED_FOLDER_FILES,
                _ => limits::GRAVE_FILES,
            };
            walk(&self.root, &change.path, Bounds { files: limit, depth: limits::DEPTH }, &mut files)?;
            match change.difference {
                Difference::Ignored => self.add_ignored(&change.path, files, limit),
                _ => self.add(files),
            }
        }
        Ok(self)
    }

    fn add(&mut self, files: Vec<Found>) {
        self.bytes += files.iter().map(|file| file.size).sum::<u64>();
        self.found.extend(files);
    }

    /// Ignored files can mostly be made again; those that cannot, such as `.env`, are small.
    fn add_ignored(&mut self, path: &Path, files: Vec<Found>, most: usize) {
        let size: u64 = files.iter().map(|file| file.size).sum();
        let room = limits::GRAVE_IGNORED_TOTAL.saturating_sub(self.ignored_bytes);
        if files.len() > most || size > limits::GRAVE_IGNORED_FILE.min(room) {
            self.left_out.push(path.to_owned());
        } else {
            self.ignored_bytes += size;
            self.add(files);
        }
    }
}

/// How far a walk goes.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    files: usize,
    depth: usize,
}

/// Collects a file, or the files of a folder, up to one more than allowed.
fn walk(root: &Path, path: &Path, bounds: Bounds, files: &mut Vec<Found>) -> io::Result<()> {
    let full = root.join(path);
    let about = match fs::symlink_metadata(&full) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if files.len() > bounds.files {
        return Ok(());
    }
    let mode = match about.file_type() {
        kind if kind.is_symlink() => LINK,
        kind if kind.is_file() && about.permissions().mode() & 0o100 != 0 => PROGRAM,
        kind if kind.is_file() => PLAIN,
        kind if kind.is_dir() => {
            let deeper =
                bounds.depth.checked_sub(1).ok_or_else(|| io::Error::other("folders are too deep"))?;
            for entry in fs::read_dir(&full)? {
                walk(root, &path.join(entry?.file_name()), Bounds { depth: deeper, ..bounds }, files)?;
            }
            return Ok(());
        }
        // Pipes and sockets hold nothing.
        _ => return Ok(()),
    };
    files.push(Found { path: path.to_owned(), mode, size: about.len() });
    Ok(())
}
