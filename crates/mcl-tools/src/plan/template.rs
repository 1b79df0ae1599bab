//! Arguments with references to earlier outputs.
//!
//! `${node}`, `${node.text}` and `{{node}}` are the text of a node's output. `${node.output}` is its data, if it has
//! any, or else its text. `${node.outputs.field.0}` is a part of its data, or of the JSON that its text is. A string
//! that is nothing but one reference to data becomes that data, whatever its type; elsewhere data is spelt as JSON. A
//! backslash before `${` or `{{` makes them plain text.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// A value with references in it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Template {
    /// A value without any.
    Plain(Value),
    /// A string with some.
    Pieces(Vec<Piece>),
    /// A list.
    List(Vec<Self>),
    /// An object.
    Object(Vec<(String, Self)>),
}

/// A piece of a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Reference(Reference),
}

/// A reference to an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    /// Whose.
    pub(super) node: String,
    /// What of it.
    pub(super) part: Part,
}

/// What of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Text,
    Output,
    Field(Vec<String>),
}

/// What a node came to, for those that refer to it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Output {
    pub(super) text: String,
    pub(super) data: Option<Value>,
}

const OPENINGS: [(&str, &str); 2] = [("${", "}"), ("{{", "}}")];

impl Template {
    /// Reads a string; what looks like a reference and is none is the error.
    pub(super) fn of_string(text: &str) -> Result<Self, String> {
        let (mut pieces, mut plain, mut rest) = (Vec::new(), String::new(), text);
        while !rest.is_empty() {
            let escaped = OPENINGS
                .iter()
                .find(|(open, _)| rest.strip_prefix('\\').is_some_and(|after| after.starts_with(open)));
            if let Some((open, _)) = escaped {
                plain.push_str(open);
                rest = &rest[1 + open.len()..];
                continue;
            }
            let opened = OPENINGS.iter().find_map(|(open, close)| {
                let inner = rest.strip_prefix(open)?;
                Some((open, inner.find(close).map(|end| (&inner[..end], &inner[end + close.len()..]))))
            });
            match opened {
                Some((_, Some((inner, after)))) => {
                    let reference = reference(inner.trim()).ok_or_else(|| inner.to_owned())?;
                    if !plain.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut plain)));
                    }
                    pieces.push(Piece::Reference(reference));
                    rest = after;
                }
                Some((open, None)) => return Err((*open).to_owned()),
                None => {
                    let next = rest.chars().next().map_or(1, char::len_utf8);
                    plain.push_str(&rest[..next]);
                    rest = &rest[next..];
                }
            }
        }
        if pieces.is_empty() {
            return Ok(Self::Plain(Value::String(plain)));
        }
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Self::Pieces(pieces))
    }

    /// All references in it.
    pub(super) fn references(&self) -> Vec<&Reference> {
        match self {
            Self::Plain(_) => Vec::new(),
            Self::Pieces(pieces) => pieces
                .iter()
                .filter_map(|piece| match piece {
                    Piece::Reference(reference) => Some(reference),
                    Piece::Text(_) => None,
                })
                .collect(),
            Self::List(items) => items.iter().flat_map(Self::references).collect(),
            Self::Object(members) => members.iter().flat_map(|(_, value)| value.references()).collect(),
        }
    }

    /// The value as far as it is known before anything runs, and the places of what is not, as JSON pointers.
    pub(super) fn outline(&self) -> (Value, Vec<String>) {
        let mut unknown = Vec::new();
        let value = self.outline_at("", &mut unknown);
        (value, unknown)
    }

    fn outline_at(&self, pointer: &str, unknown: &mut Vec<String>) -> Value {
        match self {
            Self::Plain(value) => value.clone(),
            Self::Pieces(_) => {
                unknown.push(pointer.to_owned());
                Value::Null
            }
            Self::List(items) => {
                let item =
                    |(index, item): (usize, &Self)| item.outline_at(&format!("{pointer}/{index}"), unknown);
                items.iter().enumerate().map(item).collect()
            }
            Self::Object(members) => {
                let member = |(key, value): &(String, Self)| {
                    let below = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
                    (key.clone(), value.outline_at(&below, unknown))
                };
                Value::Object(members.iter().map(member).collect())
            }
        }
    }

    /// The value, with outputs in place of references; or what is not there.
    pub(super) fn fill(&self, outputs: &BTreeMap<String, Output>) -> Result<Value, String> {
        match self {
            Self::Plain(value) => Ok(value.clone()),
            Self::Pieces(pieces) => match &pieces[..] {
                [Piece::Reference(reference)] => reference.value(outputs),
                pieces => {
                    let mut text = String::new();
                    for piece in pieces {
                        match piece {
                            Piece::Text(plain) => text.push_str(plain),
                            Piece::Reference(reference) => match reference.value(outputs)? {
                                Value::String(value) => text.push_str(&value),
                                other => text.push_str(&other.to_string()),
                            },
                        }
                    }
                    Ok(Value::String(text))
                }
            },
            Self::List(items) => items.iter().map(|item| item.fill(outputs)).collect(),
            Self::Object(members) => {
                let member = |(key, value): &(String, Self)| Ok((key.clone(), value.fill(outputs)?));
                members.iter().map(member).collect::<Result<Map<_, _>, String>>().map(Value::Object)
            }
        }
    }
}

