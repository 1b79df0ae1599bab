//! Whose manifest it is: `matrix://agent/<name>`.

use std::fmt;
use std::str::FromStr;

use super::fault::Fault;
use super::limits;
use crate::tool::Quoted;
use crate::tool::spelling::text_serde;

const SCHEME: &str = "matrix://agent/";

/// An agent, by its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Agent(String);

impl Agent {
    /// The name without the scheme.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl FromStr for Agent {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let name = text.strip_prefix(SCHEME).unwrap_or_default();
        let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
        let begins = name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
        if !begins || !name.chars().all(is_part) || name.len() > limits::AGENT_NAME_CHARS {
            return Err(Fault::Agent { given: Quoted::of(text) });
        }
        Ok(Self(name.to_owned()))
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}", self.0)
    }
}

text_serde!(Agent);
