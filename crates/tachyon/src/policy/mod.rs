//! Who may spend what: accounts that sign, and the policies without which they do not.

pub(crate) mod keys;
pub(crate) mod signer;
pub(crate) mod vault;

use alloy_primitives::{Address, U256};
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::chain::Intent;
use crate::chain::embedded::accounts::CREATE2_DEPLOYER;
use crate::fault::{Code, Fault};
use keys::SecretRef;

/// What one capability token may do. What is not said is not allowed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Policy {
    pub(crate) name: String,
    /// The secret that callers give as `capability_token`.
    pub(crate) token: SecretRef,
    /// Chains by name.
    pub(crate) chains: Vec<String>,
    /// Accounts by name.
    pub(crate) accounts: Vec<String>,
    /// The most one transaction may cost in wei, all its gas included.
    pub(crate) max_call_wei: Wei,
    /// The most all transactions together may cost in wei, gas included.
    pub(crate) max_total_wei: Wei,
    /// Whether contracts may be deployed.
    #[serde(default)]
    pub(crate) allow_deploy: bool,
    /// What may be called.
    #[serde(default)]
    pub(crate) targets: Vec<Target>,
}

/// A contract or person that may be called or paid.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Target {
    pub(crate) address: Address,
    /// Signatures like `transfer(address,uint256)`; `*` for all; empty for payments without data.
    #[serde(default)]
    pub(crate) methods: Vec<String>,
}

/// An amount in a configuration file; one that cannot be read is an error, never "no limit".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Wei(pub(crate) U256);

impl<'de> Deserialize<'de> for Wei {
    fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let json = serde_json::Value::deserialize(source)?;
        crate::abi::parse_amount(&json).map(Self).map_err(serde::de::Error::custom)
    }
}

/// What was found to be allowed, to be checked once more against the transaction itself.
#[derive(Debug, Clone)]
pub(crate) struct Grant {
    /// Empty on the embedded chain, where nothing is worth anything.
    pub(crate) policy: String,
    pub(crate) max_call: Option<U256>,
    pub(crate) max_total: Option<U256>,
}

/// A request to sign.
pub(crate) struct Asked<'a> {
    pub(crate) token: Option<&'a str>,
    pub(crate) chain: &'a str,
    pub(crate) account: &'a str,
    pub(crate) intent: &'a Intent,
    /// Whether the transaction creates a contract, directly or through the deterministic deployer.
    pub(crate) deploys: bool,
    /// The caller's own limit; it can only tighten.
    pub(crate) cap: Option<U256>,
}

fn denied(what: impl Into<String>) -> Fault {
    Fault::new(Code::WalletPolicyDenied, what)
}

impl Grant {
    /// On the embedded chain everybody may do everything, within the caller's own limit.
    pub(crate) fn embedded(cap: Option<U256>) -> Self {
        Self { policy: String::new(), max_call: cap, max_total: None }
    }

    /// Whether a transaction of this cost fits, given what was spent before.
    pub(crate) fn check(&self, cost: U256, spent: U256) -> Result<(), Fault> {
        if let Some(most) = self.max_call.filter(|most| cost > *most) {
            let what = format!(
                "it can cost {cost} wei with its gas, at most {most} wei are allowed for one transaction"
            );
            return Err(denied(what));
        }
        let total = spent.saturating_add(cost);
        if let Some(most) = self.max_total.filter(|most| total > *most) {
            let what = format!(
                "it can cost {cost} wei with its gas; with {spent} wei spent before that is more than the {most} wei of policy `{}`",
                self.policy
            );
            return Err(denied(what));
        }
        Ok(())
    }
}

/// Finds the policy a request comes under. Without one, nothing is signed.
pub(crate) fn authorise(policies: &[Policy], asked: &Asked<'_>) -> Result<Grant, Fault> {
    if policies.is_empty() {
        let what = "no policy is configured; nothing is signed for a real chain without one, see `policies`";
        return Err(denied(what));
    }
    let token = asked.token.ok_or_else(|| denied("`capability_token` is missing"))?;
    let policy = policies.iter().find(|policy| is_token(policy, token));
    // Which policies exist is nobody's business who has no token for one.
    let policy = policy.ok_or_else(|| denied("`capability_token` is not known"))?;
    let name = &policy.name;
    if !policy.chains.iter().any(|chain| chain == asked.chain) {
        return Err(denied(format!("policy `{name}` does not allow chain `{}`", asked.chain)));
    }
    if !policy.accounts.iter().any(|account| account == asked.account) {
        return Err(denied(format!("policy `{name}` does not allow account `{}`", asked.account)));
    }
    if asked.deploys {
        if !policy.allow_deploy {
            return Err(denied(format!("policy `{name}` does not allow deployments")));
        }
        // Another deployer is a contract like any other, and what it is sent could mean anything to it.
        if asked.intent.to.is_some_and(|deployer| deployer != CREATE2_DEPLOYER) {
            target_allowed(policy, asked.intent)?;
        }
    } else {
        target_allowed(policy, asked.intent)?;
    }
    let most = policy.max_call_wei.0;
    let max_call = Some(asked.cap.map_or(most, |cap| cap.min(most)));
    Ok(Grant { policy: name.clone(), max_call, max_total: Some(policy.max_total_wei.0) })
}

fn target_allowed(policy: &Policy, intent: &Intent) -> Result<(), Fault> {
    let name = &policy.name;
    let to = intent.to.ok_or_else(|| denied(format!("policy `{name}` does not allow deployments")))?;
    let target = policy.targets.iter().find(|target| target.address == to);
    let target = target.ok_or_else(|| denied(format!("policy `{name}` does not allow calls to {to}")))?;
    let allowed = match intent.data.get(..4) {
        Some(selector) => target.methods.iter().any(|method| {
            let plain: String = method.chars().filter(|char| !char.is_whitespace()).collect();
            method == "*" || alloy_primitives::keccak256(plain)[..4] == *selector
        }),
        None => intent.data.is_empty() || target.methods.iter().any(|method| method == "*"),
    };
    if !allowed {
        return Err(denied(format!("policy `{name}` does not allow this method of {to}")));
    }
    Ok(())
}

/// Compares hashes, so that the time it takes tells nothing about the token.
fn is_token(policy: &Policy, given: &str) -> bool {
    let Ok(token) = policy.token.reveal() else { return false };
    let token = token.expose_secret();
    token.len() >= MIN_TOKEN && Sha256::digest(token) == Sha256::digest(given)
}

/// Shorter ones could be guessed.
pub(crate) const MIN_TOKEN: usize = 16;
