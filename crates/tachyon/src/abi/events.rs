//! Events of a transaction, decoded where an ABI knows them.

use alloy_dyn_abi::EventExt as _;
use alloy_json_abi::JsonAbi;
use alloy_primitives::Log;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decode::{Decoded, value_to_json};

/// One event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DecodedEvent {
    /// Who emitted it.
    pub(crate) address: String,
    /// The signature, where an ABI knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) event: Option<String>,
    /// What it carries, in the order of its declaration. An indexed value of dynamic type is only its hash.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) args: Vec<Decoded>,
    /// The topics as they came.
    pub(crate) topics: Vec<String>,
    /// The data as it came.
    pub(crate) data: String,
}

/// Explains one log with the events these ABIs know.
pub(crate) fn decode_event<'a>(log: &Log, abis: impl IntoIterator<Item = &'a JsonAbi>) -> DecodedEvent {
    let mut event = DecodedEvent {
        address: log.address.to_checksum(None),
        event: None,
        args: vec![],
        topics: log.data.topics().iter().map(|topic| format!("{topic}")).collect(),
        data: format!("{}", log.data.data),
    };
    let Some(first) = log.data.topics().first() else { return event };
    let known = abis.into_iter().flat_map(JsonAbi::events).filter(|known| known.selector() == *first);
    for known in known {
        let Ok(decoded) = known.decode_log(&log.data) else { continue };
        let (mut indexed, mut body) = (decoded.indexed.iter(), decoded.body.iter());
        let args = known.inputs.iter().map(|input| {
            let value = if input.indexed { indexed.next() } else { body.next() };
            let value = value.map(|value| value_to_json(value, &input.components)).unwrap_or_default();
            Decoded { name: input.name.clone(), ty: input.selector_type().into_owned(), value }
        });
        event.args = args.collect();
        event.event = Some(known.signature());
        break;
    }
    event
}
