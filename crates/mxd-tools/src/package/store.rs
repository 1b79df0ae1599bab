//! The folder of verified packages: a copy of each by its digest, which nobody changes.
//!
//! What was verified must be what runs. Between looking at an installed package and starting it, it could be
//! changed; so nothing is started where it was installed. Its files are copied into a folder of ours, hashed on
//! their way, and started from there. No sandbox shows that folder as one that can be changed. A copy that is
//! there already is hashed again before it is used.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use mxd_core::tool::Digest;

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
