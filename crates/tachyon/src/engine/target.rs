//! What a call means: the bytes to send, and the interface to read the answer with.

use alloy_json_abi::{Function, JsonAbi, StateMutability};
use alloy_primitives::{Address, Bytes, U256};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fields::{Amount, ChainRef, HexField};
use super::tenant::Tenant;
use crate::abi;
use crate::chain::{Outcome, Simulation};
use crate::fault::{Code, Fault};

/// A call as it is written: where, by whom, and either raw bytes or a method with its arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Wording {
    /// The chain; the embedded one when left out.
    #[serde(default)]
    pub(super) chain_id: Option<ChainRef>,
    /// The URL of a node to ask instead of a registered chain. Nothing is sent to it: register it for that.
    #[serde(default)]
    pub(super) rpc_url: Option<String>,
    /// Who calls and pays: an account by its name or address. Where nothing is sent, any address will do.
    #[serde(default)]
    pub(super) from: Option<String>,
    /// The bytes to send. Use either this or `method`.
    #[serde(default)]
    pub(super) data: Option<HexField>,
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
}

/// A call, understood.
pub(super) struct Meant {
    pub(super) data: Bytes,
    pub(super) function: Option<Function>,
    /// Everything that may explain what happens.
    pub(super) abis: Vec<JsonAbi>,
}

impl Meant {
    /// Whether the function promises to change nothing.
    pub(super) fn only_reads(&self) -> bool {
        let promise = self.function.as_ref().map(|function| function.state_mutability);
        matches!(promise, Some(StateMutability::View | StateMutability::Pure))
    }
}

impl Wording {
    pub(super) fn value(&self) -> U256 {
        self.value.map(|value| value.0).unwrap_or_default()
    }

    pub(super) fn understand(
        &self,
        tenant: &Tenant,
        chain: &str,
        to: Option<Address>,
    ) -> Result<Meant, Fault> {
        let mut abis = Vec::new();
        if let Some(json) = &self.abi {
            abis.push(abi::parse_abi(json)?);
        }
        if let Some(name) = &self.contract {
            let (_, artifact) = super::artifact_get::find(tenant, name, self.project_id.as_deref())?;
            abis.push(artifact.parsed_abi()?);
        }
        if let Some(artifact) = to.and_then(|to| tenant.registry.artifact_at(chain, to)) {
            abis.push(artifact.parsed_abi()?);
        }
        match (&self.method, &self.data) {
            (Some(_), Some(_)) => Err(Fault::invalid("give either `method` or `data`, not both")),
            (None, _) if self.args.is_some() => Err(Fault::invalid("`args` needs a `method`")),
            (None, data) => {
                let data = data.as_ref().map(|data| data.0.clone()).unwrap_or_default();
                let known = data.get(..4).and_then(|selector| {
                    abis.iter().flat_map(JsonAbi::functions).find(|known| known.selector() == *selector)
                });
                let function = known.cloned();
                Ok(Meant { data, function, abis })
            }
            (Some(method), None) => {
                let function = find(&abis, method)?;
                let given = self.args.as_deref().unwrap_or_default();
                let mut data = function.selector().to_vec();
                data.extend(abi::arguments(&function.inputs, given)?);
                Ok(Meant { data: data.into(), function: Some(function), abis })
            }
        }
    }
}

/// The function that is meant: the first ABI that knows it, or what the signature itself says.
fn find(abis: &[JsonAbi], method: &str) -> Result<Function, Fault> {
    let mut missing = None;
    for known in abis {
        match abi::find_function(known, method) {
            Ok(function) => return Ok(function.clone()),
            Err(fault) => missing = missing.or(Some(fault)),
        }
    }
    match missing {
        Some(fault) if !method.contains("returns") => Err(fault),
        _ if method.contains('(') => abi::function_from_signature(method),
        _ => Err(Fault::invalid(format!(
            "nothing is known about `{method}`; give `abi`, `contract`, or a whole signature as `method`"
        ))),
    }
}

/// What happens, or would happen, in words.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct Told {
    /// The bytes that are returned; of a transaction, as simulated right before it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) result: Option<String>,
    /// The same, decoded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) decoded: Vec<abi::Decoded>,
    /// The gas limit with which it succeeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) gas_estimate: Option<u64>,
    /// Why it is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) revert: Option<abi::Revert>,
    /// What it emits. Of a simulation nodes do not tell; the embedded chain does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) events: Vec<abi::DecodedEvent>,
    /// The block on whose state it was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) block: Option<u64>,
    /// Who calls whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trace: Option<Value>,
}

impl Told {
    pub(super) fn of(simulation: &Simulation, meant: &Meant) -> Self {
        let mut told = Self {
            gas_estimate: simulation.gas,
            block: Some(simulation.block),
            trace: simulation.trace.clone(),
            ..Self::default()
        };
        match &simulation.outcome {
            Outcome::Done(output) => {
                told.result = Some(output.to_string());
                if let Some(function) = &meant.function {
                    // What does not fit the ABI is still there as bytes.
                    told.decoded = abi::decoded_values(&function.outputs, output).unwrap_or_default();
                }
                told.events = simulation.logs.iter().map(|log| abi::decode_event(log, &meant.abis)).collect();
            }
            Outcome::Reverted(data) => told.revert = Some(abi::decode_revert(data, &meant.abis)),
            Outcome::Halted(reason) => {
                told.revert = Some(abi::Revert {
                    kind: abi::RevertKind::Halt,
                    reason: format!("the machine stopped it: {reason}"),
                    error: None,
                    args: vec![],
                    data: "0x".into(),
                });
            }
        }
        told
    }

    /// The same, unless it is a refusal.
    pub(super) fn accepted(self) -> Result<Self, Fault> {
        let Some(revert) = &self.revert else { return Ok(self) };
        let details = json!({ "revert": revert, "block": self.block });
        let fault = Fault::new(Code::SimulateFailed, format!("it reverts: {}", revert.reason));
        Err(fault.with_details(details).with_data(&self))
    }
}
