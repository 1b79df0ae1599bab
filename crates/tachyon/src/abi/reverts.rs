//! Why a call reverted, in words: reasons, panics and custom errors.

use alloy_json_abi::JsonAbi;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decode::{Decoded, decoded_values};

/// What a contract said when it refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Revert {
    /// Which of the usual forms it has.
    pub(crate) kind: RevertKind,
    /// In words.
    pub(crate) reason: String,
    /// The signature of a custom error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// What a custom error carries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) args: Vec<Decoded>,
    /// The bytes as they came.
    pub(crate) data: String,
}

/// The form of a revert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RevertKind {
    /// `revert()` or `require` without words.
    Empty,
    /// `Error(string)`.
    Reason,
    /// `Panic(uint256)`: an assertion, an overflow, an index out of bounds and the like.
    Panic,
    /// An error the ABI knows.
    Custom,
    /// Bytes the ABI does not explain.
    Unknown,
    /// The machine stopped without asking the contract: out of gas, invalid opcode.
    Halt,
}

const REASON: [u8; 4] = [0x08, 0xc3, 0x79, 0xa0];
const PANIC: [u8; 4] = [0x4e, 0x48, 0x7b, 0x71];

/// Explains revert data, with the errors these ABIs know.
pub(crate) fn decode_revert<'a>(data: &[u8], abis: impl IntoIterator<Item = &'a JsonAbi>) -> Revert {
    let shown = format!("0x{}", hex::encode(data));
    let plain =
        |kind, reason: String| Revert { kind, reason, error: None, args: vec![], data: shown.clone() };
    if data.is_empty() {
        return plain(RevertKind::Empty, "reverted without a reason".into());
    }
    let Some((selector, body)) = data.split_first_chunk::<4>() else {
        return plain(RevertKind::Unknown, format!("reverted with {shown}"));
    };
    if *selector == REASON
        && let Some(text) = one_string(body)
    {
        return plain(RevertKind::Reason, text);
    }
    if *selector == PANIC && body.len() == 32 {
        return plain(RevertKind::Panic, panic_words(body));
    }
    for abi in abis {
        let errors = abi.errors().filter(|error| error.selector() == *selector);
        for error in errors {
            if let Ok(args) = decoded_values(&error.inputs, body) {
                // The test library's own error is nothing but its words.
                if error.name == "CheatcodeError"
                    && let [one] = args.as_slice()
                    && let Some(words) = one.value.as_str()
                {
                    return plain(RevertKind::Reason, words.to_owned());
                }
                let said: Vec<String> = args.iter().map(|arg| arg.value.to_string()).collect();
                let reason = format!("{}({})", error.name, said.join(", "));
                let error = Some(error.signature());
                return Revert { kind: RevertKind::Custom, reason, error, args, data: shown };
            }
        }
    }
    let selector = hex::encode(selector);
    plain(
        RevertKind::Unknown,
        format!("reverted with the unknown error 0x{selector}; give the contract's ABI"),
    )
}

fn one_string(body: &[u8]) -> Option<String> {
    use alloy_dyn_abi::{DynSolType, DynSolValue};
    match DynSolType::Tuple(vec![DynSolType::String]).abi_decode_params(body).ok()? {
        DynSolValue::Tuple(values) => values.first()?.as_str().map(str::to_owned),
        _ => None,
    }
}

fn panic_words(body: &[u8]) -> String {
    let code = alloy_primitives::U256::from_be_slice(body);
    let words = match u8::try_from(code).unwrap_or(u8::MAX) {
        0x01 => "an assertion failed",
        0x11 => "arithmetic overflow or underflow",
        0x12 => "division by zero",
        0x21 => "a number that is no member of its enum",
        0x22 => "a wrongly encoded storage byte array",
        0x31 => "pop on an empty array",
        0x32 => "array index out of bounds",
        0x41 => "too much memory allocated",
        0x51 => "call of an uninitialised function",
        _ => "a panic nobody named",
    };
    format!("panic 0x{code:02x}: {words}")
}
