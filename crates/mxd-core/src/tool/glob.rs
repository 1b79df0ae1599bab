//! Globs over text: `*` stands for any run of characters, also for none; nothing else is special.
//!
//! How far a `*` reaches depends on what hangs on it. In a rule that asks or denies it covers anything. In a
//! rule that allows it covers no control character and none of ``;|&$`<>()``: an allowed `git push*` must
//! not let `git push; rm -rf .` through, and neither must it when the argument is not named `command`. What
//! a pattern spells out, it may contain.

use thiserror::Error;

use super::limits;
use super::spelling::checked_text;
use super::text::Quoted;

/// How a pattern is read: by what hangs on a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// A match opens something: in doubt it is none.
    Narrow,
    /// A match closes something: in doubt it is one.
    Wide,
}

checked_text! {
    /// A text with wildcards.
    Glob, GlobError, check
}

/// Why a text is no glob.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message above each variant says what its fields are")]
pub enum GlobError {
    #[error("the pattern is empty")]
    Empty,
    #[error("the pattern has {given} bytes, more than {limit}")]
    TooLong { given: usize, limit: usize },
    #[error("the pattern has {given} wildcards, more than {limit}")]
    TooManyWildcards { given: usize, limit: usize },
    #[error("`**` stands only for whole parts of a path: `{pattern}`")]
    Doubled { pattern: Quoted },
}

impl GlobError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Empty => "Write `*` to match everything.",
            Self::TooLong { .. } | Self::TooManyWildcards { .. } => "Use several rules.",
            Self::Doubled { .. } => "Write a single `*`.",
        }
    }
}

fn check(pattern: &str) -> Result<(), GlobError> {
    check_size(pattern)?;
    if pattern.contains("**") {
        return Err(GlobError::Doubled { pattern: Quoted::of(pattern) });
    }
    Ok(())
}

/// The limits of every kind of pattern.
pub(super) fn check_size(pattern: &str) -> Result<(), GlobError> {
    if pattern.is_empty() {
        return Err(GlobError::Empty);
    }
    if pattern.len() > limits::PATTERN_BYTES {
        return Err(GlobError::TooLong { given: pattern.len(), limit: limits::PATTERN_BYTES });
    }
    let given = pattern.matches('*').count();
    if given > limits::PATTERN_WILDCARDS {
        return Err(GlobError::TooManyWildcards { given, limit: limits::PATTERN_WILDCARDS });
    }
    Ok(())
}

impl Glob {
    /// Whether it has a `*`.
    pub fn has_wildcard(&self) -> bool {
        self.0.contains('*')
    }

    /// Whether it is `*` alone.
    pub fn is_any(&self) -> bool {
        self.0 == "*"
    }

    /// Whether it covers the whole text.
    pub fn matches(&self, text: &str, reading: Reading) -> bool {
        matches(&self.0, text, reading)
    }
}

/// Whether a `*` may cover this.
pub(super) fn may_cover(covered: &str, reading: Reading) -> bool {
    let is_active = |c: char| c.is_control() || ";|&$`<>()".contains(c);
    match reading {
        Reading::Narrow => !covered.contains(is_active),
        Reading::Wide => true,
    }
}

/// Matches in one pass. Each literal is taken where it first occurs: a later place would only let the
/// wildcard before it cover more, and what that adds, the wildcard behind it could have covered as well.
pub(super) fn matches(pattern: &str, text: &str, reading: Reading) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut left) = text.strip_prefix(first) else {
        return false;
    };
    let (middle, last) = rest.rsplit_once('*').map_or((None, rest), |(middle, last)| (Some(middle), last));
    for literal in middle.into_iter().flat_map(|middle| middle.split('*')) {
        let Some(at) = left.find(literal) else {
            return false;
        };
        if !may_cover(&left[..at], reading) {
            return false;
        }
        left = &left[at + literal.len()..];
    }
    left.strip_suffix(last).is_some_and(|covered| may_cover(covered, reading))
}
