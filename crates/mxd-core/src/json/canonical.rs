//! The one spelling of a JSON value, by RFC 8785: keys in the order of their UTF-16 code units, strings with
//! the shortest escapes, numbers as ECMAScript prints them, no space.
//!
//! One thing differs: a whole number beyond 2^53 that is written out keeps its digits. As a double it would
//! share its spelling with its neighbours, and the largest 64-bit number is common in schemas.

use std::cmp::Ordering;
use std::fmt::Write as _;

use thiserror::Error;

use super::{Kind, Node};
use crate::tool::Quoted;

/// Why a value has no canonical spelling.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message above each variant says what its fields are")]
pub enum CanonicalError {
    #[error("the key `{key}` is there twice")]
    RepeatedKey { key: Quoted },
    #[error("the number {given} is larger than any double")]
    TooLarge { given: Quoted },
}

impl CanonicalError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::RepeatedKey { .. } => "Keep one of them.",
            Self::TooLarge { .. } => "Write it as a text, or leave it out.",
        }
    }
}

/// 2^53: up to it every whole number has a double of its own.
const LAST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// How numbers are spelt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// As ECMAScript prints them: for hashes that others compute, too.
    EcmaScript,
    /// As they were written: for values that are passed on to somebody who may read them otherwise.
    AsWritten,
}

/// The canonical spelling of a value.
pub fn canonical(node: &Node<'_>) -> Result<String, CanonicalError> {
    canonical_form(node, Numbers::EcmaScript)
}

/// The canonical spelling of a value, with a choice for its numbers.
pub fn canonical_form(node: &Node<'_>, numbers: Numbers) -> Result<String, CanonicalError> {
    let mut out = String::new();
    write(node, numbers, &mut out)?;
    Ok(out)
}

fn write(node: &Node<'_>, numbers: Numbers, out: &mut String) -> Result<(), CanonicalError> {
    match &node.kind {
        Kind::Null => out.push_str("null"),
        Kind::Bool(true) => out.push_str("true"),
        Kind::Bool(false) => out.push_str("false"),
        Kind::Number(text) => match numbers {
            Numbers::AsWritten => out.push_str(text),
            Numbers::EcmaScript => number(text, out)?,
        },
        Kind::String(text) => string(text, out),
        Kind::Array(elements) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                write(element, numbers, out)?;
            }
            out.push(']');
        }
        Kind::Object(members) => object(members, numbers, out)?,
    }
    Ok(())
}

fn object(members: &[(String, Node<'_>)], numbers: Numbers, out: &mut String) -> Result<(), CanonicalError> {
    let mut sorted: Vec<&(String, Node<'_>)> = members.iter().collect();
    sorted.sort_by(|(a, _), (b, _)| by_code_units(a, b));
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(CanonicalError::RepeatedKey { key: Quoted::of(&pair[0].0) });
    }
    out.push('{');
    for (index, (key, value)) in sorted.into_iter().enumerate() {
        out.push_str(if index == 0 { "" } else { "," });
        string(key, out);
        out.push(':');
        write(value, numbers, out)?;
    }
    out.push('}');
    Ok(())
}

/// The order of keys: beyond the basic plane it differs from the one of bytes.
pub(super) fn by_code_units(a: &str, b: &str) -> Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}

pub(super) fn string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            // Writing to a string cannot fail.
            c if c < ' ' => drop(write!(out, "\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn number(text: &str, out: &mut String) -> Result<(), CanonicalError> {
    let too_large = || CanonicalError::TooLarge { given: Quoted::of(text) };
    let value: f64 = text.parse().map_err(|_| too_large())?;
    if !value.is_finite() {
        return Err(too_large());
    }
    let is_whole = !text.contains(['.', 'e', 'E']);
    if is_whole && value.abs() >= LAST_WHOLE {
        out.push_str(text);
    } else {
        out.push_str(&ecmascript(value));
    }
    Ok(())
}

/// A number as ECMAScript's `Number::toString` prints it.
fn ecmascript(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = shortest(value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = mantissa.replace('.', "");
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", lay_out(&digits, exponent))
}

/// The fewest digits that read back; among those the nearest, and of two equally near ones the even one.
///
/// The standard library finds how few, but rounds up in the middle.
fn shortest(value: f64) -> String {
    let found = format!("{value:e}");
    let digits = found.split('e').next().map_or(0, |mantissa| mantissa.replace('.', "").len());
    let nearest = format!("{value:.*e}", digits.saturating_sub(1));
    if nearest.parse() == Ok(value) { nearest } else { found }
}

/// Digits `d.ddd` times ten to the exponent.
fn lay_out(digits: &str, exponent: i32) -> String {
    let count = digits.len() as i32;
    let zeros = |n: i32| "0".repeat(n.max(0) as usize);
    if (0..21).contains(&exponent) {
        if count <= exponent + 1 {
            return format!("{digits}{}", zeros(exponent + 1 - count));
        }
        let (whole, fraction) = digits.split_at((exponent + 1) as usize);
        return format!("{whole}.{fraction}");
    }
    if (-6..0).contains(&exponent) {
        return format!("0.{}{digits}", zeros(-exponent - 1));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    format!("{first}{point}{rest}e{sign}{}", exponent.abs())
}
