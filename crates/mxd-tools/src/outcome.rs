//! What a tool call came to, as the model will read it.

use serde_json::Value;

/// The answer of a tool. A failing tool is an answer too: the model reads it and goes on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// What the model sees, in order.
    pub parts: Vec<Part>,
    /// The same as data, from tools that declare what they return.
    pub structured: Option<Value>,
    /// Whether the call failed.
    pub is_error: bool,
}

/// One piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Words.
    Text(String),
    /// A picture, base64.
    Image {
        /// Its media type.
        media_type: String,
        /// Its bytes, base64.
        data: String,
    },
}

impl Outcome {
    /// An answer in words.
    pub fn text(text: impl Into<String>) -> Self {
        Self { parts: vec![Part::Text(text.into())], ..Self::default() }
    }

    /// A failure in words that say what is wrong and what to do.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }
}
