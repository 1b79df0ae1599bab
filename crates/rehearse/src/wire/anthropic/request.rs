//! Reading a Messages request.

use serde_json::{Map, Value, json};

use super::blocks::block;
use super::rules;
use crate::prefix::unmarked;
use crate::script::is_tool_name;
use crate::view::{Message, Pieces, Role, View};
use crate::wire::Reading;
use crate::wire::fields::{Dialect, Fields};

const REQUEST: &[&str] = &[
    "model",
    "messages",
    "max_tokens",
    "system",
    "tools",
    "tool_choice",
    "metadata",
    "stop_sequences",
    "stream",
    "temperature",
    "top_p",
    "top_k",
    "thinking",
    "service_tier",
    "cache_control",
    "container",
    "context_management",
    "mcp_servers",
    "output_config",
    "output_format",
    "inference_geo",
    "speed",
];
const TOOL: &[&str] = &[
    "type",
    "name",
    "description",
    "input_schema",
    "cache_control",
    "strict",
    "defer_loading",
    "allowed_callers",
    "eager_input_streaming",
    "input_examples",
];

/// Reads the request and holds it to every rule.
pub(crate) fn read(body: &Value) -> Reading {
    let mut fields = Fields::new(Dialect::Anthropic);
    let mut view = View { pieces: pieces(body), ..View::default() };
    if let Some(map) = fields.object(body, "", REQUEST) {
        view.model = fields.text(map, "", "model").unwrap_or_default();
        view.stream = map.get("stream").and_then(Value::as_bool).unwrap_or_default();
        limits(map, &mut fields);
        view.system = system(map, &mut fields);
        view.tools = tools(map, &mut fields);
        view.names = metadata(map, &mut fields);
        view.messages = messages(map, &mut fields);
        rules::check(&view, body, &mut fields);
    }
    Reading { view, violations: fields.violations }
}

fn limits(map: &Map<String, Value>, fields: &mut Fields) {
    let Some(limit) = map.get("max_tokens") else {
        fields.missing("max_tokens");
        return;
    };
    match limit.as_u64() {
        Some(0) => fields.say("max-tokens", "max_tokens: Input should be greater than or equal to 1"),
        None => fields.say("max-tokens", "max_tokens: Input should be a valid positive integer"),
        Some(limit) => {
            let budget = map.get("thinking").and_then(|thinking| thinking["budget_tokens"].as_u64());
            if budget.is_some_and(|budget| budget >= limit) {
                fields.say("max-tokens", "`max_tokens` must be greater than `thinking.budget_tokens`.");
            }
        }
    }
}

fn metadata(map: &Map<String, Value>, fields: &mut Fields) -> Vec<String> {
    let Some(value) = map.get("metadata") else { return Vec::new() };
    let metadata = fields.object(value, "metadata", &["user_id"]);
    let id = metadata.and_then(|metadata| fields.optional_text(metadata, "metadata", "user_id"));
    id.into_iter().collect()
}

fn system(map: &Map<String, Value>, fields: &mut Fields) -> Vec<String> {
    match map.get("system") {
        None => Vec::new(),
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(list)) => {
            let mut texts = Vec::new();
            for (index, value) in list.iter().enumerate() {
                let path = format!("system.{index}");
                let known = &["type", "text", "cache_control", "citations"];
                let Some(block) = fields.object(value, &path, known) else { continue };
                if block.get("type") != Some(&json!("text")) {
                    fields.unknown_kind(&path, value["type"].as_str().unwrap_or_default());
                }
                if let Some(text) = fields.text(block, &path, "text") {
                    if text.trim().is_empty() {
                        fields.say("empty-text", "system: text content blocks must be non-empty");
                    }
                    texts.push(text);
                }
            }
            texts
        }
        Some(_) => {
            fields.wrong_type("system", "a valid string or list");
            Vec::new()
        }
    }
}

fn tools(map: &Map<String, Value>, fields: &mut Fields) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let Some(list) = map.get("tools") else { return names };
    for (index, value) in list.as_array().into_iter().flatten().enumerate() {
        let path = format!("tools.{index}");
        let kind = value["type"].as_str().unwrap_or("custom");
        // Tools that the service runs itself have fields of their own.
        let tool = match kind {
            "custom" => fields.object(value, &path, TOOL),
            _ => value.as_object(),
        };
        let Some(tool) = tool else { continue };
        let Some(name) = fields.text(tool, &path, "name") else { continue };
        if !is_tool_name(&name) {
            let pattern = "^[a-zA-Z0-9_-]{1,128}$";
            let message = format!("{path}.{kind}.name: String should match pattern '{pattern}'");
            fields.say("tool-name", message);
        }
        if kind == "custom" && !tool.get("input_schema").is_some_and(Value::is_object) {
            fields.missing(&format!("{path}.custom.input_schema"));
        }
        if names.contains(&name) {
            fields.say("tool-name", "tools: Tool names must be unique.");
        }
        names.push(name);
    }
    if !list.is_array() {
        fields.wrong_type("tools", "a valid list");
    }
    names
}

fn messages(map: &Map<String, Value>, fields: &mut Fields) -> Vec<Message> {
    let Some(value) = map.get("messages") else {
        fields.missing("messages");
        return Vec::new();
    };
    let Some(list) = value.as_array() else {
        fields.wrong_type("messages", "a valid list");
        return Vec::new();
    };
    let read = |(index, value)| message(value, &format!("messages.{index}"), fields);
    list.iter().enumerate().map(read).collect()
}

fn message(value: &Value, path: &str, fields: &mut Fields) -> Message {
    let mut message = Message { role: Role::User, parts: Vec::new() };
    let Some(map) = fields.object(value, path, &["role", "content"]) else { return message };
    message.role = match fields.text(map, path, "role").as_deref() {
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        Some("user") | None => Role::User,
        Some(_) => {
            fields.say("role", format!("{path}.role: Input should be 'user' or 'assistant'"));
            Role::User
        }
    };
    match map.get("content") {
        None => fields.missing(&format!("{path}.content")),
        Some(Value::String(text)) => {
            fields.spoken(text);
            message.parts.push(crate::view::Part::Text(text.clone()));
        }
        Some(Value::Array(blocks)) => {
            for (index, value) in blocks.iter().enumerate() {
                let path = format!("{path}.content.{index}");
                message.parts.extend(block(value, message.role, &path, fields));
            }
        }
        Some(_) => fields.wrong_type(&format!("{path}.content"), "a valid string or list"),
    }
    message
}

/// What must stay the same: a text is a list of one text block, and cache markers do not count.
fn pieces(body: &Value) -> Pieces {
    let head = ["system", "tools"].into_iter();
    let head = head.filter_map(|name| Some((name, body.get(name)?)));
    let plain = |value: &Value| match value {
        Value::String(text) => json!([{ "type": "text", "text": text }]),
        _ => unmarked(value),
    };
    let item = |message: &Value| {
        let mut message = unmarked(message);
        if let Some(content) = message.get_mut("content") {
            *content = plain(content);
        }
        message
    };
    let items = body.get("messages").and_then(Value::as_array);
    Pieces {
        head: head.map(|(name, value)| (name, plain(value))).collect(),
        items: items.into_iter().flatten().map(item).collect(),
        list: "messages",
    }
}
