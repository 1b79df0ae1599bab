//! `tachyon_simulate`: what would happen, without a key and without a trace on the chain.

use schemars::JsonSchema;
use serde::Deserialize;

use super::fields::{AddressField, Amount};
use super::target::{Told, Wording};
use super::{CallContext, Engine};
use crate::chain::{At, Detail, Intent};
use crate::fault::Fault;

/// What to simulate.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    #[serde(flatten)]
    wording: Wording,
    /// Whom to call. Left out, `data` is the creation code of a contract.
    #[serde(default)]
    to: Option<AddressField>,
    /// The block after which it would happen; the newest when left out.
    #[serde(default)]
    block: Option<Amount>,
    /// Whether to tell who calls whom.
    #[serde(default)]
    trace: bool,
}

/// What would happen.
pub(crate) type Response = Told;

pub(super) async fn run(engine: &Engine, request: Request, context: &CallContext) -> Result<Response, Fault> {
    let tenant = engine.tenant(&context.tenant)?;
    let wording = request.wording;
    let named = engine.chain_of(&tenant, &wording).await?;
    let to = request.to.map(|to| to.0);
    if to.is_none() && wording.data.is_none() {
        return Err(Fault::invalid(
            "`to` is missing; without it `data` must be the creation code of a contract",
        ));
    }
    let meant = wording.understand(&tenant, &named.chain.identity(), to)?;
    let from = engine.caller(&named, wording.from.as_deref())?;
    let at = match request.block {
        None => At::Latest,
        Some(block) => At::Block(
            u64::try_from(block.0)
                .map_err(|_| Fault::invalid("`block` is beyond every chain's last block"))?,
        ),
    };
    let intent = Intent { from, to, data: meant.data.clone(), value: wording.value() };
    let detail = if request.trace { Detail::Trace } else { Detail::Result };
    let simulation = named.chain.simulate(&intent, at, detail).await?;
    Told::of(&simulation, &meant).accepted()
}
