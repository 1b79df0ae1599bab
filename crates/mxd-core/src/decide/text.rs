//! Checks of what people and models write.

use super::Refusal;
use crate::limits::Limits;
use crate::tree::Color;

/// A title that fits a line, without the space around it.
pub(super) fn title(limits: &Limits, given: &str) -> Result<String, Refusal> {
    let title = given.trim();
    if title.is_empty() {
        return Err(Refusal::Empty { field: "the title" });
    }
    if title.chars().any(|char| char.is_control() || matches!(char, '\u{2028}' | '\u{2029}')) {
        return Err(Refusal::TitleNotOneLine);
    }
    chars("the title", title, limits.title_chars)?;
    Ok(title.to_owned())
}

pub(super) fn description(limits: &Limits, given: &str) -> Result<(), Refusal> {
    bytes("the description", given.len(), limits.description_bytes)
}

/// A name that comes from outside.
pub(super) fn name(limits: &Limits, field: &'static str, given: &str) -> Result<(), Refusal> {
    chars(field, given, limits.name_chars)
}

pub(super) fn reason(limits: &Limits, given: Option<&str>) -> Result<(), Refusal> {
    chars("the reason", given.unwrap_or_default(), limits.reason_chars)
}

pub(super) fn color(limits: &Limits, given: &Color) -> Result<(), Refusal> {
    chars("the colour", &given.0, limits.color_chars)?;
    if given.is_known() { Ok(()) } else { Err(Refusal::BadColor { given: given.0.clone() }) }
}

pub(super) fn bytes(field: &'static str, given: usize, limit: usize) -> Result<(), Refusal> {
    if given > limit { Err(Refusal::TooLong { field, given, limit, unit: "bytes" }) } else { Ok(()) }
}

fn chars(field: &'static str, text: &str, limit: usize) -> Result<(), Refusal> {
    let given = text.chars().count();
    if given > limit { Err(Refusal::TooLong { field, given, limit, unit: "characters" }) } else { Ok(()) }
}

/// The beginning of a long text, and how much is missing.
pub(super) fn cut(content: &str, limit: usize) -> String {
    if content.len() <= limit {
        return content.to_owned();
    }
    let kept = content.floor_char_boundary(limit);
    format!("{}\n[… {} bytes more]", &content[..kept], content.len() - kept)
}
