//! ABI values to JSON: numbers as decimal text, addresses with checksum, bytes in hexadecimal.

use alloy_dyn_abi::{DynSolType, DynSolValue};
use alloy_json_abi::Param;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::types;
use crate::fault::Fault;

/// One decoded value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Decoded {
    /// Its name in the ABI, where it has one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub(crate) ty: String,
    /// Numbers are decimal strings, bytes and addresses 0x strings, structs objects.
    pub(crate) value: Value,
}

/// What a function returned, or what an error or event carries.
pub(crate) fn decoded_values(params: &[Param], data: &[u8]) -> Result<Vec<Decoded>, Fault> {
    let whole = DynSolType::Tuple(types(params)?);
    let values = whole.abi_decode_params(data).map_err(|error| {
        let shown = hex::encode(&data[..data.len().min(64)]);
        Fault::invalid(format!("{} bytes 0x{shown}… do not fit the ABI: {error}", data.len()))
    })?;
    let DynSolValue::Tuple(values) = values else {
        return Err(Fault::internal("a tuple was decoded into something else"));
    };
    Ok(named_values(params, &values))
}

/// Values with the names and types of their parameters.
pub(crate) fn named_values(params: &[Param], values: &[DynSolValue]) -> Vec<Decoded> {
    let pairs = params.iter().zip(values);
    pairs
        .map(|(param, value)| Decoded {
            name: param.name.clone(),
            ty: param.selector_type().into_owned(),
            value: value_to_json(value, &param.components),
        })
        .collect()
}

/// One value as JSON. A struct whose fields all have different names becomes an object.
pub(crate) fn value_to_json(value: &DynSolValue, parts: &[Param]) -> Value {
    match value {
        DynSolValue::Bool(flag) => (*flag).into(),
        DynSolValue::Int(number, _) => number.to_string().into(),
        DynSolValue::Uint(number, _) => number.to_string().into(),
        DynSolValue::FixedBytes(word, size) => hexadecimal(&word[..*size]),
        DynSolValue::Address(address) => address.to_checksum(None).into(),
        DynSolValue::Function(function) => hexadecimal(function.as_slice()),
        DynSolValue::Bytes(bytes) => hexadecimal(bytes),
        DynSolValue::String(text) => text.clone().into(),
        DynSolValue::Array(items) | DynSolValue::FixedArray(items) => {
            items.iter().map(|item| value_to_json(item, parts)).collect()
        }
        DynSolValue::Tuple(fields) => tuple_to_json(fields, parts),
    }
}

fn tuple_to_json(fields: &[DynSolValue], parts: &[Param]) -> Value {
    let inner = |index: usize| parts.get(index).map_or(&[] as &[Param], |part| &part.components);
    let values = fields.iter().enumerate().map(|(index, field)| value_to_json(field, inner(index)));
    let mut names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let nameable = parts.len() == fields.len() && names.len() == fields.len() && !names.contains(&"");
    if !nameable || fields.is_empty() {
        return values.collect();
    }
    let named: Map<String, Value> = parts.iter().map(|part| part.name.clone()).zip(values).collect();
    Value::Object(named)
}

fn hexadecimal(bytes: &[u8]) -> Value {
    format!("0x{}", hex::encode(bytes)).into()
}
