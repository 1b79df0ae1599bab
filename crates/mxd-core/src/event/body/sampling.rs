//! Servers that have the model of a task write for them, in the course of a call.

use serde::{Deserialize, Serialize};

use super::{StopReason, Usage};
use crate::id::ReservationId;
use crate::money::Usd;

/// The model begins to write for a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SamplingStarted {
    /// Names it, and what is set aside for it.
    pub id: ReservationId,
    /// The server that asked for it.
    pub server: String,
    /// Bytes that the model reads: all of them are the server's own words.
    pub bytes: u64,
    /// Tokens that it may write.
    pub max_tokens: u64,
}

/// The model has written, or will not. Its cost counts among what the task has spent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SamplingEnded {
    /// Which one.
    pub id: ReservationId,
    /// The server that asked for it.
    pub server: String,
    /// Why the model stopped.
    pub stop_reason: StopReason,
    /// What it used.
    pub usage: Usage,
    /// What that cost.
    pub cost_usd: Usd,
    /// Whether nobody said what it cost: then all that was set aside for it counts as spent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cost_unknown: bool,
    /// What is wrong with the usage that the provider reported, when it cannot be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage_fault: Option<String>,
}
