//! Reading the messages of a Chat Completions request.

use serde_json::{Map, Value};

use crate::view::{Message, Part, Role, ToolResult};
use crate::wire::fields::Fields;
use crate::wire::openai;

const ASSISTANT: &[&str] = &[
    "role",
    "content",
    "name",
    "refusal",
    "audio",
    "tool_calls",
    "function_call",
    // Servers that show their reasoning want it back under the same name.
    "reasoning_content",
];

/// Reads one message.
pub(super) fn message(value: &Value, path: &str, fields: &mut Fields) -> Message {
    let mut message = Message { role: Role::User, parts: Vec::new() };
    let Some(map) = value.as_object() else {
        fields.wrong_type(path, "an object");
        return message;
    };
    let role = fields.text(map, path, "role");
    let (role, known): (Role, &[&str]) = match role.as_deref() {
        Some("system" | "developer") => (Role::System, &["role", "content", "name"]),
        Some("user") | None => (Role::User, &["role", "content", "name"]),
        Some("assistant") => (Role::Assistant, ASSISTANT),
        Some("tool") => (Role::Tool, &["role", "content", "tool_call_id", "name"]),
        Some(other) => {
            fields.say("role", format!("Invalid value: '{other}'. ('{path}.role')"));
            return message;
        }
    };
    message.role = role;
    fields.known(map, path, known);
    let content = content(map, role, path, fields);
    message.parts = match role {
        Role::Assistant => assistant(map, content, path, fields),
        Role::Tool => vec![Part::Result(result(map, &content, path, fields))],
        Role::User | Role::System => content,
    };
    message
}

fn content(map: &Map<String, Value>, role: Role, path: &str, fields: &mut Fields) -> Vec<Part> {
    let path = format!("{path}.content");
    match map.get("content") {
        None | Some(Value::Null) => {
            let calls =
                ["tool_calls", "function_call", "refusal", "audio"].iter().any(|key| map.contains_key(*key));
            if role != Role::Assistant || !calls {
                fields.say(
                    "missing-content",
                    format!("Invalid value for '{path}': expected a string, got null."),
                );
            }
            Vec::new()
        }
        Some(Value::String(text)) if text.is_empty() && role == Role::Assistant => Vec::new(),
        Some(Value::String(text)) => vec![Part::Text(text.clone())],
        Some(Value::Array(list)) => {
            let mut parts = Vec::new();
            for (index, value) in list.iter().enumerate() {
                parts.extend(part(value, role, &format!("{path}[{index}]"), fields));
            }
            parts
        }
        Some(_) => {
            fields.wrong_type(&path, "one of a string or an array of objects");
            Vec::new()
        }
    }
}

fn part(value: &Value, role: Role, path: &str, fields: &mut Fields) -> Option<Part> {
    let kind = value["type"].as_str().unwrap_or_default();
    let known: &[&str] = match (kind, role) {
        ("text", _) => &["type", "text", "cache_control"],
        ("refusal", Role::Assistant) => &["type", "refusal"],
        ("image_url", Role::User | Role::Tool) => &["type", "image_url", "cache_control"],
        ("input_audio", Role::User) => &["type", "input_audio"],
        ("file", Role::User) => &["type", "file"],
        _ => {
            fields.unknown_kind(path, kind);
            return None;
        }
    };
    let map = fields.object(value, path, known)?;
    match kind {
        "text" => fields.text(map, path, "text").map(Part::Text),
        "refusal" => fields.text(map, path, "refusal").map(Part::Text),
        "image_url" => {
            let path = format!("{path}.image_url");
            let image = fields.object(&value["image_url"], &path, &["url", "detail"])?;
            fields.text(image, &path, "url");
            Some(Part::Image(openai::image_kind(image.get("url"))))
        }
        _ => Some(Part::Other(kind.to_owned())),
    }
}

fn assistant(map: &Map<String, Value>, content: Vec<Part>, path: &str, fields: &mut Fields) -> Vec<Part> {
    let thought = fields.optional_text(map, path, "reasoning_content").filter(|text| !text.is_empty());
    let mut parts: Vec<Part> = thought.map(|text| Part::Thinking { text, seal: None }).into_iter().collect();
    parts.extend(content);
    let Some(calls) = map.get("tool_calls").filter(|calls| !calls.is_null()) else { return parts };
    let path = format!("{path}.tool_calls");
    let Some(list) = calls.as_array() else {
        fields.wrong_type(&path, "an array of objects");
        return parts;
    };
    if list.is_empty() {
        let message = format!("Invalid '{path}': empty array. Expected an array with minimum length 1.");
        fields.say("empty-calls", message);
    }
    for (index, value) in list.iter().enumerate() {
        parts.extend(call(value, &format!("{path}[{index}]"), fields));
    }
    parts
}

fn call(value: &Value, path: &str, fields: &mut Fields) -> Option<Part> {
    // Some clients send back the index that streaming had.
    let call = fields.object(value, path, &["id", "type", "function", "index"])?;
    let id = fields.text(call, path, "id")?;
    let kind = fields.text(call, path, "type")?;
    if kind != "function" {
        fields.unknown_kind(path, &kind);
        return None;
    }
    let place = format!("{path}.function");
    let function = fields.object(&value["function"], &place, &["name", "arguments"])?;
    let name = fields.text(function, &place, "name")?;
    let input = fields.text(function, &place, "arguments")?;
    Some(Part::Call { id, name, input })
}

fn result(map: &Map<String, Value>, content: &[Part], path: &str, fields: &mut Fields) -> ToolResult {
    let id = fields.text(map, path, "tool_call_id").unwrap_or_default();
    let texts: Vec<&str> = content.iter().filter_map(Part::text).collect();
    let images = content.iter().filter(|part| matches!(part, Part::Image(_))).count();
    ToolResult { id, text: texts.join("\n"), is_error: None, images }
}
