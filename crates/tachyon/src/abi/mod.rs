//! Contract interfaces: which function is meant, values in and out exactly, reverts and events in words.

mod decode;
mod encode;
mod events;
mod number;
mod reverts;

use alloy_dyn_abi::{DynSolType, Specifier as _};
use alloy_json_abi::{Function, JsonAbi, Param};
use serde_json::Value;

use crate::fault::Fault;
use crate::limits;

pub(crate) use decode::{Decoded, decoded_values, value_to_json};
pub(crate) use encode::{address, arguments, bytes};
pub(crate) use events::{DecodedEvent, decode_event};
pub(crate) use number::parse_amount;
pub(crate) use reverts::{Revert, RevertKind, decode_revert};

/// Reads the ABI of a contract, as compilers write it.
pub(crate) fn parse_abi(json: &Value) -> Result<JsonAbi, Fault> {
    let abi: JsonAbi = serde_json::from_value(json.clone())
        .map_err(|error| Fault::invalid(format!("`abi` is not the ABI of a contract: {error}")))?;
    if abi.len() > limits::ABI_ENTRIES {
        let most = limits::ABI_ENTRIES;
        return Err(Fault::invalid(format!("`abi` has {} entries, at most {most} are taken", abi.len())));
    }
    Ok(abi)
}

/// The one function that is meant, by name or by signature.
pub(crate) fn find_function<'a>(abi: &'a JsonAbi, method: &str) -> Result<&'a Function, Fault> {
    if method.contains('(') {
        let wanted: String = method.chars().filter(|char| !char.is_whitespace()).collect();
        let found = abi.functions().find(|function| function.signature() == wanted);
        return found.ok_or_else(|| Fault::invalid(format!("no function `{wanted}`; {}", known(abi))));
    }
    match abi.function(method).map(Vec::as_slice) {
        Some([one]) => Ok(one),
        Some(several) if !several.is_empty() => {
            let signatures: Vec<String> = several.iter().map(Function::signature).collect();
            let signatures = signatures.join("`, `");
            Err(Fault::invalid(format!(
                "`{method}` is overloaded; give one of the signatures `{signatures}` as `method`"
            )))
        }
        _ => Err(Fault::invalid(format!("no function `{method}`; {}", known(abi)))),
    }
}

/// A function that is described by its signature alone, as `name(types)` or `name(types) returns (types)`.
pub(crate) fn function_from_signature(signature: &str) -> Result<Function, Fault> {
    Function::parse(signature)
        .map_err(|error| Fault::invalid(format!("`{signature}` is not the signature of a function: {error}")))
}

fn known(abi: &JsonAbi) -> String {
    let mut names: Vec<String> = abi.functions().map(Function::signature).collect();
    names.sort();
    names.truncate(40);
    match names.is_empty() {
        true => "the ABI has no functions".into(),
        false => format!("the ABI has {}", names.join(", ")),
    }
}

/// The types of parameters.
pub(crate) fn types(params: &[Param]) -> Result<Vec<DynSolType>, Fault> {
    let resolve = |param: &Param| {
        param.resolve().map_err(|error| Fault::invalid(format!("type `{}` of the ABI: {error}", param.ty)))
    };
    params.iter().map(resolve).collect()
}
