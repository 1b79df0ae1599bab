//! Time as a value. Nothing in this crate reads a clock; a moment arrives with the input it belongs to.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970 UTC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub u64);

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms", self.0)
    }
}
