//! What a tenant has: artifacts by content, chains, and every transaction with what became of it.

mod artifact;
mod book;
mod sends;

use std::path::{Path, PathBuf};

use alloy_primitives::Address;

use crate::fault::{Code, Fault};
use crate::journal::{Journal, JournalError, publish};
pub(crate) use artifact::{Artifact, CompilerUsed, OptimizerUsed};
pub(crate) use book::{ArtifactEntry, Book, Entry};
pub(crate) use sends::{End, Reservation, Send, SendId, SendKind};

/// The registry of one tenant.
pub(crate) struct Registry {
    journal: Journal<Book>,
    artifacts: PathBuf,
}

impl Registry {
    pub(crate) fn open(folder: &Path) -> Result<Self, JournalError> {
        let journal = Journal::open(&folder.join("registry.jsonl"))?;
        Ok(Self { journal, artifacts: folder.join("artifacts") })
    }

    pub(crate) fn read<T>(&self, look: impl FnOnce(&Book) -> T) -> Result<T, Fault> {
        Ok(self.journal.read(look)?)
    }

    /// Decides alone on the newest state, and keeps what was decided.
    pub(crate) fn write<T>(
        &self,
        decide: impl FnOnce(&Book) -> Result<(Vec<Entry>, T), Fault>,
    ) -> Result<T, Fault> {
        self.journal.write(decide)
    }

    /// Keeps artifacts of one compilation. The bodies are durable before the entries that name them.
    pub(crate) fn keep(&self, artifacts: &[(ArtifactEntry, Artifact)]) -> Result<(), Fault> {
        for (entry, artifact) in artifacts {
            let path = self.body(&entry.artifact_id)?;
            if !path.exists() {
                let kept = publish(&path, &artifact.to_bytes());
                kept.map_err(|error| Fault::internal(format!("{}: {error}", path.display())))?;
            }
        }
        self.write(|book| {
            let new = artifacts.iter().filter(|(entry, _)| !book.is_newest(entry));
            Ok((new.map(|(entry, _)| Entry::Artifact(entry.clone())).collect(), ()))
        })
    }

    /// The body of an artifact, checked against its name.
    pub(crate) fn artifact(&self, id: &str) -> Result<Artifact, Fault> {
        let path = self.body(id)?;
        let bytes = std::fs::read(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                Fault::new(Code::ArtifactNotFound, format!("no artifact `{id}`; compile first"))
            }
            _ => Fault::internal(format!("{}: {error}", path.display())),
        })?;
        if Artifact::id_of(&bytes) != id {
            let message =
                format!("artifact `{id}` was altered on disk; compile again and find out who did it");
            return Err(Fault::internal(message));
        }
        serde_json::from_slice(&bytes).map_err(|error| Fault::internal(format!("artifact `{id}`: {error}")))
    }

    /// The artifact of the contract at this address, when it was deployed by us.
    pub(crate) fn artifact_at(&self, chain: &str, address: Address) -> Option<Artifact> {
        let id = self.read(|book| book.artifact_at(chain, address).map(str::to_owned)).ok()??;
        self.artifact(&id).ok()
    }

    fn body(&self, id: &str) -> Result<PathBuf, Fault> {
        let digits = id.strip_prefix("sha256:").unwrap_or_default();
        let well_formed =
            digits.len() == 64 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !well_formed {
            return Err(Fault::invalid(format!("`{id}` is not an artifact id; it is sha256: and 64 digits")));
        }
        Ok(self.artifacts.join(format!("{digits}.json")))
    }
}
