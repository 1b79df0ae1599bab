//! What the model says.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One answer of the model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// What is said, in order.
    #[serde(default)]
    pub blocks: Vec<Block>,
    /// Why it ends. Without it `tool_use` when a tool is called, else `end_turn`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// The stop sequence that was met, with `stop_sequence`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_sequence: Option<String>,
    /// Habits of other servers, on the Chat wire.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quirks: Vec<Quirk>,
    /// The tokens that are billed. Without it they are counted from the texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// One block of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Block {
    /// Text for the user.
    Text(String),
    /// Thinking. On the Responses wire a reasoning item with encrypted content, on the Chat wire `reasoning_content`.
    Thinking {
        /// What is thought.
        text: String,
        /// The signature, which is also the encrypted content. Without it one is made up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// Thinking that nobody may read. On the Chat wire it is left out.
    RedactedThinking(String),
    /// A tool call.
    ToolCall(ToolCall),
}

/// A call of a tool. Exactly one of `input` and `input_text` is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// The tool.
    pub name: String,
    /// The arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// The arguments as the text that is streamed, to send JSON that is malformed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_text: Option<String>,
    /// The id of the call. Without it one is made up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

impl ToolCall {
    /// The arguments as text.
    pub(crate) fn arguments(&self) -> String {
        match (&self.input_text, &self.input) {
            (Some(text), _) => text.clone(),
            (None, Some(input)) => input.to_string(),
            (None, None) => "{}".to_owned(),
        }
    }
}

/// Why an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model has said what it wanted.
    EndTurn,
    /// It waits for tool results.
    ToolUse,
    /// The limit of tokens was reached.
    MaxTokens,
    /// A stop sequence was met.
    StopSequence,
    /// A long turn is paused and may be continued.
    PauseTurn,
    /// The model declines.
    Refusal,
    /// The context window is full.
    ModelContextWindowExceeded,
}

impl StopReason {
    /// As the Anthropic wire says it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::EndTurn => "end_turn",
            Self::ToolUse => "tool_use",
            Self::MaxTokens => "max_tokens",
            Self::StopSequence => "stop_sequence",
            Self::PauseTurn => "pause_turn",
            Self::Refusal => "refusal",
            Self::ModelContextWindowExceeded => "model_context_window_exceeded",
        }
    }
}

/// A habit of servers that speak the Chat wire in their own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Quirk {
    /// No usage, though it was asked for.
    NoUsage,
    /// A tool call is streamed in one piece.
    WholeToolCalls,
    /// Every piece of a tool call repeats its id.
    RepeatIds,
}

/// Billed tokens. `input_tokens` is what was neither read from the cache nor written to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Usage {
    /// Input that was not cached.
    pub input_tokens: u64,
    /// Output, reasoning included.
    pub output_tokens: u64,
    /// Input read from the cache.
    pub cache_read_tokens: u64,
    /// Input written to the cache for five minutes.
    pub cache_write_tokens: u64,
    /// Input written to the cache for an hour. Only the Anthropic wire tells it apart.
    pub cache_write_1h_tokens: u64,
    /// The part of the output that was reasoning. Only the OpenAI wires tell it apart.
    pub reasoning_tokens: u64,
}

impl Usage {
    /// All input, as the OpenAI wires count it.
    pub(crate) fn all_input(&self) -> u64 {
        self.input_tokens + self.cache_read_tokens + self.cache_write_tokens + self.cache_write_1h_tokens
    }
}

impl Reply {
    /// Why it ends, said or implied.
    pub(crate) fn stop(&self) -> StopReason {
        let calls = self.blocks.iter().any(|block| matches!(block, Block::ToolCall(_)));
        self.stop_reason.unwrap_or(if calls { StopReason::ToolUse } else { StopReason::EndTurn })
    }
}
