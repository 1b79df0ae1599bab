//! Tenants: what belongs to each, and what they have to share because accounts and policies are not theirs alone.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use alloy_primitives::{Address, U256};
use sha2::{Digest as _, Sha256};

use super::context::TenantName;
use crate::chain::embedded::EmbeddedChain;
use crate::chain::{Chain, aside};
use crate::fault::Fault;
use crate::journal::private_folder;
use crate::registry::Registry;

/// Registry and embedded chain of one tenant.
pub(crate) struct Tenant {
    pub(crate) name: TenantName,
    pub(crate) registry: Registry,
    pub(crate) embedded: Arc<EmbeddedChain>,
}

/// All tenants of an installation, each opened when it is needed first.
pub(crate) struct Tenants {
    data: PathBuf,
    open: Mutex<HashMap<TenantName, Arc<Tenant>>>,
}

/// The right to do something alone, for as long as it lives. It is a lock on a file, so it holds between processes and ends with
/// the one that has it.
pub(crate) struct Lane {
    _file: File,
}

impl Tenant {
    fn open(name: &TenantName, folder: &Path) -> Result<Self, Fault> {
        Ok(Self {
            name: name.clone(),
            registry: Registry::open(folder)?,
            embedded: Arc::new(EmbeddedChain::open(&folder.join("chain.jsonl"))?),
        })
    }
}

impl Tenants {
    pub(crate) fn new(data: &Path) -> Self {
        Self { data: data.to_owned(), open: Mutex::default() }
    }

    pub(crate) fn get(&self, name: &TenantName) -> Result<Arc<Tenant>, Fault> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tenant) = open.get(name) {
            return Ok(tenant.clone());
        }
        let tenant = Arc::new(Tenant::open(name, &self.data.join("tenants").join(name.as_str()))?);
        open.insert(name.clone(), tenant.clone());
        Ok(tenant)
    }

    /// What everybody spent under a policy. One that cannot be read stops it: what is not known could be too much.
    pub(crate) fn spent(&self, policy: &str) -> Result<U256, Fault> {
        let folder = self.data.join("tenants");
        let failed = |error: std::io::Error| Fault::internal(format!("{}: {error}", folder.display()));
        let mut spent = U256::ZERO;
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let Ok(name) = TenantName::new(&name.to_string_lossy()) else { continue };
            spent = spent.saturating_add(self.get(&name)?.registry.read(|book| book.spent(policy))?);
        }
        Ok(spent)
    }

    /// The nonces of one account, whoever uses it. Only embedded chains are each tenant's own.
    pub(crate) async fn lane(&self, tenant: &Tenant, chain: &Chain, account: Address) -> Result<Lane, Fault> {
        let whose = if chain.is_embedded() { format!("-{}", tenant.name.as_str()) } else { String::new() };
        self.alone(format!("{}{whose}-{account:x}", chain.identity().replace(':', "-"))).await
    }

    /// What a policy still allows, for as long as somebody decides by it.
    pub(crate) async fn purse(&self, policy: &str) -> Result<Lane, Fault> {
        // Names of policies may have any character.
        self.alone(format!("policy-{}", hex::encode(&Sha256::digest(policy)[..16]))).await
    }

    async fn alone(&self, name: String) -> Result<Lane, Fault> {
        let folder = self.data.join("lanes");
        aside(move || {
            let path = folder.join(format!("{name}.lock"));
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
