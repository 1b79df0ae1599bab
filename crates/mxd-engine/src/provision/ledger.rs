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
use mxd_core::tool::{Pin, PinnedTool, ServerName};
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
pub(crate) struct AcceptedManifest {
    /// Where it was, relative to the repository.
    pub(crate) path: String,
    /// What it said.
    pub(crate) text: String,
    /// The signature that was beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) signature: Option<String>,
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

    /// The pin that a tool is held to, when this pin means what was accepted: the digest of a tool or of a package is
    /// another name for the version.
    pub(crate) fn held_pin(&self, tool: &PinnedTool) -> Option<Pin> {
        let pages = self.pages();
        let locked = pages.lock.resolve(tool).ok()?;
        let package = pages.lock.servers.get(&tool.id.server).and_then(|server| server.package.as_ref());
        Some(match package {
            Some(package) => Pin::Version(package.version.clone()),
            None => Pin::Sha256(locked.definition.digest()),
        })
    }

    /// The manifest that was accepted at this path, as it was then.
    pub(crate) fn manifest(&self, path: &str) -> Option<AcceptedManifest> {
        self.pages().manifest.clone().filter(|accepted| accepted.path == path)
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
        manifest: AcceptedManifest,
        beside: Option<LockFile>,
    ) -> Result<(), LedgerError> {
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

#[cfg(test)]
mod tests {
    use mxd_core::manifest::{AgentManifest, Discovered, Placeholders};
    use mxd_core::raw::RawJson;
    use mxd_core::tool::Digest;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_digest_that_was_accepted_is_another_name_for_the_version() {
        let folder = tempfile::tempdir().unwrap();
        let package = Digest::of(b"files");
        let manifest = json!({
            "schema_version": 1, "agent": "matrix://agent/a",
            "servers": [{
                "alias": "s", "transport": "http", "endpoint": "https://example.org/mcp", "version": "1.0.0",
                "package_digest": format!("sha256:{package}"),
                "tools": [{ "name": "t", "side_effect_class": "read" }],
            }],
        });
        let manifest = AgentManifest::parse(manifest.to_string().as_bytes(), Placeholders::Refuse).unwrap();
        let definition = json!({ "name": "t", "inputSchema": { "type": "object" } });
        let discovered = Discovered::read([&RawJson::parse(&definition.to_string()).unwrap()]);
        let server = manifest.servers[0].name.clone();
        let locked = LockedServer::accept(&manifest.servers[0], &discovered, None);
        let tool = locked.tools.values().next().unwrap().definition.digest();
        let ledger = Ledger::open(folder.path()).unwrap();
        ledger.accept(server, locked).unwrap();
        let held = |pin: &str| {
            let uri = format!("matrix://tool/mcp/s/t@{pin}");
            ledger.held_pin(&uri.parse().unwrap()).map(|pin| pin.to_string())
        };
        for meant in ["1.0.0".to_owned(), format!("sha256:{package}"), format!("sha256:{tool}")] {
            assert_eq!(held(&meant).as_deref(), Some("1.0.0"), "{meant}");
        }
        assert_eq!(held("1.0.1"), None);
        assert_eq!(held(&format!("sha256:{}", Digest::of(b"other"))), None);
    }
}
