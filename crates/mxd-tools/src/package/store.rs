//! The folder of verified packages: a copy of each by its digest, which nobody changes.
//!
//! What was verified must be what runs. Between looking at an installed package and starting it, it could be
//! changed; so nothing is started where it was installed. Its files are copied into a folder of ours, hashed on
//! their way, and started from there. No sandbox shows that folder as one that can be changed. A copy that is
//! there already is hashed again before it is used.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use mxd_core::tool::Digest;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, utimensat};

use super::contents::{self, Contents, Kind};
use super::error::PackageError;

/// The folder of verified packages.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// Opens the folder, and makes it when it is not there.
    ///
    /// # Errors
    ///
    /// When it cannot be made, is a link, or belongs to somebody else.
    pub fn open(folder: &Path) -> Result<Self, PackageError> {
        let failed = |source| PackageError::Io { path: folder.to_owned(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        let about = fs::symlink_metadata(folder).map_err(failed)?;
        let others_may_write = about.mode() & 0o022 != 0;
        if !about.is_dir() || about.uid() != rustix::process::geteuid().as_raw() || others_may_write {
            return Err(PackageError::Store { path: folder.to_owned() });
        }
        Ok(Self { folder: fs::canonicalize(folder).map_err(failed)? })
    }

    /// A copy of these contents, when they have this digest.
    pub(super) fn keep(&self, contents: &Contents, digest: Digest) -> Result<Kept, PackageError> {
        let place = self.folder.join(digest.to_string());
        if place.exists() {
            if digest_of(&place, contents.kind())? == digest {
                mark_used(&place)?;
                return Ok(Kept::At(place));
            }
            contents::remove(&place)?;
        }
        let failed = |source| PackageError::Io { path: self.folder.clone(), source };
        let fresh = tempfile::Builder::new().prefix(".new-").tempdir_in(&self.folder).map_err(failed)?;
        let copy = fresh.path().join(digest.to_string());
        if contents.copy(&copy)? != digest {
            contents::remove(&copy)?;
            return Ok(Kept::Other);
        }
        // Sealed at the end only: a sealed folder cannot be moved into another one.
        match fs::rename(&copy, &place) {
            Ok(()) => contents::seal(&place)?,
            // Somebody else was faster.
            Err(_) if place.exists() => contents::remove(&copy)?,
            Err(source) => return Err(PackageError::Io { path: place, source }),
        }
        if digest_of(&place, contents.kind())? != digest {
            return Err(PackageError::Store { path: place });
        }
        Ok(Kept::At(place))
    }
}

/// A copy that no server was started from for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unused {
    /// Where it is, or was.
    pub path: PathBuf,
    /// The bytes of its files.
    pub bytes: u64,
}

impl Store {
    /// Copies that no server was started from since then, by path. Servers that run since before need theirs.
    ///
    /// # Errors
    ///
    /// When the folder cannot be read.
    pub fn unused_since(&self, then: SystemTime) -> Result<Vec<Unused>, PackageError> {
        let failed = |source| PackageError::Io { path: self.folder.clone(), source };
        let mut unused = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let about = fs::symlink_metadata(&path).map_err(failed)?;
            if about.is_dir() && about.modified().map_err(failed)? < then {
                unused.push(Unused { bytes: contents::bytes(&path)?, path });
            }
        }
        unused.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(unused)
    }

    /// Removes a copy. Whoever needs it again makes it again.
    ///
    /// # Errors
    ///
    /// When it cannot be removed.
    pub fn remove(&self, unused: &Unused) -> Result<(), PackageError> {
        contents::remove(&unused.path)
    }
}

/// Notes down that a server is started from a copy now.
fn mark_used(place: &Path) -> Result<(), PackageError> {
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    let now = Timestamps { last_access: now, last_modification: now };
    utimensat(CWD, place, &now, AtFlags::empty())
        .map_err(|errno| PackageError::Io { path: place.to_owned(), source: errno.into() })
}

/// What became of contents that were to be kept.
pub(super) enum Kept {
    /// Their copy is here.
    At(PathBuf),
    /// They have another digest.
    Other,
}

/// The digest of a copy.
fn digest_of(folder: &Path, kind: Kind) -> Result<Digest, PackageError> {
    let mut contents = Contents::of_kind(kind);
    contents.folder("", folder, &|_| false)?;
    contents.digest()
}
