//! `tachyon_registry_lookup`: what became of a deployment.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fields::ChainRef;
use super::{CallContext, Engine};
use crate::fault::Fault;
use crate::registry::{End, SendId, SendKind};

/// Which deployment.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// The key it was deployed with.
    idempotency_key: String,
    /// The chain it was deployed to.
    chain_id: ChainRef,
}

/// What is known.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Response {
    /// Whether the key was ever used on this chain.
    found: bool,
    /// Where the contract is, or will be.
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    /// The transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    tx_hash: Option<String>,
    /// The contract's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    contract: Option<String>,
    /// The artifact it was made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact_id: Option<String>,
    /// Whether it is on the chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmed: Option<bool>,
    /// `pending`, `confirmed`, `reverted` or `dropped`.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    /// The receipt.
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<Value>,
}

pub(super) async fn run(engine: &Engine, request: Request, context: &CallContext) -> Result<Response, Fault> {
    let tenant = engine.tenant(&context.tenant)?;
    let chain = engine.profile(&tenant, Some(&request.chain_id))?.identity();
    let id = SendId { kind: SendKind::Deploy, chain, key: request.idempotency_key };
    let Some(send) = tenant.registry.read(|book| book.send(&id).cloned())? else {
        return Ok(Response::default());
    };
    let (status, receipt) = match &send.end {
        None => ("pending", None),
        Some(End::Confirmed { receipt }) => ("confirmed", Some(json!(receipt))),
        Some(End::Reverted { receipt }) => ("reverted", Some(json!(receipt))),
        Some(End::Dropped { .. }) => ("dropped", None),
    };
    let reservation = send.reservation;
    Ok(Response {
        found: true,
        address: reservation.address.map(|address| address.to_checksum(None)),
        tx_hash: Some(reservation.tx_hash.to_string()),
        contract: Some(reservation.contract),
        artifact_id: Some(reservation.artifact_id),
        confirmed: Some(status == "confirmed"),
        status: Some(status.to_owned()),
        receipt,
    })
}
