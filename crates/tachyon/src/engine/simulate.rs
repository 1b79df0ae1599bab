//! `tachyon_simulate`: what would happen, without a key and without a trace on the chain.

use alloy_primitives::Address;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fields::{AddressField, Amount, ChainRef, HexField};
use super::target::{Wording, explain};
use super::{CallContext, Engine};
use crate::abi::{Decoded, DecodedEvent, Revert};
use crate::chain::{At, Detail, Intent};
use crate::fault::{Code, Fault};

/// What to simulate.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// The chain; the embedded one when left out.
    #[serde(default)]
    chain_id: Option<ChainRef>,
    /// Who would send it; a funded account of the embedded chain when left out.
    #[serde(default)]
    from: Option<AddressField>,
    /// Whom to call. Left out, `data` is the creation code of a contract.
    #[serde(default)]
    to: Option<AddressField>,
    /// The bytes to send. Use either this or `method`.
    #[serde(default)]
    data: Option<HexField>,
    /// The function, by name or, where it is overloaded, by signature like `transfer(address,uint256)`. With `returns (…)` no
    /// ABI is needed.
    #[serde(default)]
    method: Option<String>,
    /// Its arguments: numbers as decimal or 0x strings, structs as arrays or objects.
    #[serde(default)]
    args: Option<Vec<Value>>,
    /// The contract's ABI. Not needed for contracts that were compiled or deployed here.
    #[serde(default)]
    abi: Option<Value>,
    /// The name of a compiled contract whose ABI to use.
    #[serde(default)]
    contract: Option<String>,
    /// The project the contract is in.
    #[serde(default)]
    project_id: Option<String>,
    /// Wei to send along.
    #[serde(default)]
    value: Option<Amount>,
    /// The block after which it would happen; the newest when left out.
    #[serde(default)]
    block: Option<Amount>,
    /// Whether to tell who calls whom.
    #[serde(default)]
    trace: bool,
}

/// What would happen.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Response {
    /// The bytes that are returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<String>,
    /// The same, decoded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    decoded: Vec<Decoded>,
    /// The gas limit with which it succeeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    gas_estimate: Option<u64>,
    /// Why it is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    revert: Option<Revert>,
    /// What it emits. Nodes do not tell; the embedded chain does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    events: Vec<DecodedEvent>,
    /// The block on whose state it was tried.
    block: u64,
    /// Who calls whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Value>,
}

pub(super) async fn run(engine: &Engine, request: Request, context: &CallContext) -> Result<Response, Fault> {
    let tenant = engine.tenant(&context.tenant)?;
    let named = engine.chain(&tenant, request.chain_id.as_ref()).await?;
    let to = request.to.map(|to| to.0);
    let wording = Wording {
        data: request.data,
        method: request.method,
        args: request.args,
        abi: request.abi,
        contract: request.contract,
        project_id: request.project_id,
    };
    if to.is_none() && wording.data.is_none() {
        return Err(Fault::invalid(
            "`to` is missing; without it `data` must be the creation code of a contract",
        ));
    }
    let meant = wording.understand(&tenant, &named.chain.identity(), to)?;
    let from = match request.from {
        Some(from) => from.0,
        None if named.chain.is_embedded() => engine.first_account(),
        None => Address::ZERO,
    };
    let at = match request.block {
        None => At::Latest,
        Some(block) => At::Block(
            u64::try_from(block.0)
                .map_err(|_| Fault::invalid("`block` is beyond every chain's last block"))?,
        ),
    };
    let value = request.value.map(|value| value.0).unwrap_or_default();
    let intent = Intent { from, to, data: meant.data.clone(), value };
    let detail = if request.trace { Detail::Trace } else { Detail::Result };
    let simulation = named.chain.simulate(&intent, at, detail).await?;
    let explained = explain(&simulation, &meant);
    let response = Response {
        result: explained.result,
        decoded: explained.decoded,
        gas_estimate: simulation.gas,
        revert: explained.revert,
        events: explained.events,
        block: simulation.block,
        trace: simulation.trace,
    };
    match &response.revert {
        None => Ok(response),
        Some(revert) => {
            let fault = Fault::new(Code::SimulateFailed, format!("it reverts: {}", revert.reason));
            Err(fault.with_data(&response))
        }
    }
}
