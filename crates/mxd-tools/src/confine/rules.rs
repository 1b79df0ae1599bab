//! What `.gitignore` and `.ignore` files say, folder by folder.
//!
//! The rules of a folder come before those of the folders above it, as in git. The user's own global rules are not
//! asked: they lie outside, and the same repository should look the same to every agent.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{FileType, Mode, fstat, openat};

use super::file::FILE;
use super::tree::EntryKind;

/// The files with rules; later ones come first.
pub(super) const NAMES: [&str; 2] = [".gitignore", ".ignore"];

/// The largest file of rules that is read, in bytes.
const MAX_RULES: u64 = 1 << 20;

/// The rules that hold in a folder.
#[derive(Debug)]
pub(super) struct Rules {
    own: Gitignore,
    /// How many bytes of a path from the ground on lead to the folder of these rules.
    above: usize,
    parent: Option<Arc<Rules>>,
}

impl Rules {
    /// The rules below `parent` in a folder that has files with rules.
    ///
    /// `path` leads from the ground to the folder. A line that makes no sense is passed over, as git does.
    pub(super) fn read(folder: impl AsFd, path: &OsStr, parent: Option<Arc<Self>>) -> Option<Arc<Self>> {
        let mut builder = GitignoreBuilder::new(".");
        for name in NAMES {
            for line in read(folder.as_fd(), name).lines() {
                let _senseless = builder.add_line(None, line);
            }
        }
        match builder.build() {
            Ok(own) if !own.is_empty() => {
                let above = if path.is_empty() { 0 } else { path.len() + 1 };
                Some(Arc::new(Self { own, above, parent }))
            }
            Ok(_) | Err(_) => parent,
        }
    }

    /// Whether the rules leave out what is at this path from the ground on.
    pub(super) fn leave_out(&self, path: &OsStr, kind: EntryKind) -> bool {
        let below = path.as_bytes().get(self.above..).unwrap_or_default();
        match self.own.matched(OsStr::from_bytes(below), kind == EntryKind::Folder) {
            Match::Ignore(_) => true,
            Match::Whitelist(_) => false,
            Match::None => self.parent.as_ref().is_some_and(|parent| parent.leave_out(path, kind)),
        }
    }
}

fn read(folder: impl AsFd, name: &str) -> String {
    let mut text = Vec::new();
    let Ok(fd) = openat(folder, name, FILE, Mode::empty()) else { return String::new() };
    let regular = fstat(&fd).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
    if !regular || File::from(fd).take(MAX_RULES).read_to_end(&mut text).is_err() {
        return String::new();
    }
    let text = String::from_utf8_lossy(&text);
    text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned()
}
