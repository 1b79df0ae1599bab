//! `tachyon_chain_list`: which chains there are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CallContext, Engine};
use crate::chain::embedded;
use crate::chain::profile::ShownChain;
use crate::fault::Fault;

/// Nothing to say.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {}

/// The chains, the embedded one first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Response {
    /// The chains.
    chains: Vec<ShownChain>,
    /// The one that is meant when none is named.
    active_chain_id: String,
    /// The funded accounts of the embedded chain.
    accounts: Vec<String>,
    /// The newest block of the embedded chain.
    embedded_block: u64,
}

pub(super) async fn run(engine: &Engine, _: Request, context: &CallContext) -> Result<Response, Fault> {
    let tenant = engine.tenant(&context.tenant)?;
    let chains = engine.profiles(&tenant)?;
    let accounts = embedded::accounts::all().iter().map(|key| key.address().to_checksum(None));
    Ok(Response {
        chains: chains.iter().map(|known| known.profile.shown(known.preset)).collect(),
        active_chain_id: engine.default_chain().to_owned(),
        accounts: accounts.collect(),
        embedded_block: tenant.embedded.head()?,
    })
}
