//! What a turn is made of.

use serde::{Deserialize, Serialize};

use crate::raw::RawJson;

/// One piece of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Block {
    /// Words.
    Text(Text),
    /// A thought, which its provider wants back unchanged.
    Thinking(Thinking),
    /// A thought that only its provider can read.
    RedactedThinking(RedactedThinking),
    /// The model calls a tool.
    ToolCall(ToolCall),
    /// What a tool call came to.
    ToolResult(ToolResult),
    /// A picture.
    Image(Image),
    /// Something one wire wants back unchanged, and no other understands.
    Opaque(Opaque),
}

impl Block {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(Text { text: text.into() })
    }
}

/// Words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Text {
    /// The words.
    pub text: String,
}

/// A thought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Thinking {
    /// The thought, or as much of it as the provider shows.
    pub text: String,
    /// The provider's proof that it is unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// A sealed thought.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RedactedThinking {
    /// The sealed form.
    pub data: String,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolCall {
    /// The name of this call, unique in its turn.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments: always an object, byte for byte the same in every later request.
    pub input: RawJson,
    /// Why the arguments cannot be used, when the model wrote something that is no JSON object. The caller
    /// answers such a call with an error result instead of running it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malformed: Option<String>,
}

/// What a tool call came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolResult {
    /// The call it answers.
    pub call_id: String,
    /// Whether it failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// What the model reads and sees.
    pub content: Vec<ResultPart>,
}

impl ToolResult {
    /// The same for a model that sees no pictures.
    pub(super) fn for_text_only_model(&self) -> Self {
        let part = |part: &ResultPart| match part {
            ResultPart::Text(_) => part.clone(),
            ResultPart::Image(image) => ResultPart::Text(Text { text: image.placeholder() }),
        };
        Self { content: self.content.iter().map(part).collect(), ..self.clone() }
    }
}

/// One piece of a tool's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultPart {
    /// Words.
    Text(Text),
    /// A picture.
    Image(Image),
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Image {
    /// For example `image/png`.
    pub media_type: String,
    /// Its bytes in base64.
    pub data: String,
}

impl Image {
    /// What a model reads that cannot see it.
    pub(super) fn placeholder(&self) -> String {
        let bytes = self.data.len() / 4 * 3;
        format!("[a picture of type {}, about {bytes} bytes, which you cannot see]", self.media_type)
    }
}

/// An item of one wire, carried back as it came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Opaque {
    /// The wire that wrote it, and the only one that gets it back.
    pub wire: String,
    /// The item.
    pub json: RawJson,
}
