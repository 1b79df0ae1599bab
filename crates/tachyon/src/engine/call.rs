//! `tachyon_call`: asks a contract something, or has it do something.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fields::{AddressField, Amount};
use super::sending::{Creates, Order, Sender, shown_receipt};
use super::target::{Told, Wording};
use super::{CallContext, Engine, Wish, check_key};
use crate::abi;
use crate::chain::{At, Detail, Intent};
use crate::fault::{Code, Fault};
use crate::registry::SendKind;

/// What to call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    #[serde(flatten)]
    wording: Wording,
    /// Whom to call.
    to: AddressField,
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
    #[serde(flatten)]
    told: Told,
    /// The transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    tx_hash: Option<String>,
    /// Whether it was sent before this call.
    #[serde(skip_serializing_if = "Option::is_none")]
    existing: Option<bool>,
    /// What the chain says about the transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<Value>,
}

pub(super) async fn run(engine: &Engine, request: Request, context: &CallContext) -> Result<Response, Fault> {
    if let Some(key) = &request.idempotency_key {
        check_key(key)?;
    }
    let tenant = engine.tenant(&context.tenant)?;
    let wording = request.wording;
    let named = engine.chain_of(&tenant, &wording).await?;
    let to = request.to.0;
    let meant = wording.understand(&tenant, &named.chain.identity(), Some(to))?;
    let value = wording.value();
    let draft = |from| Intent { from, to: Some(to), data: meant.data.clone(), value };
    if request.simulate_only || meant.only_reads() {
        let intent = draft(engine.caller(&named, wording.from.as_deref())?);
        let simulation = named.chain.simulate(&intent, At::Latest, Detail::Result).await?;
        return Ok(Response { told: Told::of(&simulation, &meant).accepted()?, ..Response::default() });
    }
    if wording.rpc_url.is_some() {
        let message =
            "`rpc_url` is for asking only; register the chain to send to it, or set `simulate_only`";
        return Err(Fault::invalid(message));
    }
    let asking = Wish {
        from: wording.from.as_deref(),
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
    let mut told =
        sent.simulation.as_ref().map(|simulation| Told::of(simulation, &meant)).unwrap_or_default();
    told.events = sent.receipt.logs.iter().map(|log| abi::decode_event(log, &meant.abis)).collect();
    Ok(Response {
        sent: true,
        told,
        tx_hash: Some(sent.reservation.tx_hash.to_string()),
        existing: Some(sent.existing),
        receipt: Some(shown_receipt(&sent.receipt)),
    })
}
