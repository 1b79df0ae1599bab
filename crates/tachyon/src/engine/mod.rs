//! The engine: one method per verb behind one dispatcher. Transports know nothing else.

mod artifact_get;
mod build;
mod call;
mod chain_list;
mod chain_register;
mod compile;
mod context;
mod deploy;
mod fields;
mod registry_lookup;
mod sending;
mod simulate;
mod target;
mod tenant;
mod test;
pub(crate) mod tools;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use alloy_primitives::{Address, U256};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::abi;
use crate::chain::embedded::{self, accounts};
use crate::chain::profile::{Profile, presets};
use crate::chain::rpc::{INLINE, RpcChain};
use crate::chain::{Chain, Intent};
use crate::compile::Toolchain;
use crate::config::Config;
use crate::fault::{Code, Envelope, Fault};
use crate::limits;
use crate::policy::signer::Key;
use crate::policy::{self, Asked, Grant};
pub(crate) use context::is_name;
pub use context::{CallContext, Progress, TenantName};
use fields::ChainRef;
use target::Wording;
use tenant::{Tenant, Tenants};
pub use tools::Tool;

/// Everything the toolbox can do.
pub struct Engine {
    config: Config,
    tenants: Arc<Tenants>,
    nodes: Mutex<HashMap<(String, u64), Arc<RpcChain>>>,
    turns: Mutex<HashMap<TenantName, Arc<Semaphore>>>,
}

/// A chain with the name it has here.
pub(crate) struct NamedChain {
    name: String,
    chain: Chain,
}

/// A chain somebody made known.
struct Known {
    profile: Profile,
    preset: bool,
}

/// Who is to sign, and by what right.
struct Wish<'a> {
    from: Option<&'a str>,
    token: Option<&'a str>,
    cap: Option<U256>,
    deploys: bool,
}

impl Engine {
    /// An engine with this configuration. It reads nothing until it is called.
    pub fn new(config: Config) -> Self {
        let tenants = Arc::new(Tenants::new(&config.data));
        Self { config, tenants, nodes: Mutex::default(), turns: Mutex::default() }
    }

    /// Does what a tool does. This is the only way in.
    pub async fn call(&self, tool: &str, arguments: Value, context: &CallContext) -> Envelope {
        let Some(tool) = Tool::named(tool) else {
            return Envelope::new(Err(Fault::invalid(format!("there is no tool `{tool}`"))));
        };
        let turns = self.turns(&context.tenant);
        let work = async {
            let _turn = turns.acquire().await.map_err(|_| Fault::internal("the engine is closing"))?;
            self.dispatch(tool, arguments, context).await
        };
        let outcome = tokio::select! {
            biased;
            () = context.cancel.cancelled() => Err(Fault::cancelled()),
            outcome = work => outcome,
        };
        Envelope::new(outcome)
    }

    async fn dispatch(&self, tool: Tool, arguments: Value, context: &CallContext) -> Result<Value, Fault> {
        tool.check_fields(&arguments)?;
        match tool {
            Tool::Compile => told(compile::run(self, read(arguments)?, context).await),
            Tool::Test => told(test::run(self, read(arguments)?, context).await),
            Tool::Simulate => told(simulate::run(self, read(arguments)?, context).await),
            Tool::Deploy => told(deploy::run(self, read(arguments)?, context).await),
            Tool::Call => told(call::run(self, read(arguments)?, context).await),
            Tool::ChainList => told(chain_list::run(self, read(arguments)?, context).await),
            Tool::ChainRegister => told(chain_register::run(self, read(arguments)?, context).await),
            Tool::ArtifactGet => told(artifact_get::run(self, read(arguments)?, context).await),
            Tool::RegistryLookup => told(registry_lookup::run(self, read(arguments)?, context).await),
        }
    }

