//! Values as tests show them.

use alloy_dyn_abi::DynSolValue;

/// A value in words.
pub(super) fn shown(value: &DynSolValue) -> String {
    match value {
        DynSolValue::Bool(flag) => flag.to_string(),
        DynSolValue::Int(number, _) => number.to_string(),
        DynSolValue::Uint(number, _) => number.to_string(),
        DynSolValue::FixedBytes(word, size) => format!("0x{}", hex::encode(&word[..*size])),
        DynSolValue::Address(address) => address.to_checksum(None),
        DynSolValue::Function(function) => format!("0x{}", hex::encode(function)),
        DynSolValue::Bytes(bytes) => format!("0x{}", hex::encode(bytes)),
        DynSolValue::String(text) => text.clone(),
        DynSolValue::Array(items) | DynSolValue::FixedArray(items) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("[{}]", items.join(", "))
        }
        DynSolValue::Tuple(items) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("({})", items.join(", "))
        }
    }
}
