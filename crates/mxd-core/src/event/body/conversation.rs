//! The conversation of a task: what it was told, said, called and got back.

use serde::{Deserialize, Serialize};

use super::{BlobId, CacheBreakReason, Image, ToolCallId, Verdict};
use crate::commit::Seq;
use crate::id::{MessageId, TaskId};
use crate::message::Message;
use crate::money::Usd;
use crate::prompt::Reasoning;
use crate::raw::RawJson;

/// A message waits in the inbox of the task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessagePosted {
    /// Its id; a second event with the same id is the same message.
    pub id: MessageId,
    /// What it says.
    pub body: Message,
    /// Whether it starts or wakes the agent, or waits until something else does.
    pub wake: bool,
}

/// Messages left the inbox and are part of the conversation from here on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessagesConsumed {
    /// Which ones, in the order in which the agent reads them.
    pub message_ids: Vec<MessageId>,
}

/// The inbox was full, so a message that only informs was not put in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NoticeSkipped {
    /// The kind of message it was, also one of a newer version.
    pub source: String,
    /// Which node it was about.
    pub node_id: TaskId,
}

/// The model wrote text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AssistantText {
    /// The text.
    pub content: String,
}

/// The model thought. Kept as it came, because providers want it back unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Thinking {
    /// The thought, or the sealed form of it.
    pub thinking: String,
    /// The provider's proof that it is unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The only provider that may get it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Whether `thinking` is sealed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
}

/// The model calls a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The tool's name.
    pub tool: String,
    /// The provider's name of this call.
    pub tool_call_id: ToolCallId,
    /// The arguments, byte for byte: they are sent back in every later request.
    pub input: RawJson,
    /// Why they cannot be used, when the model wrote something that is no JSON object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malformed: Option<String>,
}

/// Something one wire wants back unchanged, and no other understands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelItem {
    /// The wire that wrote it.
    pub wire: String,
    /// The item.
    pub json: RawJson,
}

/// What the gate said about a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolVerdict {
    /// Which call.
    pub tool_call_id: ToolCallId,
    /// Allowed, asked or denied.
    pub verdict: Verdict,
    /// The rule that decided.
    pub rule: String,
    /// The side-effect class of the tool.
    pub class: String,
}

/// A tool call has an outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The tool's name.
    pub tool: String,
    /// Which call.
    pub tool_call_id: ToolCallId,
    /// What the model reads.
    pub content: String,
    /// Whether the call failed.
    pub is_error: bool,
    /// Pictures it returned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Whether more will come as a message.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pending: bool,
    /// The name under which it goes on in the background.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background_id: Option<String>,
    /// The command that goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background_command: Option<String>,
    /// The whole content, when it was too large for a line of the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<BlobId>,
}

/// The frozen start of every request: the same bytes until a `cache_break`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionConfig {
    /// The tool definitions, byte for byte.
    pub tools: RawJson,
    /// The part of the system text that is the same for all tasks.
    pub system_stable: String,
    /// The part that is this task's.
    pub system_variable: String,
    /// The model.
    pub model: String,
    /// Its provider.
    pub provider: String,
    /// How long the provider keeps the prefix.
    pub cache_ttl: String,
    /// How hard the model is to think, when that is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning>,
    /// What the model can take and costs at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<Terms>,
}

/// What a model can take and costs at most: what a call has to be allowed before it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Terms {
    /// Tokens it has before its eyes at most, its answer included.
    pub context_window: u64,
    /// Tokens it writes at most in one answer.
    pub max_output_tokens: u64,
    /// The highest price of a million tokens that it reads, however they are read.
    pub input_usd: Usd,
    /// The highest price of a million tokens that it writes.
    pub output_usd: Usd,
    /// Whether its provider counts the tokens of a request.
    #[serde(default)]
    pub counts_tokens: bool,
    /// Whether it reads text and sees no pictures. Sessions that were begun before this was noted got them sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub text_only: bool,
}

/// The provider is asked how many tokens the conversation has, because an estimate does not decide whether it fits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountRequested {}

/// How many tokens the conversation has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextCounted {
    /// So many.
    pub tokens: u64,
    /// Who says so.
    pub by: Counter,
}

/// Who counts tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counter {
    /// The provider.
    Provider,
    /// Nobody: the provider could not, and this is an estimate.
    Estimate,
    /// Something a newer version knows.
    #[serde(untagged)]
    Other(String),
}

/// A summary was begun. Without a later `compact_marker` it is no boundary.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactStarted {
    /// Whether the agent had nothing to do, and has nothing to do afterwards either.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub resting: bool,
}

/// The model is asked to summarise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SummarizationRequest {
    /// How.
    pub instruction: String,
}

/// The summary is made; what stands before its `compact_started` is not sent any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactMarker {
    /// The summary.
    pub checkpoint: String,
    /// How many tokens it spares.
    pub saved_tokens: u64,
}

/// The first message after a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactedResume {
    /// The text.
    pub content: String,
    /// The working directory at that moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

/// The next request does not extend the one before it, on purpose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CacheBreak {
    /// Why.
    pub reason: CacheBreakReason,
}

/// The conversation continues another one from a point on. A pointer, not a copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForkMarker {
    /// The task whose conversation comes before.
    pub source_task_id: TaskId,
    /// The last commit of it that counts.
    pub source_seq: Seq,
    /// Who the reader is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_title: Option<String>,
    /// What the reader is to do now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_description: Option<String>,
}

/// The conversation goes back to an earlier point; what came after it is not sent any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RewindMarker {
    /// The last commit that still counts.
    pub to_seq: Seq,
}
