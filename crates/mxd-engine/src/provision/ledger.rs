//! What a person has accepted: the manifest of the project, and what its servers say about their tools.
//!
//! It is kept where no agent can write. Files of the repository are only looked at when something is accepted for the
//! first time, or again.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mxd_core::manifest::{LockFile, LockedServer, Problems};
use mxd_core::tool::ServerName;
use serde::{Deserialize, Serialize};

const LOCK: &str = "lock.json";
const MANIFEST: &str = "manifest.json";
/// Bytes of one of its files.
const MOST: u64 = 64 << 20;

/// What was accepted, as it is on disk.
#[derive(Debug)]
pub(crate) struct Ledger {
    folder: PathBuf,
    pages: Mutex<Pages>,
}

#[derive(Debug, Default)]
struct Pages {
    lock: LockFile,
    manifest: Option<AcceptedManifest>,
}

/// The manifest that was accepted, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AcceptedManifest {
    /// Where it was, relative to the repository.
    path: String,
    /// What it said.
    text: String,
}

/// Why what was accepted is not known, or cannot be written down.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum LedgerError {
    #[error("what was accepted of servers cannot be read or written, {path}: {why}")]
    Io { path: PathBuf, why: String },
    #[error("what was accepted of servers cannot be understood, {path}: {problems}")]
    Lock { path: PathBuf, problems: Problems },
}

impl Ledger {
    /// Reads what was accepted.
    ///
    /// # Errors
    ///
    /// When it is there and cannot be read: then nothing is known to be accepted, and nothing may be used.
    pub(crate) fn open(folder: &Path) -> Result<Self, LedgerError> {
        let mut pages = Pages::default();
        let path = folder.join(LOCK);
        if let Some(bytes) = read(&path)? {
            pages.lock = LockFile::parse(&bytes).map_err(|problems| LedgerError::Lock { path, problems })?;
        }
        let path = folder.join(MANIFEST);
        if let Some(bytes) = read(&path)? {
            let manifest = serde_json::from_slice(&bytes);
            pages.manifest = Some(manifest.map_err(|error| failed(&path, &error))?);
        }
        Ok(Self { folder: folder.to_owned(), pages: Mutex::new(pages) })
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was accepted of a server.
    pub(crate) fn locked(&self, server: &ServerName) -> Option<LockedServer> {
        self.pages().lock.servers.get(server).cloned()
    }

    /// The manifest that was accepted at this path, as it was then.
    pub(crate) fn manifest(&self, path: &str) -> Option<String> {
        let pages = self.pages();
        pages.manifest.as_ref().filter(|accepted| accepted.path == path).map(|accepted| accepted.text.clone())
    }

    /// Accepts what a server offers. It is durable when this returns.
    pub(crate) fn accept(&self, server: ServerName, locked: LockedServer) -> Result<(), LedgerError> {
        let mut pages = self.pages();
        let mut lock = pages.lock.clone();
        lock.servers.insert(server, locked);
        self.publish(LOCK, &lock.to_string())?;
        pages.lock = lock;
        Ok(())
    }

    /// Accepts a manifest, and what the lock file beside it says. What was accepted of servers that the file does not know
    /// stays.
    pub(crate) fn accept_manifest(
        &self,
        path: &str,
        text: &str,
        beside: Option<LockFile>,
    ) -> Result<(), LedgerError> {
        let manifest = AcceptedManifest { path: path.to_owned(), text: text.to_owned() };
        let mut pages = self.pages();
        let mut lock = pages.lock.clone();
        lock.servers.extend(beside.into_iter().flat_map(|lock| lock.servers));
        // The lock first: a manifest whose servers are not locked yet would accept what they say.
        self.publish(LOCK, &lock.to_string())?;
        pages.lock = lock;
        let text = serde_json::to_string(&manifest).map_err(|error| failed(Path::new(MANIFEST), &error))?;
        self.publish(MANIFEST, &text)?;
        pages.manifest = Some(manifest);
        Ok(())
    }

    /// Puts a file in place of the old one at once.
    fn publish(&self, name: &str, text: &str) -> Result<(), LedgerError> {
        let path = self.folder.join(name);
        let write = || -> io::Result<()> {
            DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
            let mut draft = tempfile::Builder::new().prefix(".new-").tempfile_in(&self.folder)?;
            draft.write_all(text.as_bytes())?;
            draft.as_file().sync_all()?;
            draft.persist(&path).map_err(|error| error.error)?;
            File::open(&self.folder)?.sync_all()
        };
        write().map_err(|error| failed(&path, &error))
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, LedgerError> {
    match fs::metadata(path) {
        Ok(about) if about.len() > MOST => Err(failed(path, &format!("it has more than {MOST} bytes"))),
        Ok(_) => fs::read(path).map(Some).map_err(|error| failed(path, &error)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(path, &error)),
    }
}

fn failed(path: &Path, why: &dyn ToString) -> LedgerError {
    LedgerError::Io { path: path.to_owned(), why: why.to_string() }
}
