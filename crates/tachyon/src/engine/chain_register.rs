//! `tachyon_chain_register`: makes a node known, once it proved to be of the chain it should be of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::is_name;
use super::{CallContext, Engine};
use crate::chain::profile::{Profile, ShownChain};
use crate::chain::rpc::RpcChain;
use crate::fault::Fault;
use crate::limits;
use crate::registry::Entry;

/// How to reach a chain.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// The name to use as `chain_id` in other tools: small letters, digits, `-` and `_`.
    id: String,
    /// What people call it.
    #[serde(default)]
    name: Option<String>,
    /// The URL of a JSON-RPC node, or `$env:NAME_RPC_URL`. It is kept and never shown again.
    rpc_url: String,
    /// The number of the chain. The node must say the same.
    chain_id: u64,
    /// Where to look at it with a browser.
    #[serde(default)]
    explorer: Option<String>,
}

/// The chain as it is kept.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Response {
    #[serde(flatten)]
    chain: ShownChain,
}

pub(super) async fn run(engine: &Engine, request: Request, context: &CallContext) -> Result<Response, Fault> {
    let Request { id, name, rpc_url, chain_id, explorer } = request;
    if !is_name(&id) {
        let message = format!("`{id}` cannot be the id of a chain; use small letters, digits, `-` and `_`");
        return Err(Fault::invalid(message));
    }
    if id.bytes().all(|byte| byte.is_ascii_digit()) || chain_id == 0 || rpc_url.is_empty() {
        let message = "`id` must not be a number, `chain_id` must not be 0 and `rpc_url` must not be empty";
        return Err(Fault::invalid(message));
    }
    let tenant = engine.tenant(&context.tenant)?;
    if engine.is_reserved(&id) {
        return Err(Fault::invalid(format!("`{id}` is the name of a preset; choose another one")));
    }
    let name = name.unwrap_or_else(|| id.clone());
    let profile = Profile { id, name, chain_id, rpc_url, explorer };
    RpcChain::connect(&profile, engine.config.asking()).await?;
    let shown = profile.shown(false);
    tenant.registry.write(|book| {
        if book.chain(&profile.id).is_none() && book.chains().count() >= limits::CHAINS {
            return Err(Fault::invalid(format!(
                "{} chains are registered, that is the most",
                limits::CHAINS
            )));
        }
        if book.chain(&profile.id).is_some_and(|known| known.chain_id != profile.chain_id) {
            let message = format!("`{}` is registered with another number; choose another id", profile.id);
            return Err(Fault::invalid(message));
        }
        Ok((vec![Entry::Chain { profile: profile.clone() }], ()))
    })?;
    Ok(Response { chain: shown })
}
