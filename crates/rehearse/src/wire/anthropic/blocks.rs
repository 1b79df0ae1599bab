//! Reading the content blocks of a Messages request.

use serde_json::{Map, Value};

use crate::view::{Part, Role, ToolResult};
use crate::wire::fields::Fields;

/// The fields of each kind of block.
const KNOWN: &[(&str, &[&str])] = &[
    ("text", &["type", "text", "cache_control", "citations"]),
    ("thinking", &["type", "thinking", "signature"]),
    ("redacted_thinking", &["type", "data"]),
    ("tool_use", &["type", "id", "name", "input", "cache_control", "caller", "toolset_name"]),
    ("tool_result", &["type", "tool_use_id", "content", "is_error", "cache_control", "toolset_name"]),
    ("image", &["type", "source", "cache_control", "transformations"]),
    ("document", &["type", "source", "cache_control", "citations", "context", "title"]),
    ("search_result", &["type", "content", "source", "title", "cache_control", "citations"]),
    ("tool_reference", &["type", "tool_name", "cache_control"]),
];

/// Blocks around tools that the service runs itself. They are passed on; no rule looks into them.
const OF_THE_SERVICE: &[&str] = &[
    "server_tool_use",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "mcp_tool_use",
    "mcp_tool_result",
    "container_upload",
];

/// Reads one block. `None` when it is not one.
pub(super) fn block(value: &Value, role: Role, path: &str, fields: &mut Fields) -> Option<Part> {
    let Some(map) = value.as_object() else {
        fields.wrong_type(path, "an object");
        return None;
    };
    let kind = fields.text(map, path, "type")?;
    if OF_THE_SERVICE.contains(&kind.as_str()) {
        return Some(Part::Other(kind));
    }
    let Some((_, known)) = KNOWN.iter().find(|(name, _)| *name == kind) else {
        fields.unknown_kind(path, &kind);
        return None;
    };
    let place = format!("{path}.{kind}");
    fields.known(map, &place, known);
    in_its_place(&kind, role, path, fields);
    match kind.as_str() {
        "text" => {
            let text = fields.text(map, &place, "text")?;
            fields.spoken(&text);
            Some(Part::Text(text))
        }
        "thinking" => {
            let text = fields.text(map, &place, "thinking")?;
            let seal = fields.text(map, &place, "signature").filter(|seal| !seal.is_empty());
            if seal.is_none() {
                fields.say("thinking-signature", format!("{path}: Invalid `signature` in `thinking` block"));
            }
            Some(Part::Thinking { text, seal })
        }
        "redacted_thinking" => fields.text(map, &place, "data").map(|_| Part::Redacted),
        "tool_use" => call(map, &place, fields),
        "tool_result" => result(map, &place, fields),
        "image" => Some(Part::Image(image(map, &place, fields))),
        _ => Some(Part::Other(kind)),
    }
}

fn in_its_place(kind: &str, role: Role, path: &str, fields: &mut Fields) {
    let expected = match kind {
        "tool_use" | "thinking" | "redacted_thinking" => Role::Assistant,
        "tool_result" | "image" | "document" => Role::User,
        _ => return,
    };
    if role != expected {
        let message = format!("{path}: `{kind}` blocks can only be in `{}` messages", expected.name());
        fields.say("block-role", message);
    }
}

fn call(map: &Map<String, Value>, place: &str, fields: &mut Fields) -> Option<Part> {
    let id = fields.text(map, place, "id")?;
    let name = fields.text(map, place, "name")?;
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if id.is_empty() || !id.bytes().all(legal) {
        let message = format!("{place}.id: String should match pattern '^[a-zA-Z0-9_-]+$'");
        fields.say("tool-id", message);
    }
    match map.get("input") {
        None => fields.missing(&format!("{place}.input")),
        Some(input) if !input.is_object() => {
            fields.wrong_type(&format!("{place}.input"), "a valid dictionary");
        }
        Some(_) => {}
    }
    let input = map.get("input").map(Value::to_string).unwrap_or_default();
    Some(Part::Call { id, name, input })
}

fn result(map: &Map<String, Value>, place: &str, fields: &mut Fields) -> Option<Part> {
    let id = fields.text(map, place, "tool_use_id")?;
    let mut result = ToolResult { id, ..ToolResult::default() };
    result.is_error = map.get("is_error").and_then(Value::as_bool);
    match map.get("content") {
        None => {}
        Some(Value::String(text)) => result.text.clone_from(text),
        Some(Value::Array(blocks)) => {
            let mut texts = Vec::new();
            for (index, value) in blocks.iter().enumerate() {
                let path = format!("{place}.content.{index}");
                match block(value, Role::User, &path, fields) {
                    Some(Part::Text(text)) => texts.push(text),
                    Some(Part::Image(_)) => result.images += 1,
                    Some(Part::Other(_)) | None => {}
                    Some(_) => fields.unknown_kind(&path, value["type"].as_str().unwrap_or_default()),
                }
            }
            result.text = texts.join("\n");
        }
        Some(_) => fields.wrong_type(&format!("{place}.content"), "a valid string or list"),
    }
    if result.is_error == Some(true) && result.images > 0 {
        let message = format!("{place}: all content must be type `text` if `is_error` is true");
        fields.say("error-content", message);
    }
    Some(Part::Result(result))
}

fn image(map: &Map<String, Value>, place: &str, fields: &mut Fields) -> String {
    let path = format!("{place}.source");
    let Some(source) = map.get("source") else {
        fields.missing(&path);
        return String::new();
    };
    let known: &[&str] = match source["type"].as_str() {
        Some("base64") => &["type", "media_type", "data"],
        Some("url") => &["type", "url"],
        Some("file") => &["type", "file_id"],
        other => {
            fields.unknown_kind(&path, other.unwrap_or_default());
            return String::new();
        }
    };
    let source = fields.object(source, &path, known);
    for key in known.iter().filter(|key| **key != "type") {
        source.and_then(|source| fields.text(source, &path, key));
    }
    let kind = source.and_then(|source| source.get("media_type").or_else(|| source.get("type")));
    kind.and_then(Value::as_str).unwrap_or_default().to_owned()
}
