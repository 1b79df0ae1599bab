//! Reading a Chat Completions request.

use serde_json::{Map, Value, json};

use super::{messages, rules};
use crate::prefix::unmarked;
use crate::view::{Message, Pieces, View};
use crate::wire::Reading;
use crate::wire::fields::{Dialect, Fields};
use crate::wire::openai;

/// The service's own fields, and those that compatible servers have in common.
const REQUEST: &[&str] = &[
    "model",
    "messages",
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "metadata",
    "modalities",
    "moderation",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
    "web_search_options",
];

/// Reads the request and holds it to every rule.
pub(crate) fn read(body: &Value) -> Reading {
    let mut fields = Fields::new(Dialect::OpenAi);
    let mut view = View { pieces: pieces(body), ..View::default() };
    if let Some(map) = fields.object(body, "", REQUEST) {
        view.model = fields.text(map, "", "model").unwrap_or_default();
        view.stream = map.get("stream").and_then(Value::as_bool).unwrap_or_default();
        view.wants_usage = stream_options(map, view.stream, &mut fields);
        view.tools = tools(map, &mut fields);
        view.names = openai::names(map);
        view.messages = list(map, &mut fields);
        openai::limit(map, "max_tokens", &mut fields);
        openai::limit(map, "max_completion_tokens", &mut fields);
        rules::check(&view, &mut fields);
    }
    Reading { view, violations: fields.violations }
}

/// Whether the usage is to be streamed.
fn stream_options(map: &Map<String, Value>, stream: bool, fields: &mut Fields) -> bool {
    let Some(options) = map.get("stream_options").filter(|options| !options.is_null()) else { return false };
    if !stream {
        let message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
        fields.say("stream-options", message);
    }
    let options = fields.object(options, "stream_options", &["include_usage", "include_obfuscation"]);
    options.and_then(|options| options.get("include_usage")?.as_bool()).unwrap_or_default()
}

fn tools(map: &Map<String, Value>, fields: &mut Fields) -> Vec<String> {
    let mut names = Vec::new();
    let list = map.get("tools").and_then(Value::as_array);
    if list.is_some_and(Vec::is_empty) {
        fields.say("empty-tools", "Invalid 'tools': empty array. Expected an array with minimum length 1.");
    }
    for (index, value) in list.into_iter().flatten().enumerate() {
        let path = format!("tools[{index}]");
        if value["type"] != "function" {
            fields.unknown_kind(&path, value["type"].as_str().unwrap_or_default());
            continue;
        }
        let Some(tool) = fields.object(value, &path, &["type", "function"]) else { continue };
        let path = format!("{path}.function");
        let Some(function) = tool.get("function") else {
            fields.missing(&path);
            continue;
        };
        let known = &["name", "description", "parameters", "strict"];
        if let Some(function) = fields.object(function, &path, known) {
            openai::tool(function, &path, &mut names, fields);
        }
    }
    names
}

fn list(map: &Map<String, Value>, fields: &mut Fields) -> Vec<Message> {
    let Some(list) = map.get("messages").and_then(Value::as_array) else {
        fields.missing("messages");
        return Vec::new();
    };
    let read = |(index, value)| messages::message(value, &format!("messages[{index}]"), fields);
    list.iter().enumerate().map(read).collect()
}

/// What must stay the same: a text is a list of one text part, and cache markers do not count.
fn pieces(body: &Value) -> Pieces {
    let item = |message: &Value| {
        let mut message = unmarked(message);
        if let Some(Value::String(text)) = message.get("content") {
            message["content"] = json!([{ "type": "text", "text": text }]);
        }
        message
    };
    let items = body.get("messages").and_then(Value::as_array);
    Pieces {
        head: body.get("tools").map(|tools| ("tools", unmarked(tools))).into_iter().collect(),
        items: items.into_iter().flatten().map(item).collect(),
        list: "messages",
    }
}