    /// How many calls a tenant has at work. Each has its own count: one who waits for nodes keeps nobody else waiting.
    fn turns(&self, tenant: &TenantName) -> Arc<Semaphore> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = || Arc::new(Semaphore::new(limits::CALLS_AT_ONCE));
        turns.entry(tenant.clone()).or_insert_with(fresh).clone()
    }

    pub(crate) fn tenant(&self, name: &TenantName) -> Result<Arc<Tenant>, Fault> {
        self.tenants.get(name)
    }

    /// Where compilers and libraries are.
    fn toolchain(&self) -> Toolchain {
        let mut libraries = self.config.libraries.clone();
        libraries.push(self.config.library_folder().join("node_modules"));
        Toolchain {
            configured: self.config.solc.clone(),
            installed: self.config.compiler_folder(),
            libraries,
            project_roots: self.config.project_roots.clone(),
            time: self.config.compile_time(),
        }
    }

    fn default_chain(&self) -> &str {
        self.config.default_chain.as_deref().unwrap_or(embedded::NAME)
    }

    /// Whether a tenant may not give this name to a chain.
    fn is_reserved(&self, id: &str) -> bool {
        presets().iter().chain(&self.config.chains).any(|profile| profile.id == id)
    }

    /// All chains, those of the program first, then the operator's, then the tenant's.
    fn profiles(&self, tenant: &Tenant) -> Result<Vec<Known>, Fault> {
        let known = |preset| move |profile: &Profile| Known { profile: profile.clone(), preset };
        let mut all: Vec<Known> = presets().iter().map(known(true)).collect();
        all.extend(self.config.chains.iter().map(known(false)));
        all.extend(tenant.registry.read(|book| book.chains().map(known(false)).collect::<Vec<_>>())?);
        Ok(all)
    }

    /// The chain that is meant, by name or by number. The embedded chain keeps its number for itself.
    fn profile(&self, tenant: &Tenant, wanted: Option<&ChainRef>) -> Result<Profile, Fault> {
        let wanted = wanted.map_or(self.default_chain(), |wanted| wanted.0.as_str());
        let all = self.profiles(tenant)?;
        let by_name = all.iter().find(|known| known.profile.id == wanted);
        let by_number = || {
            let number: u64 = wanted.parse().ok()?;
            let mut of_number = all.iter().filter(|known| known.profile.chain_id == number);
            of_number
                .clone()
                .find(|known| known.profile.is_embedded() || known.profile.address().is_ok())
                .or(of_number.next())
        };
        let found = by_name.or_else(by_number).map(|known| known.profile.clone());
        found.ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|known| known.profile.id.as_str()).collect();
            let message = format!("no chain `{wanted}`; there are {}", names.join(", "));
            Fault::new(Code::ChainNotFound, message)
        })
    }

    /// The chain that is meant, ready to be used.
    async fn chain(&self, tenant: &Tenant, wanted: Option<&ChainRef>) -> Result<NamedChain, Fault> {
        let profile = self.profile(tenant, wanted)?;
        if profile.is_embedded() {
            return Ok(NamedChain { name: profile.id, chain: Chain::Embedded(tenant.embedded.clone()) });
        }
        let place = (profile.rpc_url.clone(), profile.chain_id);
        let known = self.nodes.lock().unwrap_or_else(PoisonError::into_inner).get(&place).cloned();
        let node = match known {
            Some(node) => node,
            None => {
                let node = Arc::new(RpcChain::connect(&profile, self.config.asking()).await?);
                self.nodes.lock().unwrap_or_else(PoisonError::into_inner).insert(place, node.clone());
                node
            }
        };
        Ok(NamedChain { name: profile.id, chain: Chain::Rpc(node) })
    }

    /// The chain of a call as it is written: a registered one, or a node that is only asked.
    async fn chain_of(&self, tenant: &Tenant, wording: &Wording) -> Result<NamedChain, Fault> {
        let Some(url) = &wording.rpc_url else { return self.chain(tenant, wording.chain_id.as_ref()).await };
        let node = RpcChain::inline(url, self.config.asking()).await?;
        let (id, wanted) = (node.id(), wording.chain_id.as_ref());
        if let Some(wanted) = wanted.filter(|wanted| wanted.0 != id.to_string()) {
            let message =
                format!("the node of `rpc_url` is of chain {id}, not `{}`; leave one of them out", wanted.0);
            return Err(Fault::invalid(message));
        }
        Ok(NamedChain { name: INLINE.into(), chain: Chain::Rpc(Arc::new(node)) })
    }

    /// The first funded account of the embedded chain.
    fn first_account(&self) -> Address {
        accounts::all().first().map_or(Address::ZERO, Key::address)
    }

    /// Who calls in a simulation: an address, or the name of an account.
    fn caller(&self, named: &NamedChain, from: Option<&str>) -> Result<Address, Fault> {
        match from {
            Some(text) if text.starts_with("0x") => {
                abi::address(&text.into()).map_err(|what| Fault::invalid(format!("`from`: {what}")))
            }
            Some(name) => Ok(self.account(named, Some(name))?.1.address()),
            None if named.chain.is_embedded() => Ok(self.first_account()),
            None => Ok(Address::ZERO),
        }
    }

    /// Finds who signs, and the right to have it signed.
    async fn authorise(
        &self,
        named: &NamedChain,
        asking: &Wish<'_>,
        intent: impl FnOnce(Address) -> Intent,
    ) -> Result<(Key, Grant, Intent), Fault> {
        if named.chain.is_embedded() {
            let (_, key) = self.account(named, asking.from)?;
            let intent = intent(key.address());
            return Ok((key, Grant::embedded(asking.cap), intent));
        }
        if self.config.accounts.is_empty() {
            let message = "no account is configured that could sign; see `accounts` in the configuration";
            return Err(Fault::new(Code::WalletNotConfigured, message));
        }
        let (name, key) = self.account(named, asking.from)?;
        let intent = intent(key.address());
        let asked = Asked {
            token: asking.token,
            chain: &named.name,
            account: &name,
            intent: &intent,
            deploys: asking.deploys,
            cap: asking.cap,
        };
        let grant = policy::authorise(&self.config.policies, &asked)?;
        Ok((key, grant, intent))
    }

    /// The account that signs, by name or address.
    fn account(&self, named: &NamedChain, from: Option<&str>) -> Result<(String, Key), Fault> {
        let missing = |what: String| Fault::new(Code::WalletNotConfigured, what);
        let is_it = |name: &str, address: Address| match from {
            None => true,
            Some(from) => from == name || from.eq_ignore_ascii_case(&format!("{address:#x}")),
        };
        if named.chain.is_embedded() {
            let mut keys = accounts::all().iter().enumerate();
            let found = keys.find(|(index, key)| is_it(&format!("dev{index}"), key.address()));
            let wanted = from.unwrap_or_default();
            return found.map(|(index, key)| (format!("dev{index}"), key.clone())).ok_or_else(|| {
                missing(format!(
                    "`{wanted}` is no account of the embedded chain; tachyon_chain_list shows them"
                ))
            });
        }
        for account in &self.config.accounts {
            let key = account
                .key
                .load()
                .map_err(|error| missing(format!("account `{}`: {error}", account.name)))?;
            if !is_it(&account.name, key.address()) {
                continue;
            }
            if accounts::is_public(key.address()) {
                let message = format!(
                    "everybody knows the key of account `{}`; it signs for no real chain",
                    account.name
                );
                return Err(Fault::new(Code::WalletPolicyDenied, message));
            }
            return Ok((account.name.clone(), key));
        }
        Err(missing(format!("no account `{}` is configured", from.unwrap_or_default())))
    }

    fn patience(&self) -> Duration {
        self.config.receipt_seconds.map_or(limits::RECEIPT_TIME, Duration::from_secs)
    }
}

/// A request of its type, or an error that says which field is wrong.
fn read<Q: DeserializeOwned>(arguments: Value) -> Result<Q, Fault> {
    let arguments = if arguments.is_null() { Value::Object(Default::default()) } else { arguments };
    serde_json::from_value(arguments).map_err(|error| Fault::invalid(error.to_string()))
}

fn told<R: Serialize>(response: Result<R, Fault>) -> Result<Value, Fault> {
    serde_json::to_value(response?)
        .map_err(|error| Fault::internal(format!("the answer cannot be written: {error}")))
}

fn check_key(key: &str) -> Result<(), Fault> {
    if (1..=limits::KEY_BYTES).contains(&key.len()) && !key.chars().any(char::is_control) {
        return Ok(());
    }
    let most = limits::KEY_BYTES;
    Err(Fault::invalid(format!("`idempotency_key` must have 1 to {most} bytes and no control characters")))
}
