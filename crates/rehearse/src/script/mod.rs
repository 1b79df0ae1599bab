//! What a script says: conversations, their turns, and faults by request number.
//!
//! A script is JSON. Choices are written as an object with one key (`{"text": "…"}`), because that is the form in
//! which a wrong word is reported where it stands.

mod check;
mod expect;
mod fault;
mod load;
mod locate;
mod reply;
mod words;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use check::is_tool_name;
pub use expect::{Expect, ResultExpect, TextExpect};
pub use fault::{Fault, NumberedFault, TurnFault};
pub use load::{ScriptError, ScriptProblem};
pub use reply::{Block, Quirk, Reply, StopReason, ToolCall, Usage};
pub use words::Words;

/// A whole script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Where the JSON Schema of scripts lies, for editors. Not read.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// What the script is for. Not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The conversations this model can hold. Requests of different ones may come in any order.
    pub conversations: Vec<Conversation>,
    /// Faults by the number of the request, counted over all conversations from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<NumberedFault>,
    /// The reply when a conversation has no turns left, or when no conversation fits. Without it both are failures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_reply: Option<Reply>,
    /// A request that is asked again word by word gets the same answer again, under the same ids, because its client may
    /// have died before it wrote the first one down. Without this it gets the next turn.
    #[serde(default, skip_serializing_if = "is_false")]
    pub resumes: bool,
    /// Tokens are billed as by a service with a prompt cache: what a request begins with, and an earlier one with the same
    /// model began with, is read from it. Without this every token is billed as if it came for the first time.
    #[serde(default, skip_serializing_if = "is_false")]
    pub caches: bool,
    /// The models that are listed. Any other name is answered as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
}

/// One conversation: how its requests are recognised, and what is answered to them in turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Conversation {
    /// The name of the conversation. A request belongs to it when the header `x-rehearse-conversation`,
    /// Anthropic's `metadata.user_id`, or OpenAI's `prompt_cache_key`, `safety_identifier` or `user` says this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// A request that names no conversation belongs to this one when its first user text fits. Of a fork, it is what the
    /// request adds to that of its parent: tool results and user texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_message: Option<TextExpect>,
    /// The conversation this one was forked from: its first request must extend a request of that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork_of: Option<ForkOf>,
    /// What is answered, in order.
    pub turns: Vec<Turn>,
}

/// Where a fork begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForkOf {
    /// The id of the parent.
    pub conversation: String,
    /// The turn of the parent, counted from 1, whose request the fork must extend.
    pub at_turn: usize,
}

/// One request and its reply.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// What the request must say, beyond the rules of the wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expect>,
    /// Regular expressions with named groups, searched in what the request adds. Each must match. What a group
    /// caught stands for `$name` or `${name}` in this reply and in everything later in the conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capture: Vec<String>,
    /// What the model says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Reply>,
    /// The reply is given again, to the requests that follow, until this was said. What the turn expects and captures is
    /// looked for in the first of them only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Until>,
    /// What goes wrong before, or while, it says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<TurnFault>,
    /// The request may differ from the one before in its system text, its tools and its earlier messages.
    #[serde(default, skip_serializing_if = "is_false")]
    pub breaks_prefix: bool,
    /// Milliseconds before the first byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// Milliseconds between chunks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk_delay_ms: Option<u64>,
    /// Cuts the body into chunks of so many bytes, wherever that falls. Without it a chunk is one event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk_bytes: Option<usize>,
    /// The reply waits here until the test opens the gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
}

/// When a turn is over that may be played several times. The texts are what the model did not say itself: tool results
/// and user texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Until {
    /// When what the next request adds says this.
    Added(TextExpect),
    /// When the next request says this anywhere.
    Ever(TextExpect),
}

/// A place where a reply waits for the test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// The name under which it is opened.
    pub name: String,
    /// Chunks that are sent before the wait. With 0 not even the status line is.
    #[serde(default)]
    pub after_chunks: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference to skip_serializing_if")]
fn is_false(value: &bool) -> bool {
    !*value
}

impl Script {
    /// The JSON Schema of scripts.
    pub fn json_schema() -> serde_json::Value {
        schemars::schema_for!(Script).to_value()
    }
}

impl Conversation {
    /// How reports call the conversation at this place of the script.
    pub(crate) fn label(&self, index: usize) -> String {
        self.id.clone().unwrap_or_else(|| format!("#{}", index + 1))
    }

    /// Whether any request that fits nowhere else belongs here.
    pub(crate) fn takes_any(&self) -> bool {
        self.id.is_none() && self.first_message.is_none()
    }
}
