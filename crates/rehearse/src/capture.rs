//! Values caught from requests, put into what comes later.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::Value;

use crate::script::{Block, Expect, Reply, ResultExpect, TextExpect, ToolCall, Words};

/// What was caught, by name.
pub(crate) type Caught = BTreeMap<String, String>;

/// Searches `text` for the named groups of `pattern`; says what failed when it does not match.
pub(crate) fn catch(pattern: &str, text: &str, caught: &mut Caught) -> Result<(), String> {
    let regex = Regex::new(pattern).map_err(|error| error.to_string())?;
    let found = regex
        .captures(text)
        .ok_or_else(|| format!("capture `{pattern}` matches nothing in what the request adds:\n{text}"))?;
    for name in regex.capture_names().flatten() {
        if let Some(value) = found.name(name) {
            caught.insert(name.to_owned(), value.as_str().to_owned());
        }
    }
    Ok(())
}

/// The names that a text refers to as `$name` or `${name}`.
pub(crate) fn names(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('$').filter_map(|(at, _)| reference(&text[at..]).map(|(name, _)| name))
}

/// The name at the start of `text`, which begins with `$`, and the length of the whole reference.
fn reference(text: &str) -> Option<(&str, usize)> {
    let rest = text.strip_prefix('$')?;
    let inner = rest.strip_prefix('{').unwrap_or(rest);
    let length = inner.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let name = &inner[..length];
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    match inner.len() == rest.len() {
        true => Some((name, 1 + length)),
        false => inner[length..].starts_with('}').then_some((name, length + 3)),
    }
}

/// `text` with every reference to a caught name replaced; any other `$` stays as it is.
pub(crate) fn fill(text: &str, caught: &Caught) -> String {
    fill_with(text, |name| caught.get(name).cloned())
}

fn fill_with(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        filled.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match reference(rest).and_then(|(name, length)| Some((value(name)?, length))) {
            Some((value, length)) => {
                filled.push_str(&value);
                length
            }
            None => {
                filled.push('$');
                1
            }
        };
        rest = &rest[length..];
    }
    filled + rest
}

/// The reply with everything caught put in.
pub(crate) fn fill_reply(reply: &Reply, caught: &Caught) -> Reply {
    let block = |block: &Block| match block {
        Block::Text(text) => Block::Text(fill(text, caught)),
        Block::Thinking { text, signature } => {
            Block::Thinking { text: fill(text, caught), signature: signature.clone() }
        }
        Block::RedactedThinking(data) => Block::RedactedThinking(data.clone()),
        Block::ToolCall(call) => Block::ToolCall(ToolCall {
            name: fill(&call.name, caught),
            input: call.input.as_ref().map(|input| fill_json(input, caught)),
            input_text: call.input_text.as_ref().map(|text| fill(text, caught)),
            id: call.id.clone(),
        }),
    };
    Reply { blocks: reply.blocks.iter().map(block).collect(), ..reply.clone() }
}

fn fill_json(value: &Value, caught: &Caught) -> Value {
    match value {
        Value::String(text) => Value::String(fill(text, caught)),
        Value::Array(list) => list.iter().map(|value| fill_json(value, caught)).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (key.clone(), fill_json(value, caught))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// The expectations with everything caught put in; inside a regular expression it stands for itself.
pub(crate) fn fill_expect(expect: &Expect, caught: &Caught) -> Expect {
    let text = |text: &TextExpect| fill_text(text, caught);
    let result = |result: &ResultExpect| {
        let TextExpect { contains, not_contains, matches, .. } = fill_text(&result.text(), caught);
        ResultExpect { contains, not_contains, matches, ..result.clone() }
    };
    Expect {
        tool_results: expect.tool_results.iter().map(result).collect(),
        user_texts: expect.user_texts.iter().map(text).collect(),
        system: expect.system.as_ref().map(text),
        ..expect.clone()
    }
}

/// The same for one text.
pub(crate) fn fill_text(text: &TextExpect, caught: &Caught) -> TextExpect {
    let words = |words: &Words| Words(words.iter().map(|word| fill(word, caught)).collect());
    let escaped = |name: &str| caught.get(name).map(|value| regex::escape(value));
    TextExpect {
        index: text.index,
        contains: words(&text.contains),
        not_contains: words(&text.not_contains),
        matches: Words(text.matches.iter().map(|word| fill_with(word, escaped)).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caught() -> Caught {
        Caught::from([("task".to_owned(), "T.1".to_owned()), ("a_b".to_owned(), "x".to_owned())])
    }

    #[test]
    fn only_caught_names_are_replaced() {
        let text = "$task ${task}s $tasks $5 $ ${task $a_b$a_b $PATH é$";
        assert_eq!(fill(text, &caught()), "T.1 T.1s $tasks $5 $ ${task xx $PATH é$");
        assert_eq!(names("$a ${b}c $1 ${d").collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn inside_a_regular_expression_a_value_stands_for_itself() {
        let expect = Expect {
            system: Some(TextExpect { matches: Words(vec!["^$task$".into()]), ..Default::default() }),
            ..Default::default()
        };
        let filled = fill_expect(&expect, &caught());
        assert_eq!(filled.system.unwrap().matches.0, [r"^T\.1$"]);
    }

    #[test]
    fn a_pattern_that_matches_nothing_shows_the_text() {
        let mut caught = Caught::new();
        catch("id=(?<id>[0-9]+)(?<rest>z)?", "the id=12;", &mut caught).unwrap();
        assert_eq!(caught, Caught::from([("id".to_owned(), "12".to_owned())]));
        assert!(catch("(?<no>nope)", "the text", &mut caught).unwrap_err().contains("the text"));
    }
}
