//! What a compiler has to say, with file, line and column.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::output::ToldError;

/// One message of the compiler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Diagnostic {
    /// How bad it is.
    pub(crate) severity: Severity,
    /// What is wrong.
    pub(crate) message: String,
    /// The compiler's number for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<String>,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<usize>,
    /// The column, from 1, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<usize>,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Severity {
    /// Nothing was compiled.
    Error,
    /// It was compiled, and may be wrong.
    Warning,
    /// Good to know.
    Info,
}

impl Diagnostic {
    /// In one line, as editors understand it.
    pub(super) fn line(&self) -> String {
        match (&self.file, self.line, self.column) {
            (Some(file), Some(line), Some(column)) => format!("{file}:{line}:{column}: {}", self.message),
            (Some(file), ..) => format!("{file}: {}", self.message),
            _ => self.message.clone(),
        }
    }
}

/// Errors, and everything else.
pub(super) fn split(told: &[ToldError], texts: &BTreeMap<&str, &str>) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    let all = told.iter().map(|error| diagnostic(error, texts));
    all.partition(|diagnostic| diagnostic.severity == Severity::Error)
}

fn diagnostic(told: &ToldError, texts: &BTreeMap<&str, &str>) -> Diagnostic {
    let severity = match told.severity.as_str() {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        _ => Severity::Info,
    };
    let place = told.source_location.as_ref();
    let text = place.and_then(|place| texts.get(place.file.as_str()));
    let position =
        text.zip(place).and_then(|(text, place)| position(text, usize::try_from(place.start).ok()?));
    Diagnostic {
        severity,
        message: told.message.clone(),
        code: told.error_code.clone(),
        file: place.map(|place| place.file.clone()),
        line: position.map(|(line, _)| line),
        column: position.map(|(_, column)| column),
    }
}

/// Line and column of a byte.
fn position(text: &str, byte: usize) -> Option<(usize, usize)> {
    let before = text.get(..byte)?;
    let line = before.matches('\n').count() + 1;
    let begin = before.rfind('\n').map_or(0, |at| at + 1);
    Some((line, before[begin..].chars().count() + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters() {
        assert_eq!(position("ab\nçd", 5), Some((2, 2)));
        assert_eq!(position("ab", 0), Some((1, 1)));
        assert_eq!(position("ab", 9), None);
    }
}
