//! What a tool call came to, as the model will read it.

use mxd_core::prompt::text::Fence;
use mxd_core::tool::{CleanText, ServerName};
use serde_json::Value;

/// The fence around words of servers.
pub(crate) const SERVER_WORDS: &str = "server_words";

/// The answer of a tool. A failing tool is an answer too: the model reads it and goes on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// What the model sees, in order.
    pub parts: Vec<Part>,
    /// The same as data, from tools that declare what they return.
    pub structured: Option<Value>,
    /// Whether the call failed.
    pub is_error: bool,
    /// Whose words the texts are, when they are neither the program's nor those of a command of the agent.
    pub server: Option<Box<ServerName>>,
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

    /// The same, said by a server.
    #[must_use]
    pub fn from_server(self, server: &ServerName) -> Self {
        Self { server: Some(Box::new(server.clone())), ..self }
    }

    /// The same as a model may read it: words of a server stand in a fence that names it, without characters that
    /// nobody sees.
    #[must_use]
    pub fn fenced(mut self) -> Self {
        let Some(server) = self.server.take() else { return self };
        for part in &mut self.parts {
            if let Part::Text(words) = part {
                let fence = Fence::new(SERVER_WORDS).with("server", server.as_str());
                *words = fenced(fence, words, usize::MAX);
            }
        }
        self
    }
}

/// Words of a server in their fence, which says when it does not hold all of them.
pub(crate) fn fenced(fence: Fence, words: &str, max_bytes: usize) -> String {
    let flags = CleanText::clean(words, usize::MAX).flags();
    let fence = match flags.control + flags.hidden {
        0 => fence,
        taken_out => fence.with("unseen_characters_taken_out", &taken_out.to_string()),
    };
    fence.around(words, max_bytes)
}
