//! Numbers of tokens as providers write them. What is no number is no reason to lose an answer that has to be paid.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A number of tokens, if it is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tokens {
    /// So many.
    Count(u64),
    /// Something else: negative, broken, too large, or no number at all.
    NoCount,
}

/// The largest whole number that every reader of JSON holds exactly.
const MOST: f64 = 9_007_199_254_740_992.0;

impl Default for Tokens {
    fn default() -> Self {
        Self::Count(0)
    }
}

impl<'de> Deserialize<'de> for Tokens {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Value::deserialize(deserializer)? {
            Value::Null => Self::Count(0),
            Value::Number(number) => match (number.as_u64(), number.as_f64()) {
                (Some(count), _) => Self::Count(count),
                (None, Some(count)) if count.fract() == 0.0 && (0.0..=MOST).contains(&count) => {
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "a whole number in range"
                    )]
                    let count = count as u64;
                    Self::Count(count)
                }
                (None, _) => Self::NoCount,
            },
            Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => Self::NoCount,
        })
    }
}

/// Takes numbers over and remembers what is wrong with them.
#[derive(Debug, Default)]
pub(crate) struct Counting {
    pub(crate) fault: Option<&'static str>,
}

impl Counting {
    /// The number; zero for what is none.
    pub(crate) fn take(&mut self, tokens: Tokens) -> u64 {
        match tokens {
            Tokens::Count(count) => count,
            Tokens::NoCount => {
                self.fault = Some("it reports something that is no number of tokens");
                0
            }
        }
    }

    /// What of the prompt was neither read from the cache nor written to it, where the provider counts those as well.
    pub(crate) fn uncached(&mut self, prompt: u64, (read, written): (u64, u64)) -> u64 {
        let left = prompt.checked_sub(read).and_then(|left| left.checked_sub(written));
        left.unwrap_or_else(|| {
            self.fault = Some("it reports more tokens from the cache than were read");
            0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_no_number_of_tokens_is_read_as_none() {
        for (text, expected) in [
            ("12", Tokens::Count(12)),
            ("12.0", Tokens::Count(12)),
            ("null", Tokens::Count(0)),
            ("18446744073709551615", Tokens::Count(u64::MAX)),
            ("-1", Tokens::NoCount),
            ("1.5", Tokens::NoCount),
            ("1e300", Tokens::NoCount),
            ("\"NaN\"", Tokens::NoCount),
            ("{}", Tokens::NoCount),
            ("true", Tokens::NoCount),
        ] {
            assert_eq!(serde_json::from_str::<Tokens>(text).unwrap(), expected, "{text}");
        }
    }
}
