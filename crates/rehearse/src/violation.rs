//! A rule that a request breaks.

use std::fmt;

use serde::Serialize;

/// A broken rule, and what the real service says about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// The name of the rule, for tests.
    pub rule: &'static str,
    /// What is wrong, in the words of the service where it has words for it.
    pub message: String,
}

impl Violation {
    pub(crate) fn new(rule: &'static str, message: impl Into<String>) -> Self {
        Self { rule, message: message.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.rule, self.message)
    }
}
