//! What a call means: the bytes to send, and the interface to read the answer with.

use alloy_json_abi::{Function, JsonAbi, StateMutability};
use alloy_primitives::{Address, Bytes};
use serde_json::Value;

use super::fields::HexField;
use super::tenant::Tenant;
use crate::abi;
use crate::chain::{Outcome, Simulation};
use crate::fault::Fault;

/// How a call is written: raw bytes, or a method with its arguments. Requests explain the fields.
#[derive(Debug, Clone)]
pub(super) struct Wording {
    pub(super) data: Option<HexField>,
    pub(super) method: Option<String>,
    pub(super) args: Option<Vec<Value>>,
    pub(super) abi: Option<Value>,
    pub(super) contract: Option<String>,
    pub(super) project_id: Option<String>,
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

/// What a simulation returned or refused, in words.
pub(super) struct Explained {
    pub(super) result: Option<String>,
    pub(super) decoded: Vec<abi::Decoded>,
    pub(super) revert: Option<abi::Revert>,
    pub(super) events: Vec<abi::DecodedEvent>,
}

pub(super) fn explain(simulation: &Simulation, meant: &Meant) -> Explained {
    let mut explained = Explained { result: None, decoded: vec![], revert: None, events: vec![] };
    match &simulation.outcome {
        Outcome::Done(output) => {
            explained.result = Some(output.to_string());
            if let Some(function) = &meant.function {
                // What does not fit the ABI is still there as bytes.
                explained.decoded = abi::decoded_values(&function.outputs, output).unwrap_or_default();
            }
            explained.events =
                simulation.logs.iter().map(|log| abi::decode_event(log, &meant.abis)).collect();
        }
        Outcome::Reverted(data) => explained.revert = Some(abi::decode_revert(data, &meant.abis)),
        Outcome::Halted(reason) => {
            explained.revert = Some(abi::Revert {
                kind: abi::RevertKind::Halt,
                reason: format!("the machine stopped it: {reason}"),
                error: None,
                args: vec![],
                data: "0x".into(),
            });
        }
    }
    explained
}
