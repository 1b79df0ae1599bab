//! Secret values that must not come out again: found in any text, also when it arrives in pieces.
//!
//! What is looked for is a value as it is and in the forms in which programs print it by accident:
//! base64, URL-encoded, escaped as JSON, each line of a key by itself. A value that somebody
//! deliberately encodes in another way is not found; what keeps a secret from an agent is not to give it one.

mod forms;
mod stream;
mod vault;

use std::fmt;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::Value;

pub use stream::Redactor;
pub use vault::{VAULT_VALUES, Vault};

/// Values shorter than this are not looked for: they would be found in words that are no secret.
pub const MIN_BYTES: usize = 8;
/// Values longer than this are looked for by their lines and their first bytes only.
pub const MAX_BYTES: usize = 16 * 1024;
/// The most values one agent's tools can be given.
pub const MAX_VALUES: usize = 256;

/// Values that went into a tool's environment. Cheap to clone; shows nothing when debugged.
#[derive(Clone)]
pub struct Secrets {
    found: Arc<Found>,
}

struct Found {
    /// Sorted, without repetition.
    patterns: Vec<Vec<u8>>,
    longest: usize,
    /// `None` when there is nothing to look for.
    automaton: Option<AhoCorasick>,
    marker: String,
}

/// Why values cannot be looked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SecretsError {
    /// There are too many.
    #[error("{given} secret values are more than the {MAX_VALUES} that can be kept out of output")]
    TooMany {
        /// How many.
        given: usize,
    },
    /// The search could not be built.
    #[error("the search for secret values cannot be built: {why}")]
    Build {
        /// What the library says, which is about sizes.
        why: String,
    },
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").field("patterns", &self.found.patterns.len()).finish()
    }
}

impl Default for Secrets {
    fn default() -> Self {
        let marker = marker(&[]);
        Self { found: Arc::new(Found { patterns: Vec::new(), longest: 0, automaton: None, marker }) }
    }
}

impl Secrets {
    /// Looks for these values from now on.
    ///
    /// # Errors
    ///
    /// When there are too many.
    pub fn new<'a>(values: impl IntoIterator<Item = &'a str>) -> Result<Self, SecretsError> {
        let values: Vec<&str> = values.into_iter().collect();
        if values.len() > MAX_VALUES {
            return Err(SecretsError::TooMany { given: values.len() });
        }
        let mut patterns: Vec<Vec<u8>> = values.into_iter().flat_map(forms::of).collect();
        patterns.sort_unstable();
        patterns.dedup();
        if patterns.is_empty() {
            return Ok(Self::default());
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(&patterns)
            .map_err(|error| SecretsError::Build { why: error.to_string() })?;
        let longest = patterns.iter().map(Vec::len).max().unwrap_or(0);
        let marker = marker(&patterns);
        Ok(Self { found: Arc::new(Found { patterns, longest, automaton: Some(automaton), marker }) })
    }

    /// What stands where a secret stood.
    pub fn marker(&self) -> &str {
        &self.found.marker
    }

    /// A text without secrets.
    pub fn redact(&self, text: &str) -> String {
        if self.found.automaton.is_none() {
            return text.to_owned();
        }
        let mut redactor = self.redactor();
        let mut clean = redactor.push(text.as_bytes());
        clean.extend(redactor.finish());
        // Patterns and the marker are whole characters, so what is between them is too.
        String::from_utf8_lossy(&clean).into_owned()
    }

    /// The same for everything that is text in a value, the names of members included.
    pub fn redact_value(&self, value: &mut Value) {
        if self.found.automaton.is_none() {
            return;
        }
        match value {
            Value::String(text) => *text = self.redact(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.redact_value(value)),
            Value::Object(members) => {
                *members = std::mem::take(members)
                    .into_iter()
                    .map(|(name, mut value)| {
                        self.redact_value(&mut value);
                        (self.redact(&name), value)
                    })
                    .collect();
            }
            Value::Number(number) => {
                let text = number.to_string();
                let clean = self.redact(&text);
                if clean != text {
                    *value = Value::String(clean);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// For text that arrives in pieces.
    pub fn redactor(&self) -> Redactor {
        Redactor::new(self.clone())
    }
}

/// A marker that no secret can be made of: none holds its first or last character, and none is inside of it.
fn marker(patterns: &[Vec<u8>]) -> String {
    let held = |text: &str| patterns.iter().any(|pattern| memmem(pattern, text.as_bytes()));
    let unfit = |marker: &str| {
        let edge = |c: Option<char>| c.is_some_and(|c| held(c.encode_utf8(&mut [0; 4])));
        let inside = patterns.iter().any(|pattern| memmem(marker.as_bytes(), pattern));
        edge(marker.chars().next()) || edge(marker.chars().next_back()) || inside
    };
    let words = ["[redacted]", "<redacted>", "«redacted»"].map(str::to_owned);
    // Secrets are finite, so there is a character in none of them.
    let blocks = ('\u{2588}'..).map(String::from);
    words.into_iter().chain(blocks).find(|marker| !unfit(marker)).unwrap_or_default()
}

fn memmem(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len().max(1)).any(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_cannot_become_a_secret() {
        for (secret, expected) in [
            ("plain-secret", "[redacted]"),
            ("redacted", "\u{2588}"),
            ("with]bracket", "<redacted>"),
            ("with]and>bracket", "«redacted»"),
        ] {
            assert_eq!(Secrets::new([secret]).unwrap().marker(), expected, "{secret}");
        }
    }

    #[test]
    fn debugging_shows_no_secret() {
        let secrets = Secrets::new(["correct-horse"]).unwrap();
        assert!(!format!("{secrets:?} {:?}", secrets.redactor()).contains("correct"));
    }
}
