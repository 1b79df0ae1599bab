//! JSON values to ABI values, every one checked against its type.

use alloy_dyn_abi::{DynSolType, DynSolValue};
use alloy_json_abi::Param;
use alloy_primitives::{Address, B256, Function};
use serde_json::Value;

use super::{number, types};
use crate::fault::Fault;
use crate::limits;

/// The encoded arguments of a function, a constructor or an error.
pub(crate) fn arguments(params: &[Param], given: &[Value]) -> Result<Vec<u8>, Fault> {
    Ok(DynSolValue::Tuple(coerce(params, given)?).abi_encode_params())
}

/// The arguments as values of their types.
fn coerce(params: &[Param], given: &[Value]) -> Result<Vec<DynSolValue>, Fault> {
    if params.len() != given.len() {
        let wanted: Vec<String> = params.iter().map(described).collect();
        let (expected, wanted) = (params.len(), wanted.join(", "));
        let message = format!("{} arguments were given, {expected} are expected: ({wanted})", given.len());
        return Err(Fault::invalid(message));
    }
    let mut values = Vec::with_capacity(params.len());
    for (index, ((ty, param), json)) in types(params)?.iter().zip(params).zip(given).enumerate() {
        let place = Place { path: format!("argument {index}{}", quoted(&param.name)), depth: 0 };
        values.push(value(ty, &param.components, json, &place)?);
    }
    Ok(values)
}

fn described(param: &Param) -> String {
    let ty = param.selector_type();
    if param.name.is_empty() { ty.into_owned() } else { format!("{ty} {}", param.name) }
}

fn quoted(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" `{name}`") }
}

/// Where in the arguments a value stands, for messages.
struct Place {
    path: String,
    depth: usize,
}

impl Place {
    fn inside(&self, what: &str) -> Result<Self, Fault> {
        if self.depth >= limits::ABI_DEPTH {
            return Err(self.wrong(format!("nested deeper than {}", limits::ABI_DEPTH)));
        }
        Ok(Self { path: format!("{}{what}", self.path), depth: self.depth + 1 })
    }

    fn wrong(&self, what: impl std::fmt::Display) -> Fault {
        Fault::invalid(format!("{}: {what}", self.path))
    }
}

fn value(ty: &DynSolType, parts: &[Param], json: &Value, place: &Place) -> Result<DynSolValue, Fault> {
    match ty {
        DynSolType::Bool => {
            let flag = json.as_bool().or_else(|| json.as_str().and_then(|text| text.parse().ok()));
            flag.map(DynSolValue::Bool).ok_or_else(|| place.wrong(format!("`{json}` is not true or false")))
        }
        DynSolType::Uint(bits) => {
            let number = number::parse_unsigned(json, *bits).map_err(|what| place.wrong(what))?;
            Ok(DynSolValue::Uint(number, *bits))
        }
        DynSolType::Int(bits) => {
            let number = number::parse_signed(json, *bits).map_err(|what| place.wrong(what))?;
            Ok(DynSolValue::Int(number, *bits))
        }
        DynSolType::Address => Ok(DynSolValue::Address(address(json).map_err(|what| place.wrong(what))?)),
        DynSolType::String => {
            let text = json.as_str().ok_or_else(|| place.wrong(format!("`{json}` is not a string")))?;
            Ok(DynSolValue::String(text.to_owned()))
        }
        DynSolType::Bytes => Ok(DynSolValue::Bytes(bytes(json).map_err(|what| place.wrong(what))?)),
        DynSolType::FixedBytes(size) => {
            let bytes = exact_bytes(json, *size).map_err(|what| place.wrong(what))?;
            let mut word = B256::ZERO;
            word[..*size].copy_from_slice(&bytes);
            Ok(DynSolValue::FixedBytes(word, *size))
        }
        DynSolType::Function => {
            let bytes = exact_bytes(json, 24).map_err(|what| place.wrong(what))?;
            Ok(DynSolValue::Function(Function::from_slice(&bytes)))
        }
        DynSolType::Array(item) => Ok(DynSolValue::Array(items(item, parts, json, place)?)),
        DynSolType::FixedArray(item, size) => {
            let items = items(item, parts, json, place)?;
            if items.len() != *size {
                return Err(place.wrong(format!("{} items, exactly {size} are expected", items.len())));
            }
            Ok(DynSolValue::FixedArray(items))
        }
        DynSolType::Tuple(fields) => Ok(DynSolValue::Tuple(tuple(fields, parts, json, place)?)),
    }
}

