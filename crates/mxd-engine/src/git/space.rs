//! Whether the disk has room for another worktree.

use std::io;
use std::path::{Path, PathBuf};

use super::limits;

/// What has to stay free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watermark {
    /// Bytes.
    pub bytes: u64,
    /// Files that could still be made.
    pub inodes: u64,
}

impl Default for Watermark {
    fn default() -> Self {
        Self { bytes: limits::FREE_BYTES, inodes: limits::FREE_INODES }
    }
}

/// Why no worktree starts.
#[derive(Debug, thiserror::Error)]
pub enum SpaceError {
    /// There is too little room.
    #[error(
        "the disk of {folder} has {free} bytes and {inodes} files left, and {needed} bytes and {needed_inodes} files \
         have to stay free: make room, or lower the mark",
        folder = folder.display()
    )]
    Low {
        /// Which folder was looked at.
        folder: PathBuf,
        /// Bytes that are free.
        free: u64,
        /// Files that could be made.
        inodes: u64,
        /// Bytes that have to stay free.
        needed: u64,
        /// Files that have to stay possible.
        needed_inodes: u64,
    },
    /// The disk could not be asked.
    #[error("cannot ask how full the disk of {folder} is: {source}", folder = folder.display())]
    Unknown {
        /// Which folder was looked at.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Checks the disk that a folder is on, or will be on.
///
/// # Errors
///
/// When it is below the mark, or cannot be asked.
pub fn check(folder: &Path, mark: Watermark) -> Result<(), SpaceError> {
    let there = folder.ancestors().find(|above| above.exists()).unwrap_or(Path::new("/"));
    let unknown =
        |error: rustix::io::Errno| SpaceError::Unknown { folder: there.to_owned(), source: error.into() };
    let disk = rustix::fs::statvfs(there).map_err(unknown)?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    // Some file systems do not count files and say none at all.
    let inodes = if disk.f_files == 0 { u64::MAX } else { disk.f_favail };
    if free < mark.bytes || inodes < mark.inodes {
        let (needed, needed_inodes) = (mark.bytes, mark.inodes);
        return Err(SpaceError::Low { folder: there.to_owned(), free, inodes, needed, needed_inodes });
    }
    Ok(())
}
