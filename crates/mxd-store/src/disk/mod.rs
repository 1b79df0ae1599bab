//! The file layer: the few operations the log needs, and what each one promises about power loss.
//!
//! Two things implement it: [`OsDisk`], and the simulators of the test suite that lose power, run out of space
//! and fail at chosen moments. Nothing above this module touches a file in another way.

mod os;

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

pub use os::OsDisk;

/// A directory tree with explicit durability.
pub trait Disk: Debug + Send + Sync + 'static {
    /// Makes one directory, private to the owner (0700), and tells whether it is new. The name is durable only after
    /// [`Disk::sync_dir`] of the directory it is in.
    fn make_dir(&self, path: &Path) -> io::Result<bool>;

    /// The names in a directory, sorted.
    fn list(&self, dir: &Path) -> io::Result<Vec<String>>;

    /// Creates an empty file, private to the owner (0600), or empties an existing one. The name is durable only
    /// after [`Disk::sync_dir`].
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Opens an existing file for reading only.
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// Opens an existing file for reading and writing.
    fn open_for_writing(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// The length of a file.
    fn len(&self, path: &Path) -> io::Result<u64>;

    /// Puts `from` in the place of `to` in one step. Durable only after [`Disk::sync_dir`].
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Takes a name away. Durable only after [`Disk::sync_dir`].
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes the names in a directory durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;

    /// Takes the exclusive lock at `path` until the guard is dropped or the process ends, however it ends.
    fn lock(&self, path: &Path) -> Result<LockGuard, LockError>;
}

/// One open file.
pub trait DiskFile: Debug + Send + Sync {
    /// Reads into `buf` from `offset`; fewer bytes than asked for only at the end of the file.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize>;

    /// Writes all of `bytes` at `offset`. On an error some of them may have been written.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Cuts or extends the file to `len` bytes.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Makes the file's bytes and length durable.
    fn sync(&self) -> io::Result<()>;

    /// The present length.
    fn len(&self) -> io::Result<u64>;

    /// Whether the file has no bytes.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
}

/// Holds an exclusive lock; dropping it lets go.
#[derive(Debug)]
pub struct LockGuard {
    _held: Option<std::fs::File>,
}

impl LockGuard {
    /// A guard that holds nothing, for disks that only one process can see.
    pub fn unshared() -> Self {
        Self { _held: None }
    }
}

/// Why a lock was not had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// A living process has it.
    #[error("held by {owner}")]
    Held {
        /// What the owner wrote about itself.
        owner: String,
    },
    /// The lock file could not be used at all.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Makes a directory with all that is missing above it, durably.
pub(crate) fn make_dirs(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    let parent =
        path.parent().map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
    let new = match (disk.make_dir(path), parent) {
        (Err(error), Some(parent)) if error.kind() == io::ErrorKind::NotFound => {
            make_dirs(disk, parent)?;
            disk.make_dir(path)?
        }
        (made, _) => made?,
    };
    match parent {
        Some(parent) if new => disk.sync_dir(parent),
        Some(_) | None => Ok(()),
    }
}

/// Tells drafts apart that are written at the same time.
static DRAFTS: AtomicU64 = AtomicU64::new(0);

/// A name in `tmp_dir` that nobody else uses.
pub(crate) fn draft_path(tmp_dir: &Path, name: &str) -> PathBuf {
    tmp_dir.join(format!("{name}.{}", DRAFTS.fetch_add(1, Ordering::Relaxed)))
}

/// Writes a whole file so that after a crash there is either the old content or the new one, never a part.
///
/// The bytes go to a file in `tmp_dir` first, which must be on the same file system as `target`.
pub(crate) fn publish(disk: &dyn Disk, tmp_dir: &Path, target: &Path, bytes: &[u8]) -> io::Result<()> {
    publish_with(disk, tmp_dir, target, |file| file.write_at(0, bytes))
}

/// The same for bytes that `write` puts into the file.
pub(crate) fn publish_with(
    disk: &dyn Disk,
    tmp_dir: &Path,
    target: &Path,
    write: impl FnOnce(&dyn DiskFile) -> io::Result<()>,
) -> io::Result<()> {
    let (Some(name), Some(parent)) = (target.file_name(), target.parent()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the target has no file name"));
    };
    let draft = draft_path(tmp_dir, &name.to_string_lossy());
    let written = disk.create(&draft).and_then(|file| {
        write(&*file)?;
        file.sync()?;
        disk.rename(&draft, target)
    });
    if written.is_err() {
        // On a full disk the draft would take the space that its owner needs.
        let _ = disk.remove(&draft);
    }
    written?;
    disk.sync_dir(parent)
}

/// Reads a whole file, refusing one longer than `limit`.
pub(crate) fn read_all(disk: &dyn Disk, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = disk.open(path)?;
    let len = file.len()?;
    if len > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("{len} bytes, limit {limit}")));
    }
    let mut bytes = vec![0; usize::try_from(len).map_err(io::Error::other)?];
    let got = file.read_at(0, &mut bytes)?;
    bytes.truncate(got);
    Ok(bytes)
}