fn items(item: &DynSolType, parts: &[Param], json: &Value, place: &Place) -> Result<Vec<DynSolValue>, Fault> {
    let given = json.as_array().ok_or_else(|| place.wrong(format!("`{json}` is not an array")))?;
    if given.len() > limits::ABI_ITEMS {
        return Err(place.wrong(format!("{} items, at most {} are taken", given.len(), limits::ABI_ITEMS)));
    }
    let one =
        |(index, json): (usize, &Value)| value(item, parts, json, &place.inside(&format!("[{index}]"))?);
    given.iter().enumerate().map(one).collect()
}

/// A tuple is an array in order, or an object with exactly its field names.
fn tuple(
    fields: &[DynSolType],
    parts: &[Param],
    json: &Value,
    place: &Place,
) -> Result<Vec<DynSolValue>, Fault> {
    let named = |index: usize| parts.get(index).map_or("", |part| part.name.as_str());
    let inner = |index: usize| parts.get(index).map_or(&[] as &[Param], |part| &part.components);
    let given: Vec<&Value> = match json {
        Value::Array(given) => given.iter().collect(),
        Value::Object(given) => {
            let known: Vec<&str> = (0..fields.len()).map(named).collect();
            if let Some(unknown) = given.keys().find(|name| !known.contains(&name.as_str())) {
                return Err(place.wrong(format!("no field `{unknown}`; the fields are {}", known.join(", "))));
            }
            let field =
                |name: &&str| given.get(*name).ok_or_else(|| place.wrong(format!("no field `{name}`")));
            known.iter().map(field).collect::<Result<_, _>>()?
        }
        other => return Err(place.wrong(format!("`{other}` is not a tuple; write an array or an object"))),
    };
    if given.len() != fields.len() {
        return Err(place.wrong(format!("{} fields, exactly {} are expected", given.len(), fields.len())));
    }
    let mut values = Vec::with_capacity(fields.len());
    for (index, (ty, json)) in fields.iter().zip(given).enumerate() {
        let name = named(index);
        let what = if name.is_empty() { format!(".{index}") } else { format!(".{name}") };
        values.push(value(ty, inner(index), json, &place.inside(&what)?)?);
    }
    Ok(values)
}

/// An address. With capital letters it carries a checksum, which must fit.
pub(crate) fn address(json: &Value) -> Result<Address, String> {
    let text = json.as_str().ok_or_else(|| format!("`{json}` is not an address; write 0x and 40 digits"))?;
    let digits = text.strip_prefix("0x").filter(|digits| digits.len() == 40);
    let address: Option<Address> = digits.and_then(|_| text.parse().ok());
    let address =
        address.ok_or_else(|| format!("`{text}` is not an address; write 0x and 40 hexadecimal digits"))?;
    let mixed = text[2..].chars().any(char::is_uppercase) && text[2..].chars().any(char::is_lowercase);
    if mixed && address.to_checksum(None) != text {
        return Err(format!("`{text}` has a wrong checksum; a digit may be mistyped"));
    }
    Ok(address)
}

/// Bytes in hexadecimal.
pub(crate) fn bytes(json: &Value) -> Result<Vec<u8>, String> {
    let text = json.as_str().ok_or_else(|| format!("`{json}` is not hexadecimal text"))?;
    let digits = text.strip_prefix("0x").ok_or_else(|| format!("`{text}` does not begin with 0x"))?;
    hex::decode(digits).map_err(|error| format!("`{text}` is not hexadecimal: {error}"))
}

fn exact_bytes(json: &Value, size: usize) -> Result<Vec<u8>, String> {
    let bytes = bytes(json)?;
    if bytes.len() != size {
        return Err(format!("{} bytes, exactly {size} are expected", bytes.len()));
    }
    Ok(bytes)
}
