//! The spot of the new root at which something is mounted.
//!
//! Part of the way there may lead through folders of the agent's own, such as its home. A link that the agent left there
//! would lead to the old root, which still stands beside the new one, so no link is followed.

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, fstat, mkdirat, open, openat, symlinkat};
use rustix::io::Errno;

use super::{NEW, OLD, under};

/// A spot, held open so that it stays the same until something is mounted there.
pub(super) struct Site {
    spot: OwnedFd,
}

const HOLD: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const NEW_FOLDER: Mode = Mode::from_raw_mode(0o755);
const NEW_FILE: Mode = Mode::from_raw_mode(0o644);

impl Site {
    /// A folder of the new root, made when it is not there.
    pub(super) fn folder(path: &Path) -> Result<Self, String> {
        let failed = |error: Errno| refused(path, error);
        let mut spot = open(NEW, HOLD | OFlags::DIRECTORY, Mode::empty()).map_err(failed)?;
        for component in path.strip_prefix(NEW).unwrap_or(path).components() {
            let Component::Normal(name) = component else { continue };
            match mkdirat(&spot, name, NEW_FOLDER) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(failed(error)),
            }
            spot = openat(&spot, name, HOLD | OFlags::DIRECTORY, Mode::empty()).map_err(failed)?;
        }
        Ok(Self { spot })
    }

    /// A file of the new root, made when it is not there.
    pub(super) fn file(path: &Path) -> Result<Self, String> {
        let failed = |error: Errno| refused(path, error);
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(failed(Errno::INVAL));
        };
        let Self { spot: folder } = Self::folder(folder)?;
        let make = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        match openat(&folder, name, make, NEW_FILE) {
            Ok(_) | Err(Errno::EXIST) => {}
            Err(error) => return Err(failed(error)),
        }
        let spot = openat(&folder, name, HOLD, Mode::empty()).map_err(failed)?;
        let kind = FileType::from_raw_mode(fstat(&spot).map_err(failed)?.st_mode);
        if kind == FileType::Symlink { Err(failed(Errno::LOOP)) } else { Ok(Self { spot }) }
    }

    /// A link in the new root, unless something is there already.
    pub(super) fn link(path: &Path, to: &Path) -> Result<(), String> {
        let failed = |error: Errno| refused(path, error);
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(failed(Errno::INVAL));
        };
        match symlinkat(to, &Self::folder(folder)?.spot, name) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }

    /// A path to give to `mount`, which takes no descriptor.
    pub(super) fn path(&self) -> PathBuf {
        under(OLD, format!("/proc/self/fd/{}", self.spot.as_raw_fd()))
    }
}

fn refused(path: &Path, error: Errno) -> String {
    let shown = path.strip_prefix(NEW).unwrap_or(path).display();
    format!("making /{shown}: {error}; remove what is in its way in the agent's scratch folder")
}