/// Reads what stands between the marks.
fn reference(inner: &str) -> Option<Reference> {
    let mut parts = inner.split('.');
    let node = parts.next().filter(|node| is_id(node))?.to_owned();
    let rest: Vec<&str> = parts.collect();
    let part = match rest[..] {
        [] | ["text"] => Part::Text,
        ["output"] => Part::Output,
        ["outputs", ..] if rest.len() > 1 && rest.iter().all(|part| !part.is_empty()) => {
            Part::Field(rest[1..].iter().map(|part| (*part).to_owned()).collect())
        }
        _ => return None,
    };
    Some(Reference { node, part })
}

/// Whether a text can be the name of a node.
pub(super) fn is_id(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    !text.is_empty() && text.len() <= 64 && text.chars().all(is_part)
}

impl Reference {
    fn value(&self, outputs: &BTreeMap<String, Output>) -> Result<Value, String> {
        let output = outputs.get(&self.node).ok_or_else(|| format!("{} has no output", self.node))?;
        match &self.part {
            Part::Text => Ok(Value::String(output.text.clone())),
            Part::Output => Ok(output.data.clone().unwrap_or_else(|| Value::String(output.text.clone()))),
            Part::Field(path) => {
                let missing = || format!("the output of {} has no {}", self.node, path.join("."));
                let parsed = || serde_json::from_str(&output.text).ok();
                let data: Value = output.data.clone().or_else(parsed).ok_or_else(missing)?;
                let step = |value: Value, key: &String| match value {
                    Value::Object(mut members) => members.remove(key),
                    Value::Array(mut items) => {
                        let index: usize = key.parse().ok()?;
                        (index < items.len()).then(|| items.swap_remove(index))
                    }
                    _ => None,
                };
                path.iter().try_fold(data, step).ok_or_else(missing)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn outputs() -> BTreeMap<String, Output> {
        let data = json!({ "list": [{ "n": 7 }], "name": "x" });
        let with_data = Output { text: "words".to_owned(), data: Some(data) };
        let json_text = Output { text: "{\"a\": [true]}".to_owned(), data: None };
        [("a".to_owned(), with_data), ("b-1".to_owned(), json_text)].into()
    }

    fn filled(text: &str) -> Result<Value, String> {
        Template::of_string(text)?.fill(&outputs())
    }

    #[test]
    fn references_become_what_they_refer_to() {
        assert_eq!(filled("${a}").unwrap(), json!("words"));
        assert_eq!(filled("{{ a.text }}!").unwrap(), json!("words!"));
        assert_eq!(filled("${a.outputs.list.0.n}").unwrap(), json!(7));
        assert_eq!(filled("n={{a.outputs.list.0.n}}, ${a.outputs.name}").unwrap(), json!("n=7, x"));
        assert_eq!(filled("${a.output}").unwrap(), outputs()["a"].data.clone().unwrap());
        assert_eq!(filled("${b-1.output}").unwrap(), json!("{\"a\": [true]}"));
        assert_eq!(filled("${b-1.outputs.a.0}").unwrap(), json!(true));
        assert_eq!(filled("\\${a} \\{{a}} $a {a}").unwrap(), json!("${a} {{a}} $a {a}"));
    }

    #[test]
    fn what_is_no_reference_or_is_not_there_is_told() {
        for text in ["${}", "${a b}", "{{a.outputs}}", "${a.other}", "${a", "{{a}"] {
            assert!(Template::of_string(text).is_err(), "{text}");
        }
        assert_eq!(filled("${c}").unwrap_err(), "c has no output");
        assert_eq!(filled("${a.outputs.list.3}").unwrap_err(), "the output of a has no list.3");
    }

    proptest! {
        #[test]
        fn text_without_marks_stays_as_it_is(text in "[^$\\\\{]{0,40}") {
            prop_assert_eq!(filled(&text).unwrap(), Value::String(text));
        }

        #[test]
        fn nothing_breaks_the_reader(text in any::<String>()) {
            let _ = filled(&text);
        }
    }
}
