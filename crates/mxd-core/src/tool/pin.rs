//! Pins: the one version of a tool that is meant.
//!
//! A pin is a whole semantic version or the digest of a package. Ranges, tags and shortened versions are no
//! pins: tomorrow they would mean something else.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::digest::Digest;
use super::limits;
use super::spelling::{checked_text, text_serde};
use super::text::Quoted;

/// What a digest begins with.
const DIGEST_PREFIX: &str = "sha256:";

checked_text! {
    /// A version by the grammar of Semantic Versioning 2.0, with numbers of any size. Two versions are the
    /// same when their texts are.
    Version, PinError, check_version
}

/// Exactly one version of something.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pin {
    /// By its version.
    Version(Version),
    /// By the digest of its package.
    Sha256(Digest),
}

/// Why a text is no pin.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message above each variant says what its fields are")]
pub enum PinError {
    #[error("the pin is empty")]
    Empty,
    #[error("the pin has {given} characters, more than {limit}")]
    TooLong { given: usize, limit: usize },
    #[error("`{pin}` is no version that stays the same")]
    Moving { pin: Quoted },
    #[error("the version `{pin}` has not exactly the three numbers major.minor.patch")]
    Numbers { pin: Quoted },
    #[error("the version `{pin}` has a number with a leading zero")]
    LeadingZero { pin: Quoted },
    #[error("the version `{pin}` has an empty or misspelt part behind its numbers")]
    Suffix { pin: Quoted },
    #[error("`{pin}` is no digest: sha256: is followed by 64 lower-case hexadecimal digits")]
    Digest { pin: Quoted },
}

impl PinError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Empty | Self::TooLong { .. } => "Pin it as @1.2.3 or @sha256:<64 hexadecimal digits>.",
            Self::Moving { .. } => "Name the version that is meant, such as 1.2.3; a tag moves.",
            Self::Numbers { .. } => "Write all three numbers, such as 1.2.3 or 2026.1.14.",
            Self::LeadingZero { .. } => "Write numbers without leading zeros: 2026.1.4, not 2026.01.04.",
            Self::Suffix { .. } => {
                "After the numbers come -pre.release and +build, of letters, digits and -."
            }
            Self::Digest { .. } => "Write the digest in lower case and whole.",
        }
    }
}

impl FromStr for Pin {
    type Err = PinError;

    fn from_str(text: &str) -> Result<Self, PinError> {
        match text.strip_prefix(DIGEST_PREFIX) {
            Some(digest) => {
                let digest = digest.parse().map_err(|_| PinError::Digest { pin: Quoted::of(text) })?;
                Ok(Self::Sha256(digest))
            }
            None => text.parse().map(Self::Version),
        }
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => write!(f, "{version}"),
            Self::Sha256(digest) => write!(f, "{DIGEST_PREFIX}{digest}"),
        }
    }
}

text_serde!(Pin);

fn check_version(text: &str) -> Result<(), PinError> {
    let pin = || Quoted::of(text);
    if text.is_empty() {
        return Err(PinError::Empty);
    }
    if text.chars().count() > limits::PIN_CHARS {
        return Err(PinError::TooLong { given: text.chars().count(), limit: limits::PIN_CHARS });
    }
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(PinError::Moving { pin: pin() });
    }
    let (rest, build) = split_off(text, '+');
    let (numbers, pre_release) = split_off(rest, '-');
    let numbers: Vec<&str> = numbers.split('.').collect();
    if numbers.len() != 3 || !numbers.iter().all(|number| is_number(number)) {
        return Err(PinError::Numbers { pin: pin() });
    }
    if numbers.iter().any(|number| has_leading_zero(number)) {
        return Err(PinError::LeadingZero { pin: pin() });
    }
    if ![pre_release, build].into_iter().flatten().flat_map(|part| part.split('.')).all(is_identifier) {
        return Err(PinError::Suffix { pin: pin() });
    }
    // Only what is compared by number must not have a second spelling; build metadata is not.
    if pre_release.into_iter().flat_map(|part| part.split('.')).any(has_leading_zero) {
        return Err(PinError::LeadingZero { pin: pin() });
    }
    Ok(())
}

fn split_off(text: &str, mark: char) -> (&str, Option<&str>) {
    text.split_once(mark).map_or((text, None), |(head, tail)| (head, Some(tail)))
}

fn is_number(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
}

fn has_leading_zero(part: &str) -> bool {
    is_number(part) && part.len() > 1 && part.starts_with('0')
}

fn is_identifier(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}
