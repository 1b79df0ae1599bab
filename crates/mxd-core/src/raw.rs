//! JSON we carry without understanding it, exactly as it was written.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// A JSON value as text: key order, number spelling and everything else stay as they came.
///
/// The one thing not kept is a line break between tokens, because the log holds one commit per line.
#[derive(Clone)]
pub struct RawJson(Box<RawValue>);

impl RawJson {
    /// Checks that the text is one JSON value.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// `{}`
    pub fn empty_object() -> Self {
        Self(RawValue::from_string("{}".to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }

    /// The text.
    pub fn get(&self) -> &str {
        self.0.get()
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for RawJson {}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        if !raw.get().contains(['\n', '\r']) {
            return Ok(Self(raw));
        }
        let one_line = without_whitespace(raw.get());
        RawValue::from_string(one_line).map(Self).map_err(serde::de::Error::custom)
    }
}

/// Drops whitespace between tokens; inside strings JSON allows no raw line breaks, so strings stay as they
/// are.
fn without_whitespace(json: &str) -> String {
    let mut kept = String::with_capacity(json.len());
    let (mut in_string, mut escaped) = (false, false);
    for c in json.chars() {
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else if c.is_ascii_whitespace() {
            continue;
        } else {
            in_string = c == '"';
        }
        kept.push(c);
    }
    kept
}
