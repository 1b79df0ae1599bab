//! What is told while it happens and never stored. A lost delta is repaired by the event that ends the item.

use serde::{Deserialize, Serialize};

use super::body::ToolCallId;
pub use super::vocabulary::DeltaBody;
use super::vocabulary::EventKind;
use super::{DecodeError, EncodeError, EventHead};
use crate::id::{ClarificationId, TaskId};

/// An ephemeral event. Another type than [`super::Event`], so a commit cannot hold one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    /// The task it is about.
    pub task: TaskId,
    /// What it says.
    pub body: DeltaBody,
}

impl Delta {
    /// Puts a delta together.
    pub fn new(task: TaskId, body: impl Into<DeltaBody>) -> Self {
        Self { task, body: body.into() }
    }

    /// The delta as one JSON object without line breaks.
    pub fn to_json(&self) -> Result<String, EncodeError> {
        Ok(self.body.encode(self.task)?)
    }

    /// Reads a delta; fields it does not know are dropped, because deltas are never written back.
    pub fn decode(text: &str) -> Result<Self, DecodeError> {
        let head = EventHead::parse(text)?;
        let not_a_delta = || DecodeError::NotADelta { kind: head.type_name.clone().into_owned() };
        let kind = EventKind::from_name(&head.type_name).ok_or_else(not_a_delta)?;
        let body = DeltaBody::parse(kind, text).map_err(|source| DecodeError::Body { kind, source })?;
        Ok(Self { task: head.task, body: body.ok_or_else(not_a_delta)? })
    }
}

/// The model writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextDelta {
    /// The next piece.
    pub content: String,
}

/// The model thinks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ThinkingDelta {
    /// The next piece.
    pub content: String,
}

/// A tool writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolOutput {
    /// Which call.
    pub tool_call_id: ToolCallId,
    /// The next piece, with escape sequences for a terminal.
    pub content: String,
    /// Bytes that were left out before it, because nobody took them in time.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skipped_bytes: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference to skip_serializing_if")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// How full the context is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextUsage {
    /// Tokens of the last request.
    pub input_tokens: u64,
    /// Tokens the model can take.
    pub context_window: u64,
    /// Whether the first number is a guess.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

/// The agent waits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentIdle {}

/// The agent works.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentActive {}

/// What the agent does at the moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentActivity {
    /// Idle, thinking or in a tool.
    pub state: ActivityState,
}

/// The states an agent is shown in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActivityState {
    /// Waits for a message.
    Idle,
    /// A model call runs.
    Thinking,
    /// A tool runs.
    Tool,
    /// Something a newer version shows.
    #[serde(untagged)]
    Other(String),
}

/// A line for the status bar.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusLine {
    /// The line.
    pub message: String,
}

/// How long a question stays open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClarificationTimeout {
    /// Which question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<ClarificationId>,
    /// Milliseconds from now.
    pub timeout_ms: u64,
}
