//! The shape of a prompt for snapshots: one short line per block.
//!
//! Ids of calls are replaced by their order, so that the same conversation prints the same lines in every run.

use std::collections::HashMap;

use crate::limits::SHAPE_CHARS;
use crate::view::{Part, Role, View};

/// The lines of a request.
pub(crate) fn lines(view: &View) -> Vec<String> {
    let mut lines: Vec<String> = view.system.iter().map(|text| format!("system {}", short(text))).collect();
    if !view.tools.is_empty() {
        lines.push(format!("tools {}", view.tools.join(" ")));
    }
    let mut calls = HashMap::new();
    for message in &view.messages {
        let role = message.role.name();
        if message.parts.is_empty() {
            lines.push(format!("{role} nothing"));
        }
        for part in &message.parts {
            lines.push(match (message.role, part) {
                (Role::System, Part::Text(text)) => format!("system {}", short(text)),
                _ => format!("{role} {}", block(part, &mut calls)),
            });
        }
    }
    lines
}

fn block<'a>(part: &'a Part, calls: &mut HashMap<&'a str, usize>) -> String {
    match part {
        Part::Text(text) => format!("text {}", short(text)),
        Part::Thinking { text, seal: Some(_) } => format!("thinking {}", short(text)),
        Part::Thinking { text, seal: None } => format!("thinking unsigned {}", short(text)),
        Part::Redacted => "thinking redacted".to_owned(),
        Part::Call { id, name, input } => {
            let next = calls.len() + 1;
            let number = *calls.entry(id).or_insert(next);
            format!("call #{number} {name} {}", clip(input))
        }
        Part::Result(result) => {
            let number = calls.get(result.id.as_str()).map_or_else(|| "?".to_owned(), usize::to_string);
            let failed = if result.is_error == Some(true) { " error" } else { "" };
            let images =
                if result.images > 0 { format!(" +{} images", result.images) } else { String::new() };
            format!("result #{number}{failed} {}{images}", short(&result.text))
        }
        Part::Image(kind) => format!("image {kind}"),
        Part::Other(kind) => kind.clone(),
    }
}

/// A text in quotes, cut, with its length when it was cut.
fn short(text: &str) -> String {
    let shown: String = text.chars().take(SHAPE_CHARS).collect();
    let cut =
        if shown.len() < text.len() { format!("… ({})", text.chars().count()) } else { String::new() };
    format!("{shown:?}{cut}")
}

fn clip(text: &str) -> String {
    let shown: String = text.chars().take(SHAPE_CHARS).collect();
    let cut = if shown.len() < text.len() { "…" } else { "" };
    shown.replace('\n', "\\n") + cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{Message, ToolResult};

    fn part(role: Role, part: Part) -> Message {
        Message { role, parts: vec![part] }
    }

    #[test]
    fn every_block_is_one_short_line() {
        let call =
            |id: &str| Part::Call { id: id.into(), name: "read".into(), input: r#"{"path":"a"}"#.into() };
        let result = |id: &str, is_error, images| {
            Part::Result(ToolResult { id: id.into(), text: "no\nfile".into(), is_error, images })
        };
        let view = View {
            system: vec!["Be brief.".into()],
            tools: vec!["read".into(), "write".into()],
            messages: vec![
                part(Role::User, Part::Text("ä".repeat(70))),
                part(Role::Assistant, Part::Thinking { text: "hm".into(), seal: Some("s".into()) }),
                part(Role::Assistant, Part::Redacted),
                part(Role::Assistant, call("x9")),
                part(Role::Assistant, call("x7")),
                part(Role::User, result("x7", Some(true), 0)),
                part(Role::Tool, result("x9", None, 2)),
                part(Role::User, Part::Image("image/png".into())),
                Message { role: Role::User, parts: vec![] },
            ],
            ..View::default()
        };
        let expected = format!(
            "system \"Be brief.\"\ntools read write\nuser text \"{}\"… (70)\n\
             assistant thinking \"hm\"\nassistant thinking redacted\n\
             assistant call #1 read {{\"path\":\"a\"}}\nassistant call #2 read {{\"path\":\"a\"}}\n\
             user result #2 error \"no\\nfile\"\ntool result #1 \"no\\nfile\" +2 images\n\
             user image image/png\nuser nothing",
            "ä".repeat(60)
        );
        assert_eq!(lines(&view).join("\n"), expected);
    }
}
