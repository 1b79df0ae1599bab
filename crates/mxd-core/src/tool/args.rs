//! The arguments of a call: read once, without doubt about what they say, in one canonical spelling.
//!
//! An object that names a key twice is refused: the rule would look at one value and the tool at the other.
//! In the canonical spelling keys are sorted and there is no space; numbers stay as they were written, because
//! two that read the same here may not do so in the tool.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;
use thiserror::Error;

use super::digest::{Digest, DigestError};
use super::id::PinnedTool;
use super::limits;
use super::spelling::text_serde;
use super::text::Quoted;
use crate::json::{self, Bounds, CanonicalError, JsonError, Kind, Numbers};

const BOUNDS: Bounds = Bounds { bytes: limits::ARGS_BYTES, depth: limits::ARGS_DEPTH };

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

impl From<JsonError> for ArgsError {
    fn from(error: JsonError) -> Self {
        match error {
            JsonError::TooLong { given, limit } => Self::TooLong { given, limit },
            JsonError::TooDeep { limit, .. } => Self::TooDeep { limit },
            JsonError::Syntax { .. } => Self::NotAnObject { problem: Quoted::of(&error.to_string()) },
        }
    }
}

impl From<CanonicalError> for ArgsError {
    fn from(error: CanonicalError) -> Self {
        match error {
            CanonicalError::RepeatedKey { key } => Self::RepeatedKey { key },
            CanonicalError::TooLarge { .. } => Self::NotAnObject { problem: Quoted::of(&error.to_string()) },
        }
    }
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
        let not_an_object = |problem: &str| ArgsError::NotAnObject { problem: Quoted::of(problem) };
        let node = json::read(text, BOUNDS)?;
        if !matches!(node.kind, Kind::Object(_)) {
            return Err(not_an_object("it is another kind of value"));
        }
        let canonical = json::canonical_form(&node, Numbers::AsWritten)?;
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
