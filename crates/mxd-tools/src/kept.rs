//! Output that is too long to be shown, kept in files the agent can read.
//!
//! The folder is `output` in the agent's scratch. It is opened once and everything in it is made through that
//! descriptor, new and private: whatever an agent puts in its place, nothing is written elsewhere. The oldest
//! files go when there are too many.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{AtFlags, Mode, OFlags};
use sha2::{Digest as _, Sha256};

/// Files of one agent that are kept.
pub const MAX_FILES: usize = 1_000;
/// Bytes of all of them.
pub const MAX_TOTAL_BYTES: u64 = 1 << 30;
/// Bytes of one result that is kept whole; of a longer one the middle is left out.
pub const MAX_RESULT_BYTES: usize = 32 << 20;

/// The folder of kept output. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Kept {
    folder: Arc<Folder>,
}

#[derive(Debug)]
struct Folder {
    path: PathBuf,
    descriptor: OwnedFd,
    ledger: Mutex<Ledger>,
}

/// What is there, oldest first.
#[derive(Debug, Default)]
struct Ledger {
    files: VecDeque<(String, u64)>,
    bytes: u64,
}

impl Kept {
    /// Opens the folder, and makes it when it is not there.
    ///
    /// # Errors
    ///
    /// When it cannot be made, opened or listed.
    pub fn open(scratch: &Path) -> io::Result<Self> {
        let (path, descriptor) = own_folder(scratch, "output")?;
        let mut found = Vec::new();
        for entry in fs::read_dir(&path)? {
            let entry = entry?;
            let about = entry.metadata()?;
            found.push((about.modified()?, entry.file_name().to_string_lossy().into_owned(), about.len()));
        }
        found.sort_unstable();
        let bytes = found.iter().map(|(_, _, bytes)| bytes).sum();
        let files = found.into_iter().map(|(_, name, bytes)| (name, bytes)).collect();
        let ledger = Mutex::new(Ledger { files, bytes });
        Ok(Self { folder: Arc::new(Folder { path, descriptor, ledger }) })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.folder.path
    }

    /// The names of what is there.
    pub(crate) fn names(&self) -> Vec<String> {
        let ledger = self.folder.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        ledger.files.iter().map(|(name, _)| name.clone()).collect()
    }

    /// A new file, which counts only once it is [admitted](Self::admit).
    pub(crate) fn create(&self, name: &str) -> io::Result<File> {
        create_in(&self.folder.descriptor, name)
    }

    /// Counts a finished file, and removes the oldest when there are too many.
    pub(crate) fn admit(&self, name: &str, bytes: u64) {
        let mut ledger = self.folder.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        ledger.files.push_back((name.to_owned(), bytes));
        ledger.bytes += bytes;
        while ledger.files.len() > MAX_FILES || (ledger.bytes > MAX_TOTAL_BYTES && ledger.files.len() > 1) {
            let Some((oldest, bytes)) = ledger.files.pop_front() else { return };
            ledger.bytes -= bytes;
            self.remove(&oldest);
        }
    }

    /// Removes a file that was never admitted or is not wanted any more.
    pub(crate) fn remove(&self, name: &str) {
        let _gone_already = rustix::fs::unlinkat(&self.folder.descriptor, name, AtFlags::empty());
    }

    /// Keeps a text under the hash of its bytes. Keeping it twice is keeping it once.
    ///
    /// # Errors
    ///
    /// When it cannot be written; nothing is left of it then.
    pub fn store(&self, text: &str) -> io::Result<PathBuf> {
        let name = format!("{:x}.txt", HexDigest(Sha256::digest(text).as_ref()));
        let path = self.folder.path.join(&name);
        let part = format!("{name}.part");
        self.remove(&part);
        let mut file = self.create(&part)?;
        if let Err(error) = file.write_all(text.as_bytes()) {
            self.remove(&part);
            return Err(error);
        }
        let known = self.names().contains(&name);
        rustix::fs::renameat(&self.folder.descriptor, &part, &self.folder.descriptor, &name)?;
        if !known {
            self.admit(&name, text.len() as u64);
        }
        Ok(path)
    }
}

struct HexDigest<'a>(&'a [u8]);

impl std::fmt::LowerHex for HexDigest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A private folder in the scratch, and a descriptor of it that no link can lead astray.
pub(crate) fn own_folder(scratch: &Path, name: &str) -> io::Result<(PathBuf, OwnedFd)> {
    let path = scratch.join(name);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&path)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let descriptor = rustix::fs::open(&path, flags, Mode::empty())?;
    rustix::fs::fchmod(&descriptor, Mode::RWXU)?;
    Ok((path, descriptor))
}

/// A file that was not there before, private to its owner.
pub(crate) fn create_in(folder: &OwnedFd, name: &str) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?))
}
