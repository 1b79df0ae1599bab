//! `tachyon_call`: asks a contract something, or has it do something.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fields::{AddressField, Amount, ChainRef, HexField};
use super::sending::{Creates, Order, Sender, shown_receipt};
use super::target::{Wording, explain};
use super::{Asking, CallContext, Engine, NamedChain, check_key};
use crate::abi::{self, Decoded, DecodedEvent};
use crate::chain::{At, Detail, Intent};
use crate::fault::{Code, Fault};
use crate::registry::SendKind;

/// What to call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// The chain; the embedded one when left out.
    #[serde(default)]
    chain_id: Option<ChainRef>,
    /// Whom to call.
    to: AddressField,
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
    /// The account that pays: its name, or its address. With `simulate_only` any address will do.
    #[serde(default)]
    from: Option<String>,
    /// Only says what would happen. Functions that change nothing are never sent anyway.
    #[serde(default)]
    simulate_only: bool,
    /// A name of your choice for this transaction. Calling again with it never sends twice.
    #[serde(default)]
    idempotency_key: Option<String>,
    /// The secret of the policy that allows it. Not needed on the embedded chain.
    #[serde(default)]
    capability_token: Option<String>,
    /// The most it may cost in wei, gas included.
    #[serde(default)]
    spend_cap_wei: Option<Amount>,
}

/// What happened, or would happen.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Response {
    /// Whether a transaction was sent.
    sent: bool,
    /// The bytes that are returned; of a transaction, as simulated right before it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<String>,
    /// The same, decoded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    decoded: Vec<Decoded>,
    /// The gas limit with which it succeeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    gas_estimate: Option<u64>,
    /// The block on whose state it was simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<u64>,
    /// The transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    tx_hash: Option<String>,
    /// Whether it was sent before this call.
    #[serde(skip_serializing_if = "Option::is_none")]
    existing: Option<bool>,
    /// What the chain says about the transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<Value>,
    /// What it emitted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    events: Vec<DecodedEvent>,
}

pub(super) async fn run(engine: &Engine, request: Request, context: &CallContext) -> Result<Response, Fault> {
    if let Some(key) = &request.idempotency_key {
        check_key(key)?;
    }
    let tenant = engine.tenant(&context.tenant)?;
    let named = engine.chain(&tenant, request.chain_id.as_ref()).await?;
    let to = request.to.0;
    let wording = Wording {
        data: request.data,
        method: request.method,
        args: request.args,
        abi: request.abi,
        contract: request.contract,
        project_id: request.project_id,
    };
    let meant = wording.understand(&tenant, &named.chain.identity(), Some(to))?;
    let value = request.value.map(|value| value.0).unwrap_or_default();
    let draft = |from| Intent { from, to: Some(to), data: meant.data.clone(), value };
    if request.simulate_only || meant.only_reads() {
        let from = engine.caller(&named, request.from.as_deref())?;
        return simulate(&named, draft(from), &meant).await;
    }
    let asking = Asking {
        from: request.from.as_deref(),
        token: request.capability_token.as_deref(),
        cap: request.spend_cap_wei.map(|cap| cap.0),
        deploys: false,
    };
    let (signer, grant, intent) = engine.authorise(&named, &asking, draft).await?;
    let key = request.idempotency_key.unwrap_or_default();
    let order = Order {
        kind: if key.is_empty() { SendKind::Unkeyed } else { SendKind::Call },
        key,
        intent,
        creates: Creates::Nothing,
        contract: String::new(),
        artifact_id: String::new(),
        signer,
        grant,
        abis: meant.abis.clone(),
        code: Code::CallFailed,
    };
    let sender = Sender::new(engine, tenant, &named, context);
    let sent = sender.send(order).await?;
    let mut response = Response {
        sent: true,
        tx_hash: Some(sent.reservation.tx_hash.to_string()),
        existing: Some(sent.existing),
        receipt: Some(shown_receipt(&sent.receipt)),
        events: sent.receipt.logs.iter().map(|log| abi::decode_event(log, &meant.abis)).collect(),
        ..Response::default()
    };
    if let Some(simulation) = &sent.simulation {
        let explained = explain(simulation, &meant);
        response.result = explained.result;
        response.decoded = explained.decoded;
        response.block = Some(simulation.block);
    }
    Ok(response)
}

async fn simulate(
    named: &NamedChain,
    intent: Intent,
    meant: &super::target::Meant,
) -> Result<Response, Fault> {
    let simulation = named.chain.simulate(&intent, At::Latest, Detail::Result).await?;
    let explained = explain(&simulation, meant);
    if let Some(revert) = explained.revert {
        let fault = Fault::new(Code::SimulateFailed, format!("it reverts: {}", revert.reason));
        return Err(fault.with_details(serde_json::json!({ "revert": revert, "block": simulation.block })));
    }
    Ok(Response {
        sent: false,
        result: explained.result,
        decoded: explained.decoded,
        gas_estimate: simulation.gas,
        block: Some(simulation.block),
        events: explained.events,
        ..Response::default()
    })
}
