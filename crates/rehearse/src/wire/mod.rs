//! The wires: how each service is asked and how it answers.

mod anthropic;
mod chat;
mod fields;
mod openai;
mod pieces;
mod responses;

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::cache::Cached;
use crate::script::{Reply, Usage};
use crate::view::View;
use crate::violation::Violation;

pub(crate) use pieces::made_signature;

/// A protocol of a model service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    Responses,
    /// OpenAI Chat Completions.
    Chat,
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Anthropic => "anthropic",
            Self::Responses => "responses",
            Self::Chat => "chat",
        })
    }
}

/// A request that was read, and what is wrong with it.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) view: View,
    pub(crate) violations: Vec<Violation>,
}

/// What is answered, and to what.
#[derive(Debug)]
pub(crate) struct Voice<'a> {
    pub(crate) reply: &'a Reply,
    pub(crate) view: &'a View,
    /// What of it the prompt cache had, or has now.
    pub(crate) cached: Cached,
    /// The number of the request, from which ids are made.
    pub(crate) number: u64,
}

/// The body of an answer.
#[derive(Debug, PartialEq)]
pub(crate) enum Body {
    /// Server-sent events, each complete.
    Events(Vec<String>),
    /// One JSON document.
    Json(Value),
}

/// An error as the service words it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) status: u16,
    pub(crate) kind: Option<String>,
    pub(crate) message: String,
}

impl Wire {
    /// Every wire.
    pub const ALL: &[Self] = &[Self::Anthropic, Self::Responses, Self::Chat];

    /// What the base URL of a client ends with.
    pub(crate) fn base_path(self) -> &'static str {
        match self {
            Self::Anthropic => "",
            Self::Responses | Self::Chat => "/v1",
        }
    }

    /// The header under which the service gives the id of a request.
    pub(crate) fn request_id_header(self) -> &'static str {
        match self {
            Self::Anthropic => "request-id",
            Self::Responses | Self::Chat => "x-request-id",
        }
    }

    /// Headers that the service demands and the request lacks.
    pub(crate) fn missing_headers(self, has: impl Fn(&str) -> bool) -> Vec<Violation> {
        match self {
            Self::Anthropic => anthropic::missing_headers(has),
            Self::Responses => responses::missing_headers(has),
            // Servers at home ask for no key.
            Self::Chat => Vec::new(),
        }
    }

    /// Reads a request and holds it to the rules of the wire.
    pub(crate) fn read(self, body: &Value) -> Reading {
        match self {
            Self::Anthropic => anthropic::read(body),
            Self::Responses => responses::read(body),
            Self::Chat => chat::read(body),
        }
    }

    /// Writes a reply.
    pub(crate) fn speak(self, voice: &Voice<'_>) -> Body {
        match self {
            Self::Anthropic => anthropic::speak(voice),
            Self::Responses => responses::speak(voice),
            Self::Chat => chat::speak(voice),
        }
    }

    /// Writes the body of an error response.
    pub(crate) fn error(self, trouble: &Trouble, number: u64) -> Value {
        match self {
            Self::Anthropic => anthropic::error(trouble, number),
            Self::Responses | Self::Chat => openai::error_body(trouble),
        }
    }

    /// Writes an error inside a stream.
    pub(crate) fn stream_error(self, trouble: &Trouble, voice: &Voice<'_>) -> String {
        match self {
            Self::Anthropic => anthropic::stream_error(trouble, voice.number),
            Self::Responses => responses::stream_error(trouble, voice),
            Self::Chat => chat::stream_error(trouble),
        }
    }
}

impl Voice<'_> {
    /// What is billed: the script's numbers, or a count of the texts.
    pub(crate) fn usage(&self) -> Usage {
        self.reply.usage.unwrap_or_else(|| Usage {
            input_tokens: self.view.count_tokens().saturating_sub(self.cached.sum()),
            cache_read_tokens: self.cached.read,
            cache_write_tokens: self.cached.written,
            cache_write_1h_tokens: self.cached.written_for_an_hour,
            output_tokens: pieces::count_output(self.reply),
            reasoning_tokens: pieces::count_reasoning(self.reply),
        })
    }
}
