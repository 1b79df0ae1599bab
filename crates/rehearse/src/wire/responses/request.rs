//! Reading a Responses request.

use serde_json::{Map, Value, json};

use super::{items, rules};
use crate::prefix::unmarked;
use crate::view::{Message, Part, Pieces, Role, View};
use crate::wire::Reading;
use crate::wire::fields::{Dialect, Fields};
use crate::wire::openai;

const REQUEST: &[&str] = &[
    "model",
    "input",
    "instructions",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "max_output_tokens",
    "max_tool_calls",
    "stream",
    "stream_options",
    "store",
    "include",
    "reasoning",
    "text",
    "temperature",
    "top_p",
    "top_logprobs",
    "truncation",
    "metadata",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "user",
    "previous_response_id",
    "conversation",
    "background",
    "context_management",
    "moderation",
];
const TOOL: &[&str] = &[
    "type",
    "name",
    "description",
    "parameters",
    "strict",
    "defer_loading",
    "allowed_callers",
    "output_schema",
];

/// Reads the request and holds it to every rule.
pub(crate) fn read(body: &Value) -> Reading {
    let mut fields = Fields::new(Dialect::OpenAi);
    let mut view = View { pieces: pieces(body), ..View::default() };
    if let Some(map) = fields.object(body, "", REQUEST) {
        view.model = fields.text(map, "", "model").unwrap_or_default();
        view.stream = map.get("stream").and_then(Value::as_bool).unwrap_or_default();
        let include = map.get("include").and_then(Value::as_array);
        view.wants_encrypted =
            include.is_some_and(|include| include.contains(&json!("reasoning.encrypted_content")));
        view.system = fields.optional_text(map, "", "instructions").into_iter().collect();
        view.tools = tools(map, &mut fields);
        view.names = openai::names(map);
        view.messages = input(map, &mut fields);
        openai::limit(map, "max_output_tokens", &mut fields);
        without_memory(map, &mut fields);
        let items = map.get("input").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let stored = map.get("store").and_then(Value::as_bool).unwrap_or(true);
        rules::check(&view, &rules::Items { list: items, stored }, &mut fields);
    }
    Reading { view, violations: fields.violations }
}

/// This model remembers nothing: a request must carry its whole conversation.
fn without_memory(map: &Map<String, Value>, fields: &mut Fields) {
    for key in ["previous_response_id", "conversation", "prompt"] {
        if map.get(key).is_some_and(|value| !value.is_null()) {
            let message =
                format!("rehearse: '{key}' refers to what the service has stored; send the input itself.");
            fields.say("stored-state", message);
        }
    }
}

fn tools(map: &Map<String, Value>, fields: &mut Fields) -> Vec<String> {
    let mut names = Vec::new();
    let list = map.get("tools").and_then(Value::as_array);
    for (index, value) in list.into_iter().flatten().enumerate() {
        let path = format!("tools[{index}]");
        // Tools that the service runs itself have fields of their own.
        if value["type"] != "function" {
            names.push(value["type"].as_str().unwrap_or_default().to_owned());
            continue;
        }
        let Some(tool) = fields.object(value, &path, TOOL) else { continue };
        openai::tool(tool, &path, &mut names, fields);
    }
    names
}

fn input(map: &Map<String, Value>, fields: &mut Fields) -> Vec<Message> {
    match map.get("input") {
        None => {
            fields.missing("input");
            Vec::new()
        }
        Some(Value::String(text)) => {
            vec![Message { role: Role::User, parts: vec![Part::Text(text.clone())] }]
        }
        Some(Value::Array(list)) => {
            let read = |(index, value)| items::item(value, &format!("input[{index}]"), fields);
            list.iter().enumerate().map(read).collect()
        }
        Some(_) => {
            fields.wrong_type("input", "one of a string or an array of input items");
            Vec::new()
        }
    }
}

/// What must stay the same: a text is a list of one user message.
fn pieces(body: &Value) -> Pieces {
    let head = ["instructions", "tools"].into_iter();
    let head = head.filter_map(|name| Some((name, unmarked(body.get(name)?))));
    let items = match body.get("input") {
        Some(Value::String(text)) => vec![json!({ "role": "user", "content": text })],
        Some(Value::Array(list)) => list.iter().map(unmarked).collect(),
        _ => Vec::new(),
    };
    Pieces { head: head.collect(), items, list: "input" }
}
