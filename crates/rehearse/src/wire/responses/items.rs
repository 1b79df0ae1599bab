//! Reading the items of a Responses request. One item is one message of the view.

use serde_json::{Map, Value};

use crate::view::{Message, Part, Role, ToolResult};
use crate::wire::fields::Fields;
use crate::wire::openai;

const MESSAGE: &[&str] = &["type", "role", "content", "id", "status", "phase"];
const CALL: &[&str] = &["type", "id", "call_id", "name", "arguments", "status", "namespace", "caller"];
const OUTPUT: &[&str] = &["type", "id", "call_id", "output", "status", "name", "namespace", "caller"];
const REASONING: &[&str] = &["type", "id", "summary", "content", "encrypted_content", "status"];

/// Items around tools that the service runs itself. They are passed on; no rule looks into them.
const OF_THE_SERVICE: &[&str] = &[
    "item_reference",
    "compaction",
    "web_search_call",
    "file_search_call",
    "computer_call",
    "computer_call_output",
    "code_interpreter_call",
    "image_generation_call",
    "local_shell_call",
    "local_shell_call_output",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "custom_tool_call",
    "custom_tool_call_output",
];

/// Reads one item.
pub(super) fn item(value: &Value, path: &str, fields: &mut Fields) -> Message {
    let silent = Message { role: Role::User, parts: Vec::new() };
    let Some(map) = value.as_object() else {
        fields.wrong_type(path, "an object");
        return silent;
    };
    match map.get("type").and_then(Value::as_str) {
        None | Some("message") => message(map, path, fields),
        Some("function_call") => {
            fields.known(map, path, CALL);
            let id = fields.text(map, path, "call_id").unwrap_or_default();
            let name = fields.text(map, path, "name").unwrap_or_default();
            let input = fields.text(map, path, "arguments").unwrap_or_default();
            openai::item_id(map, path, "fc", fields);
            Message { role: Role::Assistant, parts: vec![Part::Call { id, name, input }] }
        }
        Some("function_call_output") => {
            fields.known(map, path, OUTPUT);
            let mut result = output(map, path, fields);
            result.id = fields.text(map, path, "call_id").unwrap_or_default();
            Message { role: Role::Tool, parts: vec![Part::Result(result)] }
        }
        Some("reasoning") => reasoning(map, path, fields),
        Some(kind) if OF_THE_SERVICE.contains(&kind) => {
            Message { role: Role::Assistant, parts: vec![Part::Other(kind.to_owned())] }
        }
        Some(kind) => {
            fields.unknown_kind(path, kind);
            silent
        }
    }
}

fn message(map: &Map<String, Value>, path: &str, fields: &mut Fields) -> Message {
    fields.known(map, path, MESSAGE);
    let role = match fields.text(map, path, "role").as_deref() {
        Some("assistant") => Role::Assistant,
        Some("system" | "developer") => Role::System,
        Some("user") | None => Role::User,
        Some(other) => {
            fields.say("role", format!("Invalid value: '{other}'. ('{path}.role')"));
            Role::User
        }
    };
    openai::item_id(map, path, "msg", fields);
    let mut message = Message { role, parts: Vec::new() };
    match map.get("content") {
        None => fields.missing(&format!("{path}.content")),
        Some(Value::String(text)) => {
            message.parts.push(Part::Text(text.clone()));
        }
        Some(Value::Array(list)) => {
            for (index, value) in list.iter().enumerate() {
                message.parts.extend(part(value, role, &format!("{path}.content[{index}]"), fields));
            }
        }
        Some(_) => fields.wrong_type(&format!("{path}.content"), "one of a string or an array"),
    }
    message
}

/// The model's own words are `output_text`, everyone else's `input_text`.
fn part(value: &Value, role: Role, path: &str, fields: &mut Fields) -> Option<Part> {
    let kind = value["type"].as_str().unwrap_or_default();
    let known: &[&str] = match (kind, role) {
        ("input_text", Role::User | Role::System | Role::Tool) => {
            &["type", "text", "prompt_cache_breakpoint"]
        }
        ("output_text", Role::Assistant) => &["type", "text", "annotations", "logprobs"],
        ("refusal", Role::Assistant) => &["type", "refusal"],
        ("input_image", Role::User | Role::System | Role::Tool) => {
            &["type", "image_url", "file_id", "detail", "prompt_cache_breakpoint"]
        }
        ("input_file", Role::User | Role::System | Role::Tool) => {
            &["type", "file_id", "file_data", "file_url", "filename", "detail", "prompt_cache_breakpoint"]
        }
        _ => {
            fields.unknown_kind(path, kind);
            return None;
        }
    };
    let map = fields.object(value, path, known)?;
    match kind {
        "refusal" => fields.text(map, path, "refusal").map(Part::Text),
        "input_text" | "output_text" => {
            let text = fields.text(map, path, "text")?;
            Some(Part::Text(text))
        }
        "input_image" => Some(Part::Image(openai::image_kind(map.get("image_url")))),
        _ => Some(Part::Other(kind.to_owned())),
    }
}

fn output(map: &Map<String, Value>, path: &str, fields: &mut Fields) -> ToolResult {
    let mut result = ToolResult::default();
    match map.get("output") {
        None => fields.missing(&format!("{path}.output")),
        Some(Value::String(text)) => result.text.clone_from(text),
        Some(Value::Array(list)) => {
            let mut texts = Vec::new();
            for (index, value) in list.iter().enumerate() {
                match part(value, Role::Tool, &format!("{path}.output[{index}]"), fields) {
                    Some(Part::Text(text)) => texts.push(text),
                    Some(Part::Image(_)) => result.images += 1,
                    _ => {}
                }
            }
            result.text = texts.join("\n");
        }
        Some(_) => fields.wrong_type(&format!("{path}.output"), "one of a string or an array"),
    }
    result
}

fn reasoning(map: &Map<String, Value>, path: &str, fields: &mut Fields) -> Message {
    fields.known(map, path, REASONING);
    openai::item_id(map, path, "rs", fields);
    let summary = map.get("summary").and_then(Value::as_array);
    if summary.is_none() {
        fields.missing(&format!("{path}.summary"));
    }
    let texts = summary.into_iter().flatten().filter_map(|part| part["text"].as_str());
    let text = texts.collect::<Vec<_>>().join("\n");
    let seal = map.get("encrypted_content").and_then(Value::as_str).filter(|seal| !seal.is_empty());
    let seal = seal.map(str::to_owned);
    Message { role: Role::Assistant, parts: vec![Part::Thinking { text, seal }] }
}
