//! What git remembers about worktrees, read without git.
//!
//! An agent may write to the files of its own worktree. A link or a pipe in their place would lead the reader
//! elsewhere or make it wait, so only ordinary small files are read, and never through a link.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::limits;
use super::names::{Branch, ObjectId};

/// A worktree that git knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its folder below `worktrees/`.
    pub(super) own: PathBuf,
    /// The folder with its files, when it can be told.
    pub(super) folder: Option<PathBuf>,
}

/// What a `HEAD` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    On(Branch),
    At(ObjectId),
    /// Something that is neither.
    Odd,
}

/// All worktrees beside the first.
pub(super) fn entries(common: &Path) -> Result<Vec<Entry>, GitError> {
    let all = common.join("worktrees");
    let listed = match fs::read_dir(&all) {
        Ok(listed) => listed,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(GitError::File { action: "list", path: all, source }),
    };
    let mut entries = Vec::new();
    for entry in listed.take(limits::WORKTREES) {
        let entry = entry.map_err(GitError::file("list", &all))?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            entries.push(Entry { folder: folder_of(&entry.path()), own: entry.path() });
        }
    }
    entries.sort_by(|one, other| one.own.cmp(&other.own));
    Ok(entries)
}

fn folder_of(own: &Path) -> Option<PathBuf> {
    let text = read_small(&own.join("gitdir")).ok()?;
    let link = own.join(text.trim_end_matches('\n'));
    Some(link.parent()?.to_owned())
}

/// Refuses files that would make git wait or look elsewhere when it goes through all worktrees.
pub(super) fn refuse_traps(common: &Path) -> Result<(), GitError> {
    for entry in entries(common)? {
        for name in ["HEAD", "gitdir", "commondir", "locked"] {
            let path = entry.own.join(name);
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_file() => {}
                Ok(_) => return Err(GitError::Tampered { path, what: "a link, a folder or a device" }),
                Err(_) => {}
            }
        }
    }
    Ok(())
}

/// What the `HEAD` in a folder of git says.
pub(super) fn standing(git_dir: &Path) -> Result<Standing, GitError> {
    let path = git_dir.join("HEAD");
    let text = read_small(&path).map_err(GitError::file("read", &path))?;
    let text = text.trim_end();
    if let Some(name) = text.strip_prefix("ref:") {
        return Ok(Branch::from_refname(name.trim()).map_or(Standing::Odd, Standing::On));
    }
    Ok(text.parse().map_or(Standing::Odd, Standing::At))
}

/// Reads an ordinary small file, not through a link and without waiting for anybody.
pub(super) fn read_small(path: &Path) -> io::Result<String> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::CLOEXEC;
    let file = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not an ordinary file"));
    }
    let mut text = String::new();
    file.take(limits::SMALL_FILE + 1).read_to_string(&mut text)?;
    if text.len() as u64 > limits::SMALL_FILE {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than git makes it"));
    }
    Ok(text)
}
