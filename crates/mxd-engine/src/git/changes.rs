//! What differs from the last commit in a folder of files, as `git status` tells it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::limits;
use super::names::readable;
use super::repository::{Place, Repository};
use super::run::{Call, Output};

/// Names of files: how many, and the first of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// How many there are.
    pub count: usize,
    /// The first ones, as people read them.
    pub first: Vec<String>,
}

impl Names {
    pub(super) fn of<'a>(paths: impl Iterator<Item = &'a Path>, shown: usize) -> Self {
        let mut names = Self::default();
        for path in paths {
            names.count += 1;
            if names.first.len() < shown {
                names.first.push(readable(path.as_os_str().as_bytes()));
            }
        }
        names
    }
}

impl std::fmt::Display for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.first.join(", "))?;
        match self.count.saturating_sub(self.first.len()) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// How a file differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Difference {
    /// A tracked file has other content, is new in the index, or is in conflict.
    Tracked,
    /// A tracked file is gone.
    Deleted,
    /// Git does not know it.
    Untracked,
    /// Git was told to leave it alone.
    Ignored,
}

/// A file that differs. Folders of files that are all alike end with a slash in git's answer and are marked here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) path: PathBuf,
    pub(super) difference: Difference,
    pub(super) is_folder: bool,
}

/// How closely to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// Tracked files only.
    Tracked,
    /// And untracked ones; a folder of them counts as one.
    Untracked,
    /// And every untracked file, and ignored ones.
    Everything,
}

impl Repository {
    /// What differs, without looking into nested repositories, which may be an agent's.
    pub(super) async fn changes(&self, place: Place<'_>, detail: Detail) -> Result<Vec<Change>, GitError> {
        let call = Call::new(["status", "--porcelain=v2", "-z", "--no-renames", "--ignore-submodules=all"]);
        let call = match detail {
            Detail::Tracked => call.arg("--untracked-files=no"),
            Detail::Untracked => call.arg("--untracked-files=normal"),
            Detail::Everything => call.args(["--untracked-files=all", "--ignored=matching"]),
        };
        let against = match place {
            Place::Checkout(_) => Against::LastCommit,
            // The last commit that git would compare with is the one of another checkout.
            Place::Files(_) | Place::Index(_) | Place::Store => Against::Index,
        };
        parse(&self.ask(place, call).await?, against)
    }
}

/// With what files are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Against {
    LastCommit,
    Index,
}

fn parse(answer: &Output, against: Against) -> Result<Vec<Change>, GitError> {
    let mut changes = Vec::new();
    for line in answer.parts() {
        let (difference, name) = match line.first() {
            Some(b'?') => (Difference::Untracked, line.get(2..)),
            Some(b'!') => (Difference::Ignored, line.get(2..)),
            Some(b'1') if against == Against::Index && line.get(3) == Some(&b'.') => continue,
            Some(b'1') => (kind_of(line), field(line, 8)),
            Some(b'u') => (Difference::Tracked, field(line, 10)),
            Some(b'#') => continue,
            _ => return Err(answer.odd()),
        };
        let name = name.ok_or_else(|| answer.odd())?;
        let is_folder = name.ends_with(b"/");
        let name = name.strip_suffix(b"/").unwrap_or(name);
        changes.push(Change { path: PathBuf::from(OsStr::from_bytes(name)), difference, is_folder });
    }
    Ok(changes)
}

fn kind_of(line: &[u8]) -> Difference {
    let codes = line.get(2..4).unwrap_or_default();
    let gone = codes.ends_with(b"D") || codes == b"D.";
    if gone { Difference::Deleted } else { Difference::Tracked }
}

/// What follows the given number of spaces.
fn field(line: &[u8], spaces: usize) -> Option<&[u8]> {
    let (at, _) = line.iter().enumerate().filter(|(_, byte)| **byte == b' ').nth(spaces - 1)?;
    line.get(at + 1..)
}

/// The first names of a list of changes.
pub(super) fn names<'a>(changes: impl Iterator<Item = &'a Change>) -> Names {
    Names::of(changes.map(|change| change.path.as_path()), limits::NAMES_SHOWN)
}
