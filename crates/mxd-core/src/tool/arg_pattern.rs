//! What an approval rule says about one argument of a call.
//!
//! An argument that is missing never matches. Where an argument is a list, a rule that allows needs all of its
//! elements to match, and a rule that asks or denies needs one.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::args::CallArgs;
use super::glob::{Glob, Reading, may_cover};
use super::host::HostPattern;
use super::limits;
use super::path_glob::PathGlob;
use super::spelling::checked_text;
use super::text::Quoted;

/// A condition on one argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct ArgPattern {
    /// Which argument.
    pub at: ArgPointer,
    /// What it has to be like.
    pub matches: ArgMatch,
}

/// What an argument has to be like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgMatch {
    /// Exactly this value.
    Equals(Value),
    /// A text that a glob covers, such as a command line.
    Glob(Glob),
    /// A text that begins so.
    Prefix(String),
    /// A path.
    Path(PathGlob),
    /// A URL of such a host.
    Host(HostPattern),
}

checked_text! {
    /// Where an argument stands, as a JSON pointer such as `/command`.
    ArgPointer, ArgPointerError, check
}

/// Why a text is no pointer to an argument.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{given}` is no JSON pointer to an argument")]
pub struct ArgPointerError {
    /// What was given.
    pub given: Quoted,
}

impl ArgPointerError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        "Begin with `/` and the argument's name, such as /command; inside names ~1 is `/` and ~0 is `~`."
    }
}

fn check(pointer: &str) -> Result<(), ArgPointerError> {
    let escapes_are_known = pointer.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    if pointer.starts_with('/') && pointer.len() <= limits::PATTERN_BYTES && escapes_are_known {
        return Ok(());
    }
    Err(ArgPointerError { given: Quoted::of(pointer) })
}

impl ArgPattern {
    /// Whether the arguments of a call meet it.
    pub fn matches(&self, args: &CallArgs, reading: Reading) -> bool {
        let argument = args.value().pointer(self.at.as_str());
        argument.is_some_and(|argument| self.matches.covers(argument, reading))
    }
}

impl ArgMatch {
    fn covers(&self, argument: &Value, reading: Reading) -> bool {
        match (self, argument) {
            (Self::Equals(value), _) => value == argument,
            (_, Value::Array(elements)) => match reading {
                Reading::Narrow => {
                    !elements.is_empty() && elements.iter().all(|element| self.covers(element, reading))
                }
                Reading::Wide => elements.iter().any(|element| self.covers(element, reading)),
            },
            (_, Value::String(text)) => self.covers_text(text, reading),
            (_, Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) => false,
        }
    }

    fn covers_text(&self, text: &str, reading: Reading) -> bool {
        match self {
            Self::Equals(value) => value == text,
            Self::Glob(glob) => glob.matches(text, reading),
            Self::Prefix(prefix) => {
                text.strip_prefix(prefix.as_str()).is_some_and(|rest| may_cover(rest, reading))
            }
            Self::Path(path) => path.matches(text, reading),
            Self::Host(host) => host.matches(text, reading),
        }
    }
}

/// How a condition is written: `{"at": "/command", "glob": "git status*"}`, with exactly one way to match.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    at: ArgPointer,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    equals: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    glob: Option<Glob>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prefix: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<PathGlob>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    host: Option<HostPattern>,
}

/// A condition that does not say what it wants.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the condition on {at} has {given} of equals, glob, prefix, path and host instead of one")]
pub struct ArgPatternError {
    /// The argument.
    pub at: ArgPointer,
    /// How many it has.
    pub given: usize,
}

impl TryFrom<Stored> for ArgPattern {
    type Error = ArgPatternError;

    fn try_from(stored: Stored) -> Result<Self, ArgPatternError> {
        let ways = [
            stored.equals.map(ArgMatch::Equals),
            stored.glob.map(ArgMatch::Glob),
            stored.prefix.map(ArgMatch::Prefix),
            stored.path.map(ArgMatch::Path),
            stored.host.map(ArgMatch::Host),
        ];
        let mut ways: Vec<ArgMatch> = ways.into_iter().flatten().collect();
        match (ways.pop(), ways.len()) {
            (Some(matches), 0) => Ok(Self { at: stored.at, matches }),
            (last, rest) => Err(ArgPatternError { at: stored.at, given: rest + usize::from(last.is_some()) }),
        }
    }
}

impl From<ArgPattern> for Stored {
    fn from(pattern: ArgPattern) -> Self {
        let mut stored =
            Self { at: pattern.at, equals: None, glob: None, prefix: None, path: None, host: None };
        match pattern.matches {
            ArgMatch::Equals(value) => stored.equals = Some(value),
            ArgMatch::Glob(glob) => stored.glob = Some(glob),
            ArgMatch::Prefix(prefix) => stored.prefix = Some(prefix),
            ArgMatch::Path(path) => stored.path = Some(path),
            ArgMatch::Host(host) => stored.host = Some(host),
        }
        stored
    }
}
