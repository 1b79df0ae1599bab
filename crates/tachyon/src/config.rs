//! What the operator decided: read once, from one file, at the edge.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use crate::chain::profile::Profile;
use crate::chain::rpc::{Asking, Reach};
use crate::engine::TenantName;
use crate::limits;
use crate::policy::keys::{AccountConfig, SecretRef};
use crate::policy::{MIN_TOKEN, Policy};

/// The configuration of one installation.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where everything is kept.
    pub(crate) data: PathBuf,
    /// The chain that is meant when none is named.
    pub(crate) default_chain: Option<String>,
    /// A Solidity compiler to use before all others.
    pub(crate) solc: Option<PathBuf>,
    /// The program tests are handed to when they need what the built-in runner lacks; the one on the path when left out.
    pub(crate) forge: Option<PathBuf>,
    /// Folders that imports like `@openzeppelin/…` are looked for in, as `node_modules` is.
    pub(crate) libraries: Vec<PathBuf>,
    /// Folders whose projects may be compiled in place.
    pub(crate) project_roots: Vec<PathBuf>,
    /// Chains beside the presets.
    pub(crate) chains: Vec<Profile>,
    /// How many seconds to wait for a receipt; two minutes when left out.
    pub(crate) receipt_seconds: Option<u64>,
    /// How many seconds a node may take for one answer; twenty when left out.
    pub(crate) rpc_seconds: Option<u64>,
    /// How many seconds a compiler may run; five minutes when left out.
    pub(crate) compile_seconds: Option<u64>,
    /// How many seconds an HTTP client may take to send a request; thirty when left out.
    pub(crate) client_seconds: Option<u64>,
    /// Whether nodes may be on this machine or in its networks.
    pub(crate) allow_private_rpc: bool,
    /// Who signs.
    pub(crate) accounts: Vec<AccountConfig>,
    /// Who may have what signed.
    pub(crate) policies: Vec<Policy>,
    /// Who may use the HTTP interface.
    pub(crate) tenants: Vec<TenantConfig>,
}

/// Somebody who uses the HTTP interface, with the token that proves it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TenantConfig {
    pub(crate) name: String,
    pub(crate) token: SecretRef,
}

/// Why a configuration is not used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{path}: {error}")]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The file is not what it should be.
    #[error("{path}: {error}")]
    Wrong {
        /// Which file.
        path: PathBuf,
        /// Where and why.
        error: serde_json::Error,
    },
    /// It says something that cannot work.
    #[error("the configuration cannot work: {0}")]
    Contradiction(String),
}

impl Config {
    /// Reads a file, or takes the defaults when there is none.
    pub fn load(path: Option<&Path>) -> Result<Self, ConfigError> {
        let mut config = match path {
            None => Self::default(),
            Some(path) => {
                let text = std::fs::read_to_string(path)
                    .map_err(|error| ConfigError::Unreadable { path: path.to_owned(), error })?;
                serde_json::from_str(&text)
                    .map_err(|error| ConfigError::Wrong { path: path.to_owned(), error })?
            }
        };
        if config.data.as_os_str().is_empty() {
            config.data = usual_data_folder();
        }
        config.check()?;
        Ok(config)
    }

    /// The same with another data folder.
    pub fn with_data(mut self, folder: PathBuf) -> Self {
        self.data = folder;
        self
    }

    /// The same, with this folder's projects allowed when no others are.
    pub(crate) fn with_usual_root(mut self, folder: PathBuf) -> Self {
        if self.project_roots.is_empty() {
            self.project_roots.push(folder);
        }
        self
    }

    /// Who may use the HTTP interface. Nobody configured means nobody, not everybody.
    pub(crate) fn tenant_tokens(&self) -> Result<Vec<(SecretString, TenantName)>, ConfigError> {
        if self.tenants.is_empty() {
            let what = "`tenants` is empty, so nobody could use the HTTP interface; name one with its token";
            return Err(ConfigError::Contradiction(what.into()));
        }
        let one = |tenant: &TenantConfig| {
            let wrong =
                |what: String| ConfigError::Contradiction(format!("tenant `{}`: {what}", tenant.name));
            let name = TenantName::new(&tenant.name).map_err(|fault| wrong(fault.message))?;
            Ok((tenant.token.reveal().map_err(|error| wrong(error.to_string()))?, name))
        };
        self.tenants.iter().map(one).collect()
    }

    /// Where installed compilers are kept.
    pub(crate) fn compiler_folder(&self) -> PathBuf {
        self.data.join("solc")
    }

    /// Where installed libraries are kept, in a `node_modules` of their own.
    pub(crate) fn library_folder(&self) -> PathBuf {
        self.data.join("libraries")
    }

    /// Where keys are kept that this program made or took in.
    pub(crate) fn key_folder(&self) -> PathBuf {
        self.data.join("keys")
    }

    /// How nodes are asked.
    pub(crate) fn asking(&self) -> Asking {
        let reach = if self.allow_private_rpc { Reach::Private } else { Reach::Public };
        Asking { reach, patience: self.rpc_seconds.map_or(limits::RPC_TIME, Duration::from_secs) }
    }

    pub(crate) fn compile_time(&self) -> Duration {
        self.compile_seconds.map_or(limits::COMPILE_TIME, Duration::from_secs)
    }

    fn check(&self) -> Result<(), ConfigError> {
        let unique = |kind: &str, names: Vec<&str>| {
            let mut seen = BTreeSet::new();
            match names.into_iter().find(|name| !seen.insert(*name) || name.is_empty()) {
                Some(name) => Err(ConfigError::Contradiction(format!("two {kind} are named `{name}`"))),
                None => Ok(()),
            }
        };
        unique("accounts", self.accounts.iter().map(|account| account.name.as_str()).collect())?;
        unique("policies", self.policies.iter().map(|policy| policy.name.as_str()).collect())?;
        unique("tenants", self.tenants.iter().map(|tenant| tenant.name.as_str()).collect())?;
        unique("chains", self.chains.iter().map(|chain| chain.id.as_str()).collect())?;
        let tokens = self.policies.iter().map(|policy| (&policy.name, &policy.token));
        for (name, token) in tokens.chain(self.tenants.iter().map(|tenant| (&tenant.name, &tenant.token))) {
            let short = match token.reveal() {
                Ok(token) => token.expose_secret().len() < MIN_TOKEN,
                Err(error) => {
                    return Err(ConfigError::Contradiction(format!("the token of `{name}`: {error}")));
                }
            };
            if short {
                let what = format!("the token of `{name}` has fewer than {MIN_TOKEN} characters");
                return Err(ConfigError::Contradiction(what));
            }
        }
        Ok(())
    }
}

/// `$TACHYON_DATA`, or where programs keep their data.
fn usual_data_folder() -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || variable("HOME").map(|home| home.join(".local/share"));
    variable("TACHYON_DATA")
        .or_else(|| variable("XDG_DATA_HOME").or_else(home).map(|folder| folder.join("tachyon")))
        .unwrap_or_else(|| PathBuf::from(".tachyon"))
}
