//! The three wires, as a choice.

use std::fmt;

/// A protocol for asking models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wire {
    /// The Messages API of Anthropic.
    Anthropic,
    /// The Responses API of OpenAI.
    Responses,
    /// The Chat Completions API, which many servers speak.
    Chat,
}

impl Wire {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Anthropic, Self::Responses, Self::Chat];

    /// Its name, also in [`mxd_core::prompt::Opaque`].
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Responses => "responses",
            Self::Chat => "chat",
        }
    }

    /// Where its vendor serves it.
    pub fn default_base_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::Responses | Self::Chat => "https://api.openai.com/v1",
        }
    }

    /// Where answers are asked for, from the base URL.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Anthropic => "/v1/messages",
            Self::Responses => "/responses",
            Self::Chat => "/chat/completions",
        }
    }

    /// Where models are listed, from the base URL.
    pub(crate) fn models_path(self) -> &'static str {
        match self {
            Self::Anthropic => "/v1/models",
            Self::Responses | Self::Chat => "/models",
        }
    }
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
