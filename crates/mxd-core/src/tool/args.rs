//! The arguments of a call: read once, without doubt about what they say, in one canonical spelling.
//!
//! An object that names a key twice is refused: the rule would look at one value and the tool at the other.
//! In the canonical spelling keys are sorted and there is no space; numbers stay as they were written, because
//! two that read the same here may not do so in the tool.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::str::FromStr;

use serde::de::{Deserializer as _, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use thiserror::Error;

use super::digest::{Digest, DigestError};
use super::id::PinnedTool;
use super::limits;
use super::spelling::text_serde;
use super::text::Quoted;

/// The arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallArgs {
    value: Value,
    canonical: String,
}

/// Why a text cannot be the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message above each variant says what its fields are")]
pub enum ArgsError {
    #[error("the arguments have {given} bytes, more than {limit}")]
    TooLong { given: usize, limit: usize },
    #[error("the arguments are nested more than {limit} levels deep")]
    TooDeep { limit: usize },
    #[error("the arguments name `{key}` twice")]
    RepeatedKey { key: Quoted },
    #[error("the arguments are no JSON object: {problem}")]
    NotAnObject { problem: Quoted },
}

impl ArgsError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::TooLong { .. } => "Pass large content in parts, or in a file.",
            Self::TooDeep { .. } => "Pass a flatter object.",
            Self::RepeatedKey { .. } => "Name every argument once.",
            Self::NotAnObject { .. } => "Pass one JSON object with the arguments.",
        }
    }
}

impl CallArgs {
    /// Reads the arguments as the model wrote them.
    pub fn parse(text: &str) -> Result<Self, ArgsError> {
        if text.len() > limits::ARGS_BYTES {
            return Err(ArgsError::TooLong { given: text.len(), limit: limits::ARGS_BYTES });
        }
        let not_an_object = |problem: &str| ArgsError::NotAnObject { problem: Quoted::of(problem) };
        let raw: &RawValue = serde_json::from_str(text).map_err(|error| not_an_object(&error.to_string()))?;
        if !raw.get().starts_with('{') {
            return Err(not_an_object("it is another kind of value"));
        }
        let mut canonical = String::with_capacity(text.len());
        write(raw, &mut canonical, limits::ARGS_DEPTH)?;
        let value = serde_json::from_str(&canonical).map_err(|error| not_an_object(&error.to_string()))?;
        Ok(Self { value, canonical })
    }

    /// What they say.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Their canonical spelling. It is what the tool is to be sent.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }
}

/// Writes one value canonically.
fn write(raw: &RawValue, out: &mut String, levels: usize) -> Result<(), ArgsError> {
    let text = raw.get();
    if matches!(text.as_bytes().first(), Some(b'{' | b'[')) && levels == 0 {
        return Err(ArgsError::TooDeep { limit: limits::ARGS_DEPTH });
    }
    match text.as_bytes().first() {
        Some(b'{') => {
            out.push('{');
            for (index, (key, value)) in members(text)?.into_iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                out.push_str(&Value::String(key).to_string());
                out.push(':');
                write(value, out, levels - 1)?;
            }
            out.push('}');
        }
        Some(b'[') => {
            out.push('[');
            for (index, value) in elements(text)?.into_iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                write(value, out, levels - 1)?;
            }
            out.push(']');
        }
        Some(b'"') => {
            let string: String = serde_json::from_str(text).map_err(unreadable)?;
            out.push_str(&Value::String(string).to_string());
        }
        Some(_) | None => out.push_str(text),
    }
    Ok(())
}

/// The members of an object by key.
fn members(text: &str) -> Result<BTreeMap<String, &RawValue>, ArgsError> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Result<BTreeMap<String, &'de RawValue>, ArgsError>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let (mut members, mut repeated) = (BTreeMap::new(), None);
            while let Some((key, value)) = map.next_entry::<String, &'de RawValue>()? {
                match members.entry(key) {
                    Entry::Vacant(place) => {
                        place.insert(value);
                    }
                    Entry::Occupied(place) => repeated = Some(place.key().clone()),
                }
            }
            Ok(repeated.map_or(Ok(members), |key| Err(ArgsError::RepeatedKey { key: Quoted::of(&key) })))
        }
    }
    serde_json::Deserializer::from_str(text).deserialize_map(Members).map_err(unreadable)?
}

/// The elements of an array.
fn elements(text: &str) -> Result<Vec<&RawValue>, ArgsError> {
    struct Elements;
    impl<'de> Visitor<'de> for Elements {
        type Value = Vec<&'de RawValue>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut elements = Vec::new();
            while let Some(element) = seq.next_element()? {
                elements.push(element);
            }
            Ok(elements)
        }
    }
    serde_json::Deserializer::from_str(text).deserialize_seq(Elements).map_err(unreadable)
}

fn unreadable(error: serde_json::Error) -> ArgsError {
    ArgsError::NotAnObject { problem: Quoted::of(&error.to_string()) }
}

/// Names one call: this tool in this version with these arguments. An approval is about one hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallHash(Digest);

impl CallHash {
    /// The hash of a call.
    pub fn of(tool: &PinnedTool, args: &CallArgs) -> Self {
        Self(Digest::of(call_bytes(tool, args).as_bytes()))
    }
}

/// What is hashed: a word for the form, the tool's URI and the canonical arguments, a line each.
///
/// None of the three can hold a line break, so two calls never have the same bytes.
pub fn call_bytes(tool: &PinnedTool, args: &CallArgs) -> String {
    format!("mxd call 1\n{tool}\n{}", args.canonical())
}

impl fmt::Display for CallHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for CallHash {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

text_serde!(CallHash);
