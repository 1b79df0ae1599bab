//! What can go wrong on purpose.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One kind of trouble. A chunk is what leaves the server at once; see `chunk_bytes` of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Fault {
    /// An error response instead of the reply.
    Status {
        /// The HTTP status, 400 to 599.
        status: u16,
        /// The `type` of the error. Without it, the one that goes with the status.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<String>,
        /// The message. Without it, one that goes with the status.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// The header `Retry-After`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<String>,
        /// This body, as it is, instead of one in the form of the wire.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<String>,
    },
    /// An error inside the stream, in the form of the wire. Without streaming it is an error response.
    StreamError {
        /// Chunks of the reply before it.
        after_chunks: usize,
        /// The `type` or `code` of the error.
        kind: String,
        /// The message.
        message: String,
    },
    /// The connection ends in the middle of the body.
    Cut {
        /// Chunks of the reply before it.
        after_chunks: usize,
    },
    /// Nothing more comes, and the connection stays open.
    Stall {
        /// Chunks of the reply before it.
        after_chunks: usize,
    },
    /// Bytes that do not belong there; then the body ends.
    Garbage {
        /// Chunks of the reply before it.
        after_chunks: usize,
        /// What is sent.
        text: String,
    },
}

/// A fault of a turn. After it the same turn is answered again, so that a retry finds its reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnFault {
    /// What happens.
    pub what: Fault,
    /// How many requests meet it.
    #[serde(default = "once")]
    pub times: usize,
    /// The turn is over with the last fault: its reply is never sent whole.
    #[serde(default)]
    pub ends_turn: bool,
}

/// A fault by the number of the request. It does not use up a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NumberedFault {
    /// The first request that meets it, counted over all conversations from 1.
    pub at: u64,
    /// How many requests in a row meet it.
    #[serde(default = "once")]
    pub times: usize,
    /// What happens.
    pub what: Fault,
}

fn once() -> usize {
    1
}

impl NumberedFault {
    /// Whether this request meets it.
    pub(crate) fn hits(&self, number: u64) -> bool {
        number.checked_sub(self.at).is_some_and(|after| after < self.times as u64)
    }
}
