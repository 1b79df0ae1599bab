//! The keyring: the one way by which credentials come into the program, which remembers what it must not say.

use std::fmt;
use std::sync::Arc;

use mxd_tools::secrets::Vault;
use secrecy::{ExposeSecret as _, SecretString};

use crate::config::{Config, Secret};

type Lookup = dyn Fn(&str) -> Option<SecretString> + Send + Sync;

/// Hands credentials out and makes each known to a vault, so that what writes texts can keep it out of them. Cheap to
/// clone.
#[derive(Clone)]
pub struct Keyring {
    lookup: Arc<Lookup>,
    vault: Vault,
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyring").field("vault", &self.vault).finish_non_exhaustive()
    }
}

impl Keyring {
    /// A keyring whose variables are looked up like this.
    pub fn new(lookup: impl Fn(&str) -> Option<SecretString> + Send + Sync + 'static) -> Self {
        Self { lookup: Arc::new(lookup), vault: Vault::default() }
    }

    /// The variables of this process.
    pub fn of_environment() -> Self {
        Self::new(|name| std::env::var(name).ok().map(SecretString::from))
    }

    /// What the variable of this name holds.
    pub fn get(&self, name: &str) -> Option<SecretString> {
        let secret = (self.lookup)(name)?;
        self.vault.learn(secret.expose_secret());
        Some(secret)
    }

    /// Everything that was handed out.
    pub fn vault(&self) -> &Vault {
        &self.vault
    }

    /// Makes the credentials known that stand in the settings themselves.
    pub(crate) fn know_literals(&self, config: &Config) {
        for group in config.auth_groups.values() {
            for secret in
                [&group.anthropic_api_key, &group.claude_oauth_token, &group.openai_api_key, &group.proxy]
                    .into_iter()
                    .flatten()
            {
                if let Secret::Literal(secret) = secret {
                    self.vault.learn(secret.expose_secret());
                }
            }
        }
    }
}
