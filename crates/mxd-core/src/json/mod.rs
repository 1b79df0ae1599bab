//! JSON read without doubt: every value with its place, no key twice, numbers as they were written.
//!
//! Files that people sign, and definitions that are compared by their hash, must say the same to everybody
//! who reads them. A usual reader takes the last of two equal keys and rounds numbers; this one keeps both
//! and leaves the judgement to its caller. [`canonical()`] gives a value its one spelling.

mod canonical;
mod difference;

use std::fmt;

use serde::de::{Deserializer as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use thiserror::Error;

use crate::tool::Quoted;

pub use canonical::{CanonicalError, Numbers, canonical, canonical_form};
pub(crate) use difference::member_path;
pub use difference::{Change, Difference, differences};

/// A value with the place it stands at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node<'a> {
    /// The byte of the text at which it begins.
    pub at: usize,
    /// What it is.
    pub kind: Kind<'a>,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it was written.
    Number(&'a str),
    /// A text.
    String(String),
    /// A list.
    Array(Vec<Node<'a>>),
    /// The members of an object in their order, a repeated key as often as it is there.
    Object(Vec<(String, Node<'a>)>),
}

impl Kind<'_> {
    /// What it is called in a message.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a text",
            Self::Array(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

/// A place in a text, both counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The byte in it.
    pub column: usize,
}

impl Position {
    /// Where a byte of a text stands.
    pub fn of(text: &str, at: usize) -> Self {
        let before = &text.as_bytes()[..at.min(text.len())];
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
        Self { line: memchr::memchr_iter(b'\n', before).count() + 1, column: before.len() - line_start + 1 }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// What a text may be at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Its bytes.
    pub bytes: usize,
    /// Objects and lists inside of each other.
    pub depth: usize,
}

/// Why a text is no JSON that can be taken.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message above each variant says what its fields are")]
pub enum JsonError {
    #[error("it has {given} bytes, more than {limit}")]
    TooLong { given: usize, limit: usize },
    #[error("{position}: it is nested more than {limit} levels deep")]
    TooDeep { position: Position, limit: usize },
    #[error("{position}: it is no JSON: {problem}")]
    Syntax { position: Position, problem: Quoted },
}

impl JsonError {
    /// Where, unless it is about the text as a whole.
    pub fn position(&self) -> Option<Position> {
        match self {
            Self::TooLong { .. } => None,
            Self::TooDeep { position, .. } | Self::Syntax { position, .. } => Some(*position),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::TooLong { .. } => "Make it smaller.",
            Self::TooDeep { .. } => "Make it flatter.",
            Self::Syntax { .. } => {
                "Correct the text at this place; JSON has no comments and no comma at the end."
            }
        }
    }
}

/// Reads one value.
pub fn read(text: &str, bounds: Bounds) -> Result<Node<'_>, JsonError> {
    if text.len() > bounds.bytes {
        return Err(JsonError::TooLong { given: text.len(), limit: bounds.bytes });
    }
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| {
        let position = Position { line: error.line(), column: error.column() };
        JsonError::Syntax { position, problem: Quoted::of(&without_place(&error)) }
    })?;
    Reader { text, depth: bounds.depth }.node(raw, bounds.depth)
}

struct Reader<'a> {
    text: &'a str,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn node(&self, raw: &'a RawValue, levels: usize) -> Result<Node<'a>, JsonError> {
        let text = raw.get();
        // Every value is a slice of the text, so the difference of their addresses is its place.
        let at = text.as_ptr().addr() - self.text.as_ptr().addr();
        let below = || levels.checked_sub(1).ok_or_else(|| self.too_deep(at));
        let kind = match text.as_bytes().first() {
            Some(b'{') => {
                let levels = below()?;
                let member = |(key, value)| Ok((key, self.node(value, levels)?));
                Kind::Object(
                    members(text)
                        .map_err(|e| self.syntax(at, &e))?
                        .into_iter()
                        .map(member)
                        .collect::<Result<_, _>>()?,
                )
            }
            Some(b'[') => {
                let levels = below()?;
                let elements = elements(text).map_err(|e| self.syntax(at, &e))?;
                Kind::Array(
                    elements.into_iter().map(|value| self.node(value, levels)).collect::<Result<_, _>>()?,
                )
            }
            Some(b'"') => Kind::String(serde_json::from_str(text).map_err(|e| self.syntax(at, &e))?),
            Some(b'n') => Kind::Null,
            Some(b't') => Kind::Bool(true),
            Some(b'f') => Kind::Bool(false),
            Some(_) | None => Kind::Number(text),
        };
        Ok(Node { at, kind })
    }

    fn too_deep(&self, at: usize) -> JsonError {
        JsonError::TooDeep { position: Position::of(self.text, at), limit: self.depth }
    }

    fn syntax(&self, at: usize, error: &serde_json::Error) -> JsonError {
        let problem = Quoted::of(&without_place(error));
        JsonError::Syntax { position: Position::of(self.text, at), problem }
    }
}

/// The message without the place at its end, which stands beside it.
fn without_place(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.split(" at line ").next().unwrap_or(&message).to_owned()
}

fn members(text: &str) -> Result<Vec<(String, &RawValue)>, serde_json::Error> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, &'de RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry()? {
                members.push(member);
            }
            Ok(members)
        }
    }
    serde_json::Deserializer::from_str(text).deserialize_map(Members)
}

fn elements(text: &str) -> Result<Vec<&RawValue>, serde_json::Error> {
    struct Elements;
    impl<'de> Visitor<'de> for Elements {
        type Value = Vec<&'de RawValue>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut elements = Vec::new();
            while let Some(element) = seq.next_element()? {
                elements.push(element);
            }
            Ok(elements)
        }
    }
    serde_json::Deserializer::from_str(text).deserialize_seq(Elements)
}
