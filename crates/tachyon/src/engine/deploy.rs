//! `tachyon_deploy`: puts a compiled contract on a chain, once per key.

use std::collections::BTreeMap;

use alloy_json_abi::JsonAbi;
use alloy_primitives::{Address, Bytes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fields::{AddressField, Amount, ChainRef, WordField};
use super::sending::{Creates, Order, Sender, shown_receipt};
use super::{CallContext, Engine, Wish, artifact_get, check_key};
use crate::abi::{self, DecodedEvent};
use crate::chain::embedded::accounts::CREATE2_DEPLOYER;
use crate::chain::{Chain, Intent};
use crate::fault::{Code, Fault};
use crate::registry::SendKind;

/// What to deploy.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// A name of your choice for this deployment. Calling again with it never deploys twice.
    idempotency_key: String,
    /// The chain; `dev` is the embedded one.
    chain_id: ChainRef,
    /// The compiled contract: its name, `file:Name`, or an artifact id.
    contract: String,
    /// The project it is in.
    #[serde(default)]
    project_id: Option<String>,
    /// What the constructor is given.
    #[serde(default)]
    constructor_args: Option<Vec<Value>>,
    /// Wei for a payable constructor.
    #[serde(default)]
    value: Option<Amount>,
    /// Addresses of libraries the contract needs, by name or `file:Name`.
    #[serde(default)]
    libraries: BTreeMap<String, AddressField>,
    /// Deploys to an address that depends only on code and salt.
    #[serde(default)]
    create2: Option<Create2>,
    /// The account that pays: its name, or its address.
    #[serde(default)]
    from: Option<String>,
    /// The secret of the policy that allows it. Not needed on the embedded chain.
    #[serde(default)]
    capability_token: Option<String>,
    /// The most it may cost in wei, gas included.
    #[serde(default)]
    spend_cap_wei: Option<Amount>,
    /// Why, for the record of the conversation; it changes nothing.
    #[serde(default)]
    #[expect(dead_code, reason = "callers may say why, and nothing depends on it")]
    intent: Option<String>,
}

/// A deployment by code and salt.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Create2 {
    /// 32 bytes.
    salt: WordField,
    /// The deployer; the usual one when left out.
    #[serde(default)]
    deployer: Option<AddressField>,
}

/// The deployment.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Response {
    /// Where the contract is.
    address: String,
    /// The transaction; none when it was there before any.
    #[serde(skip_serializing_if = "Option::is_none")]
    tx_hash: Option<String>,
    /// The key.
    idempotency_key: String,
    /// The chain.
    chain_id: String,
    /// The contract's name.
    contract: String,
    /// The artifact it was made from.
    artifact_id: String,
    /// Whether it was deployed before this call.
    existing: bool,
    /// What the chain says about the transaction.
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<Value>,
    /// What the constructor emitted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    events: Vec<DecodedEvent>,
}

pub(super) async fn run(engine: &Engine, request: Request, context: &CallContext) -> Result<Response, Fault> {
    check_key(&request.idempotency_key)?;
    let tenant = engine.tenant(&context.tenant)?;
    let named = engine.chain(&tenant, Some(&request.chain_id)).await?;
    let (artifact_id, artifact) =
        artifact_get::find(&tenant, &request.contract, request.project_id.as_deref())?;
    let interface = artifact.parsed_abi()?;
    let libraries = request.libraries.into_iter().map(|(name, address)| (name, address.0)).collect();
    let code = artifact.linked(&libraries)?;
    let value = request.value.map(|value| value.0).unwrap_or_default();
    let init = init_code(&interface, code, request.constructor_args.as_deref(), !value.is_zero())?;
    let (to, data, creates) = way(request.create2, init);
    let asking = Wish {
        from: request.from.as_deref(),
        token: request.capability_token.as_deref(),
        cap: request.spend_cap_wei.map(|cap| cap.0),
        deploys: true,
    };
    let draft = |from| Intent { from, to, data: Bytes::clone(&data), value };
    let (signer, grant, intent) = engine.authorise(&named, &asking, draft).await?;
    let answer = |address: Address| Response {
        address: address.to_checksum(None),
        tx_hash: None,
        idempotency_key: request.idempotency_key.clone(),
        chain_id: named.name.clone(),
        contract: artifact.name.clone(),
        artifact_id: artifact_id.clone(),
        existing: true,
        receipt: None,
        events: vec![],
    };
    let order = Order {
        kind: SendKind::Deploy,
        key: request.idempotency_key.clone(),
        intent,
        creates,
        contract: artifact.name.clone(),
        artifact_id: artifact_id.clone(),
        signer,
        grant,
        abis: vec![interface],
        code: Code::DeployFailed,
    };
    let sender = Sender::new(engine, tenant, &named, context);
    if let Creates::At(address) = creates
        && is_there_already(&named.chain, to, address).await?
        && !sender.knows(&order)?
    {
        return Ok(answer(address));
    }
    let sent = sender.send(order.clone()).await?;
    let address =
        sent.reservation.address.ok_or_else(|| Fault::internal("a deployment without an address"))?;
    if sent.existing && named.chain.code(address).await?.is_empty() {
        let message = format!(
            "the registry has this deployment at {address}, but there is no code; was the chain reset? Use a new key"
        );
        return Err(Fault::new(Code::DeployFailed, message));
    }
    let events = sent.receipt.logs.iter().map(|log| abi::decode_event(log, &order.abis)).collect();
    Ok(Response {
        tx_hash: Some(sent.reservation.tx_hash.to_string()),
        existing: sent.existing,
        receipt: Some(shown_receipt(&sent.receipt)),
        events,
        ..answer(address)
    })
}

/// Whom the transaction goes to, with what, and what it creates.
fn way(create2: Option<Create2>, init: Bytes) -> (Option<Address>, Bytes, Creates) {
    let Some(create2) = create2 else { return (None, init, Creates::ByNonce) };
    let deployer = create2.deployer.map_or(CREATE2_DEPLOYER, |deployer| deployer.0);
    let address = deployer.create2_from_code(create2.salt.0, &init);
    let data = [create2.salt.0.as_slice(), &init].concat();
    (Some(deployer), data.into(), Creates::At(address))
}

/// Whether somebody created the contract before, with the same code and salt.
async fn is_there_already(chain: &Chain, deployer: Option<Address>, address: Address) -> Result<bool, Fault> {
    if let Some(deployer) = deployer
        && chain.code(deployer).await?.is_empty()
    {
        let message = format!("there is no deployer at {deployer} on this chain; leave `create2` out");
        return Err(Fault::new(Code::DeployFailed, message));
    }
    Ok(!chain.code(address).await?.is_empty())
}

/// Creation code and constructor arguments.
fn init_code(abi: &JsonAbi, code: Bytes, given: Option<&[Value]>, pays: bool) -> Result<Bytes, Fault> {
    let inputs = abi.constructor.as_ref().map_or(&[] as &[_], |constructor| &constructor.inputs);
    let payable = abi
        .constructor
        .as_ref()
        .is_some_and(|constructor| constructor.state_mutability == alloy_json_abi::StateMutability::Payable);
    if pays && !payable {
        return Err(Fault::invalid("`value` was given, but the constructor is not payable"));
    }
    let arguments = abi::arguments(inputs, given.unwrap_or_default())
        .map_err(|fault| Fault::invalid(format!("constructor: {}", fault.message)))?;
    Ok([code.as_ref(), &arguments].concat().into())
}
