//! Chains by name: presets as data, and those a tenant registered.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::embedded;

/// How to reach a chain, and what it must say it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profile {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) chain_id: u64,
    /// An address, or `$env:NAME_RPC_URL`. Empty for the embedded chain. It can hold a key, so it is never shown.
    #[serde(default)]
    pub(crate) rpc_url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) explorer: Option<String>,
}

/// A chain as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ShownChain {
    /// The name to use as `chain_id` in other tools; the number works too where only one chain has it.
    pub(crate) id: String,
    /// What people call it.
    pub(crate) name: String,
    /// The number of the chain.
    pub(crate) chain_id: u64,
    /// Where it is: the host of its node without path, user or key, or the variable that names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rpc: Option<String>,
    /// Whether it came with this program.
    pub(crate) preset: bool,
    /// Whether it can be used: a variable it needs is set.
    pub(crate) available: bool,
    /// Where to look at it with a browser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) explorer: Option<String>,
    /// What it can do beyond the usual.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) features: Vec<String>,
}

static PRESETS: LazyLock<Vec<Profile>> = LazyLock::new(|| {
    let embedded = Profile {
        id: embedded::NAME.into(),
        name: "The embedded development chain".into(),
        chain_id: embedded::CHAIN_ID,
        rpc_url: String::new(),
        explorer: None,
    };
    let others: Vec<Profile> = serde_json::from_str(include_str!("presets.json")).unwrap_or_default();
    std::iter::once(embedded).chain(others).collect()
});

/// The chains that come with the program; the embedded one first.
pub(crate) fn presets() -> &'static [Profile] {
    &PRESETS
}

/// Why the address of a node cannot be used. It never repeats the address.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AddressError {
    #[error("the variable {0} is not set; set it to the URL of a node")]
    Unset(String),
    #[error("the variable {0} may not be read; only names that end with _RPC_URL are")]
    Forbidden(String),
}

impl Profile {
    pub(crate) fn is_embedded(&self) -> bool {
        self.rpc_url.is_empty()
    }

    /// What the chain is, whatever it is called here: two names of one chain share keys and nonces.
    pub(crate) fn identity(&self) -> String {
        if self.is_embedded() { embedded::NAME.into() } else { format!("eip155:{}", self.chain_id) }
    }

    /// The URL of the node, with the variable looked up.
    pub(crate) fn address(&self) -> Result<String, AddressError> {
        let Some(variable) = self.rpc_url.strip_prefix("$env:") else { return Ok(self.rpc_url.clone()) };
        // Otherwise a caller could have any secret of this process sent to a host of its choice.
        if !variable.ends_with("_RPC_URL") {
            return Err(AddressError::Forbidden(variable.to_owned()));
        }
        let value = std::env::var(variable).ok().filter(|value| !value.is_empty());
        value.ok_or_else(|| AddressError::Unset(variable.to_owned()))
    }

    pub(crate) fn shown(&self, preset: bool) -> ShownChain {
        let rpc = match self.rpc_url.strip_prefix("$env:") {
            Some(_) => Some(self.rpc_url.clone()),
            None if self.is_embedded() => None,
            None => Some(host_of(&self.rpc_url)),
        };
        let features = if self.is_embedded() {
            vec!["trace".into(), "events".into(), "funded_accounts".into()]
        } else {
            vec![]
        };
        ShownChain {
            id: self.id.clone(),
            name: self.name.clone(),
            chain_id: self.chain_id,
            rpc,
            preset,
            available: self.is_embedded() || self.address().is_ok(),
            explorer: self.explorer.clone(),
            features,
        }
    }
}

/// Scheme, host and port: what may be shown of a URL.
pub(crate) fn host_of(url: &str) -> String {
    let Ok(url) = reqwest::Url::parse(url) else { return "a URL that cannot be read".into() };
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}", url.scheme(), url.host_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_read_and_the_embedded_chain_is_first() {
        assert_eq!(presets().len(), 5);
        assert!(presets()[0].is_embedded());
    }

    #[test]
    fn what_is_shown_of_a_url_holds_no_secret() {
        assert_eq!(
            host_of("https://user:word@node.example:8443/v3/key?token=x"),
            "https://node.example:8443"
        );
    }

    #[test]
    fn only_variables_for_nodes_are_read() {
        let profile = Profile { rpc_url: "$env:HOME".into(), ..presets()[1].clone() };
        assert_eq!(profile.address(), Err(AddressError::Forbidden("HOME".into())));
    }
}
