//! Whether a request extends the one before it.
//!
//! System text, tools and earlier messages are compared as JSON text, key order included, because a prompt cache
//! compares what it is given. Cache markers are taken out before (see the readers of the wires): they may move.

use serde_json::Value;
use similar::TextDiff;

use crate::limits::DIFF_LINES;
use crate::view::Pieces;

/// What changed that may not change, with a diff; `None` when `next` extends `earlier`.
pub(crate) fn broken(earlier: &Pieces, next: &Pieces) -> Option<String> {
    for (name, before) in &earlier.head {
        let after = next.head.iter().find(|(other, _)| other == name).map(|(_, value)| value);
        if !same(Some(before), after) {
            return Some(explain(name, Some(before), after));
        }
    }
    if let Some((name, added)) = next.head.iter().find(|(name, _)| earlier.value(name).is_none()) {
        return Some(explain(name, None, Some(added)));
    }
    for (index, before) in earlier.items.iter().enumerate() {
        let after = next.items.get(index);
        if !same(Some(before), after) {
            return Some(explain(&format!("{}[{index}]", earlier.list), Some(before), after));
        }
    }
    None
}

impl Pieces {
    fn value(&self, wanted: &str) -> Option<&Value> {
        self.head.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value)
    }
}

/// Equality of the printed form: objects compare equal in any key order, prompts do not.
fn same(before: Option<&Value>, after: Option<&Value>) -> bool {
    before == after && before.map(Value::to_string) == after.map(Value::to_string)
}

fn explain(name: &str, before: Option<&Value>, after: Option<&Value>) -> String {
    let (old, new) = (readable(before), readable(after));
    let diff = TextDiff::from_lines(&old, &new);
    let diff = diff.unified_diff().context_radius(2).header("previous request", "this request").to_string();
    let mut lines: Vec<&str> = diff.lines().take(DIFF_LINES).collect();
    if diff.lines().count() > DIFF_LINES {
        lines.push("…");
    }
    let how = match after {
        Some(_) => "changed",
        None => "is missing",
    };
    format!("{name} {how} since the previous request of this conversation:\n{}", lines.join("\n"))
}

/// Pretty JSON in which a text with several lines takes several lines.
fn readable(value: Option<&Value>) -> String {
    let Some(value) = value else { return String::new() };
    let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
    pretty.replace("\\n", "\\n\n        ") + "\n"
}

/// The value without cache markers, at any depth outside of tool inputs and schemas.
pub(crate) fn unmarked(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(unmarked).collect(),
        Value::Object(map) => {
            let kept = map.iter().filter(|(key, _)| *key != "cache_control");
            let deeper = |key: &str, value: &Value| match key {
                "input" | "input_schema" | "parameters" => value.clone(),
                _ => unmarked(value),
            };
            Value::Object(kept.map(|(key, value)| (key.clone(), deeper(key, value))).collect())
        }
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pieces(system: &Value, items: &[Value]) -> Pieces {
        Pieces { head: vec![("system", system.clone())], items: items.to_vec(), list: "messages" }
    }

    #[test]
    fn an_extension_is_no_break() {
        let before = pieces(&json!("s"), &[json!("a")]);
        assert_eq!(broken(&before, &pieces(&json!("s"), &[json!("a"), json!("b")])), None);
        assert_eq!(broken(&before, &before), None);
    }

    #[test]
    fn a_changed_line_is_shown_in_a_diff() {
        let before = pieces(&json!({"text": "one\ntwo\nthree"}), &[]);
        let told = broken(&before, &pieces(&json!({"text": "one\n2\nthree"}), &[])).unwrap();
        assert!(told.starts_with("system changed"), "{told}");
        assert!(told.contains("-        two\\n\n+        2\\n"), "{told}");
    }

    #[test]
    fn key_order_missing_messages_and_new_heads_count() {
        let before = pieces(&json!("s"), &[json!({"a": 1, "b": 2})]);
        let swapped = broken(&before, &pieces(&json!("s"), &[json!({"b": 2, "a": 1})])).unwrap();
        assert!(swapped.starts_with("messages[0] changed"), "{swapped}");
        assert!(broken(&before, &pieces(&json!("s"), &[])).unwrap().contains("messages[0] is missing"));
        let bare = Pieces { list: "messages", ..Pieces::default() };
        assert!(broken(&bare, &pieces(&json!("s"), &[])).unwrap().starts_with("system changed"));
    }

    #[test]
    fn markers_are_taken_out_but_not_of_inputs() {
        let marked =
            json!([{"text": "x", "cache_control": {"type": "ephemeral"}, "input": {"cache_control": 1}}]);
        assert_eq!(unmarked(&marked), json!([{"text": "x", "input": {"cache_control": 1}}]));
    }
}
