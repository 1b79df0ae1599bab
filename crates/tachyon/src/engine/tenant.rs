//! What belongs to one tenant: registry, embedded chain and the lanes of its accounts.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use alloy_primitives::Address;

use crate::chain::aside;
use crate::chain::embedded::EmbeddedChain;
use crate::fault::Fault;
use crate::journal::private_folder;
use crate::registry::Registry;

pub(crate) struct Tenant {
    pub(crate) registry: Registry,
    pub(crate) embedded: Arc<EmbeddedChain>,
    folder: PathBuf,
}

/// The right to use the nonces of one account, for as long as it lives. It is a lock on a file, so it holds between processes
/// and ends with the one that has it.
pub(crate) struct Lane {
    _file: File,
}

impl Tenant {
    pub(crate) fn open(folder: &Path) -> Result<Self, Fault> {
        Ok(Self {
            registry: Registry::open(folder)?,
            embedded: Arc::new(EmbeddedChain::open(&folder.join("chain.jsonl"))?),
            folder: folder.to_owned(),
        })
    }

    pub(crate) async fn lane(&self, chain: &str, account: Address) -> Result<Lane, Fault> {
        let folder = self.folder.join("lanes");
        let name = format!("{}-{account:x}.lock", chain.replace(':', "-"));
        aside(move || {
            let path = folder.join(&name);
            let lock = || {
                private_folder(&folder)?;
                let mut options = OpenOptions::new();
                let file = options.write(true).create(true).truncate(false).mode(0o600).open(&path)?;
                file.lock()?;
                Ok(Lane { _file: file })
            };
            lock().map_err(|error: std::io::Error| Fault::internal(format!("{}: {error}", path.display())))
        })
        .await
    }
}
