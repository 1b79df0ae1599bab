//! A request as rules, expectations, prefix and shape see it: the same for every wire.

use serde_json::Value;

use crate::limits::TOKEN_BYTES;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    System,
    User,
    Assistant,
    /// A message that carries one tool result, on the OpenAI wires.
    Tool,
}

impl Role {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

/// One block of a message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Text(String),
    /// Thinking with its signature or encrypted content, which is never empty.
    Thinking {
        text: String,
        seal: Option<String>,
    },
    Redacted,
    Call {
        id: String,
        name: String,
        input: String,
    },
    Result(ToolResult),
    Image(String),
    /// A legal block that no rule looks into.
    Other(String),
}

/// What a tool answered.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ToolResult {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) is_error: Option<bool>,
    pub(crate) images: usize,
}

/// One message, or one item of the Responses wire.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Message {
    pub(crate) role: Role,
    pub(crate) parts: Vec<Part>,
}

/// What must not change from one request to the next.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Pieces {
    /// System text and tools, each with its name.
    pub(crate) head: Vec<(&'static str, Value)>,
    /// The messages, as many and in the same order as in the view.
    pub(crate) items: Vec<Value>,
    /// What the wire calls its list of messages.
    pub(crate) list: &'static str,
}

/// A request.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct View {
    pub(crate) model: String,
    pub(crate) stream: bool,
    /// Chat: the last chunk carries the usage.
    pub(crate) wants_usage: bool,
    /// Responses: reasoning items carry their encrypted content.
    pub(crate) wants_encrypted: bool,
    /// System texts that stand outside of the messages.
    pub(crate) system: Vec<String>,
    pub(crate) tools: Vec<String>,
    pub(crate) messages: Vec<Message>,
    /// Ids by which the client may have named its conversation.
    pub(crate) names: Vec<String>,
    pub(crate) pieces: Pieces,
}

impl View {
    /// All system texts, outside of the messages and among them.
    pub(crate) fn system_text(&self) -> String {
        let inside = self.messages.iter().filter(|message| message.role == Role::System);
        let inside = inside.flat_map(|message| message.parts.iter().filter_map(Part::text));
        self.system.iter().map(String::as_str).chain(inside).collect::<Vec<_>>().join("\n")
    }

    /// The first text of the user.
    pub(crate) fn first_user_text(&self) -> Option<String> {
        let first = self.messages.iter().find(|message| message.role == Role::User)?;
        let texts: Vec<&str> = first.parts.iter().filter_map(Part::text).collect();
        Some(texts.join("\n"))
    }

    /// The name of the tool that the call with this id called.
    pub(crate) fn called(&self, wanted: &str) -> Option<&str> {
        let parts = self.messages.iter().flat_map(|message| &message.parts);
        let mut calls = parts.filter_map(|part| match part {
            Part::Call { id, name, .. } if id == wanted => Some(name.as_str()),
            _ => None,
        });
        calls.next_back()
    }

    /// A count of tokens that depends on nothing but the texts: a token for every four bytes.
    pub(crate) fn count_tokens(&self) -> u64 {
        let head = self.pieces.head.iter().map(|(_, value)| value);
        let bytes: usize = head.chain(&self.pieces.items).map(|value| value.to_string().len()).sum();
        (bytes as u64).div_ceil(TOKEN_BYTES)
    }
}

impl Part {
    /// The text of a text block.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The tool result, if it is one.
    pub(crate) fn result(&self) -> Option<&ToolResult> {
        match self {
            Self::Result(result) => Some(result),
            _ => None,
        }
    }
}
