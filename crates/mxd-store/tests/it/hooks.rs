//! The real disk, with something done just before a chosen file is opened or read.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use mxd_store::disk::{Disk, DiskFile, LockError, LockGuard, OsDisk};

/// When the hook is pulled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    Opened,
    Read,
}

type Action = Box<dyn FnOnce() + Send>;

/// A disk that does something once, and remembers which folders were synced.
#[derive(Clone)]
pub(crate) struct HookedDisk {
    when: When,
    hook: Arc<Mutex<Option<(PathBuf, Action)>>>,
    synced: Arc<Mutex<Vec<PathBuf>>>,
}

impl HookedDisk {
    pub(crate) fn new(when: When) -> Self {
        Self { when, hook: Arc::default(), synced: Arc::default() }
    }

    /// Does `action` the next time `path` is touched.
    pub(crate) fn hook(&self, path: PathBuf, action: impl FnOnce() + Send + 'static) {
        *self.hook.lock().unwrap() = Some((path, Box::new(action)));
    }

    /// Whether the hook has been pulled.
    pub(crate) fn is_done(&self) -> bool {
        self.hook.lock().unwrap().is_none()
    }

    pub(crate) fn synced(&self) -> Vec<PathBuf> {
        self.synced.lock().unwrap().clone()
    }

    fn pull(&self, when: When, path: &Path) {
        let action = {
            let mut hook = self.hook.lock().unwrap();
            let fits = self.when == when && hook.as_ref().is_some_and(|(wanted, _)| wanted == path);
            if fits { hook.take() } else { None }
        };
        if let Some((_, action)) = action {
            action();
        }
    }
}

impl std::fmt::Debug for HookedDisk {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("HookedDisk")
    }
}

impl Disk for HookedDisk {
    fn make_dir(&self, path: &Path) -> io::Result<bool> {
        OsDisk.make_dir(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        OsDisk.list(dir)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        OsDisk.create(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.pull(When::Opened, path);
        Ok(Box::new(HookedFile { file: OsDisk.open(path)?, path: path.to_owned(), disk: self.clone() }))
    }

    fn open_for_writing(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        OsDisk.open_for_writing(path)
    }

    fn len(&self, path: &Path) -> io::Result<u64> {
        OsDisk.len(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        OsDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        OsDisk.remove(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.synced.lock().unwrap().push(dir.to_owned());
        OsDisk.sync_dir(dir)
    }

    fn lock(&self, path: &Path) -> Result<LockGuard, LockError> {
        OsDisk.lock(path)
    }
}

#[derive(Debug)]
struct HookedFile {
    file: Box<dyn DiskFile>,
    path: PathBuf,
    disk: HookedDisk,
}

impl DiskFile for HookedFile {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        self.disk.pull(When::Read, &self.path);
        self.file.read_at(offset, buf)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_at(offset, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }
}
