//! One line for a tool call and for what came of it.

use serde_json::Value;

use super::one_line;
use crate::event::body::ToolResult;
use crate::tool::visible;

/// Where the arguments of our own tools say what it is about: the field that a person reads first.
const SUBJECTS: &[(&str, &[&str])] = &[
    ("bash", &["command"]),
    ("background", &["action", "id"]),
    ("read_file", &["path"]),
    ("write_file", &["path"]),
    ("edit_file", &["path"]),
    ("list_files", &["pattern"]),
    ("search", &["pattern", "path"]),
    ("read_resource", &["server", "uri"]),
    ("list_resources", &["server"]),
    ("list_prompts", &["server"]),
    ("create_task", &["title"]),
    ("update_task", &["taskId", "title"]),
    ("send_message", &["taskId", "message"]),
    ("merge_task", &["taskId"]),
    ("clarify", &["question"]),
    ("done", &["status", "summary"]),
];

/// How much of a line the arguments may take.
const SUBJECT_CHARS: usize = 120;

/// The name of a tool without the server, when it is one of ours; `server/tool` for the others.
pub(super) fn short_name(wire: &str) -> String {
    let Some((server, tool)) = wire.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) else {
        return one_line(wire, 64);
    };
    let name = if server == "mxd" { tool.to_owned() } else { format!("{server}/{tool}") };
    one_line(&name, 64)
}

/// What a call is about: the tool, and the argument that a person reads first.
pub fn call_line(wire: &str, input: &str) -> String {
    let name = short_name(wire);
    let subject =
        serde_json::from_str::<Value>(input).ok().map(|input| subject(&name, &input)).unwrap_or_default();
    if subject.is_empty() { name } else { format!("{name} {}", one_line(&subject, SUBJECT_CHARS)) }
}

/// A call as somebody has to see it who answers for it: all of it, one row for each line, nothing hidden.
pub fn call_rows(wire: &str, input: &str) -> Vec<String> {
    let mut rows = vec![short_name(wire)];
    let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(input) else {
        rows.extend(visible(input).lines().map(|line| format!("  {line}")));
        return rows;
    };
    for (name, value) in &fields {
        let shown = visible(&text(value));
        match shown.lines().collect::<Vec<_>>().as_slice() {
            [line] => rows.push(format!("  {}: {line}", visible(name))),
            lines => {
                rows.push(format!("  {}:", visible(name)));
                rows.extend(lines.iter().map(|line| format!("    {line}")));
            }
        }
    }
    rows
}

fn subject(name: &str, input: &Value) -> String {
    let Value::Object(fields) = input else { return String::new() };
    let known = SUBJECTS.iter().find(|(tool, _)| *tool == name);
    let texts: Vec<String> = match known {
        Some((_, wanted)) => wanted.iter().filter_map(|field| fields.get(*field)).map(text).collect(),
        None => fields.iter().map(|(field, value)| format!("{field}={}", text(value))).collect(),
    };
    texts.join(" ")
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

/// What came of a call: its first line, and how many there are.
pub fn result_line(result: &ToolResult) -> String {
    let mut lines = result.content.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or("(nothing)");
    let more = lines.count();
    let head = if result.is_error { "failed: " } else { "" };
    let first = one_line(first, SUBJECT_CHARS);
    match more {
        0 => format!("{head}{first}"),
        more => format!("{head}{first} (+{more} lines)"),
    }
}
