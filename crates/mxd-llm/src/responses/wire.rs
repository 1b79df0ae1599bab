//! The shapes of the wire. Fields go out in the order in which they stand here.

use std::borrow::Cow;

use mxd_core::raw::RawJson;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::decoder::named;
use crate::tokens::Tokens;

/// What stands before the input.
#[derive(Serialize)]
pub(super) struct Head<'a> {
    pub(super) model: &'a str,
    pub(super) stream: bool,
    pub(super) store: bool,
    pub(super) include: [&'static str; 1],
    pub(super) max_output_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prompt_cache_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) instructions: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Reasoning {
    pub(super) effort: &'static str,
    pub(super) summary: &'static str,
}

#[derive(Serialize)]
pub(super) struct Tool<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    pub(super) parameters: &'a RawJson,
    pub(super) strict: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Item<'a> {
    Message { role: &'static str, content: Vec<Content<'a>> },
    FunctionCall { call_id: &'a str, name: &'a str, arguments: &'a str },
    FunctionCallOutput { call_id: &'a str, output: Output<'a> },
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Output<'a> {
    Text(String),
    Parts(Vec<Content<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Content<'a> {
    InputText { text: &'a str },
    OutputText { text: &'a str },
    InputImage { image_url: String },
}

/// An event of the stream: every kind has some of these fields.
#[derive(Deserialize)]
pub(super) struct Event<'a> {
    #[serde(rename = "type", default, borrow)]
    pub(super) kind: Cow<'a, str>,
    /// A text in the kinds we look at; others have objects there.
    #[serde(default, borrow)]
    pub(super) delta: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) summary_index: u32,
    #[serde(default)]
    pub(super) item: Option<RawJson>,
    #[serde(default)]
    pub(super) response: Option<Response>,
    #[serde(default)]
    pub(super) code: Option<serde_json::Value>,
    #[serde(default)]
    pub(super) message: Option<String>,
    #[serde(default)]
    pub(super) error: Option<ErrorBody>,
}

#[derive(Deserialize)]
pub(super) struct Response {
    #[serde(default, deserialize_with = "named")]
    pub(super) model: Option<String>,
    #[serde(default)]
    pub(super) output: Vec<RawJson>,
    #[serde(default)]
    pub(super) usage: Option<Usage>,
    #[serde(default)]
    pub(super) error: Option<ErrorBody>,
    #[serde(default)]
    pub(super) incomplete_details: Option<Incomplete>,
}

#[derive(Deserialize)]
pub(super) struct Incomplete {
    #[serde(default)]
    pub(super) reason: String,
}

#[derive(Deserialize)]
pub(super) struct ErrorBody {
    #[serde(default)]
    pub(super) code: Option<String>,
    #[serde(rename = "type", default)]
    pub(super) kind: Option<String>,
    #[serde(default)]
    pub(super) message: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Usage {
    #[serde(default)]
    pub(super) input_tokens: Tokens,
    #[serde(default)]
    pub(super) output_tokens: Tokens,
    #[serde(default)]
    pub(super) input_tokens_details: Option<InputDetails>,
    #[serde(default)]
    pub(super) output_tokens_details: Option<OutputDetails>,
}

#[derive(Deserialize)]
pub(super) struct InputDetails {
    #[serde(default)]
    pub(super) cached_tokens: Tokens,
    #[serde(default)]
    pub(super) cache_write_tokens: Tokens,
}

#[derive(Deserialize)]
pub(super) struct OutputDetails {
    #[serde(default)]
    pub(super) reasoning_tokens: Tokens,
}

/// What every finished item has.
#[derive(Deserialize)]
pub(super) struct Finished {
    #[serde(rename = "type", default)]
    pub(super) kind: String,
}

#[derive(Deserialize)]
pub(super) struct FinishedMessage {
    #[serde(default)]
    pub(super) content: Vec<Part>,
}

#[derive(Deserialize)]
pub(super) struct FinishedCall {
    pub(super) call_id: String,
    pub(super) name: String,
    #[serde(default)]
    pub(super) arguments: String,
}

#[derive(Deserialize)]
pub(super) struct Part {
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) text: String,
    #[serde(default)]
    pub(super) refusal: String,
}
