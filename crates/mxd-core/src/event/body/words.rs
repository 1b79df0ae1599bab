//! Small words that several events use.
//!
//! Words that may grow in a minor version end in `Other`, so that an older reader keeps what it does not
//! know.

use serde::{Deserialize, Serialize};

/// Who made a change. It decides who is told about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditedBy {
    /// A person.
    User,
    /// An agent.
    Agent,
}

/// The name a provider gave a tool call. Not ours, so it is any text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolCallId(pub String);

/// The hash that names a body kept outside the log.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BlobId(pub String);

/// A picture; its bytes are always a blob.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    /// For example `image/png`.
    pub media_type: String,
    /// Its bytes.
    pub blob: BlobId,
}

/// What the gate said about a tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It may run.
    Allow,
    /// The user has to say.
    Ask,
    /// It does not run.
    Deny,
    /// Something a newer version says.
    #[serde(untagged)]
    Other(String),
}

/// How far an approval reaches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalScope {
    /// This call.
    Once,
    /// Calls like this in the same task.
    Task,
    /// Calls like this in the project.
    Project,
    /// Something a newer version knows.
    #[serde(untagged)]
    Other(String),
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It had no more to say.
    EndTurn,
    /// It wants tool results.
    ToolUse,
    /// It ran into its output limit.
    MaxTokens,
    /// It would not answer.
    Refusal,
    /// Its turn was stopped from outside.
    Cancelled,
    /// A reason of one provider or of a newer version.
    #[serde(untagged)]
    Other(String),
}

/// Why the next request does not extend the one before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheBreakReason {
    /// The conversation was summarised.
    Compaction,
    /// The set of tools changed.
    ToolsChanged,
    /// The model or its provider changed.
    ModelChanged,
    /// The conversation was taken back to an earlier point.
    Rewind,
    /// Something a newer version does.
    #[serde(untagged)]
    Other(String),
}

/// What a model call used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens read without the cache.
    pub input_tokens: u64,
    /// Tokens written by the model.
    pub output_tokens: u64,
    /// Tokens read from the cache.
    pub cache_read_tokens: u64,
    /// Tokens put into the cache.
    pub cache_write_tokens: u64,
}
