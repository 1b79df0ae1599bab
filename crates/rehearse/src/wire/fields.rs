//! Reading a request field by field: only known ones, and the required ones.

use serde_json::{Map, Value};

use crate::violation::Violation;

/// How a service words its complaints, and how it writes a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Anthropic,
    OpenAi,
}

/// Collects what is wrong while a request is read.
#[derive(Debug)]
pub(crate) struct Fields {
    dialect: Dialect,
    pub(crate) violations: Vec<Violation>,
}

impl Fields {
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self { dialect, violations: Vec::new() }
    }

    pub(crate) fn say(&mut self, rule: &'static str, message: impl Into<String>) {
        self.violations.push(Violation::new(rule, message));
    }

    /// The place of a field.
    pub(crate) fn key(path: &str, key: &str) -> String {
        if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
    }

    /// The object at `path`, whose fields must all be in `known`.
    pub(crate) fn object<'v>(
        &mut self,
        value: &'v Value,
        path: &str,
        known: &[&str],
    ) -> Option<&'v Map<String, Value>> {
        let Some(map) = value.as_object() else {
            self.wrong_type(path, "an object");
            return None;
        };
        self.known(map, path, known);
        Some(map)
    }

    /// Only these fields.
    pub(crate) fn known(&mut self, map: &Map<String, Value>, path: &str, known: &[&str]) {
        for key in map.keys().filter(|key| !known.contains(&key.as_str())) {
            let place = Self::key(path, key);
            let message = match self.dialect {
                Dialect::Anthropic => format!("{place}: Extra inputs are not permitted"),
                Dialect::OpenAi => format!("Unknown parameter: '{place}'."),
            };
            self.say("unknown-field", message);
        }
    }

    /// A field that must be there and a string.
    pub(crate) fn text(&mut self, map: &Map<String, Value>, path: &str, key: &str) -> Option<String> {
        let place = Self::key(path, key);
        match map.get(key) {
            None => {
                self.missing(&place);
                None
            }
            Some(Value::String(text)) => Some(text.clone()),
            Some(_) => {
                self.wrong_type(&place, "a valid string");
                None
            }
        }
    }

    /// A field that may be missing or null, else is a string.
    pub(crate) fn optional_text(
        &mut self,
        map: &Map<String, Value>,
        path: &str,
        key: &str,
    ) -> Option<String> {
        match map.get(key) {
            None | Some(Value::Null) => None,
            Some(_) => self.text(map, path, key),
        }
    }

    pub(crate) fn missing(&mut self, place: &str) {
        let message = match self.dialect {
            Dialect::Anthropic => format!("{place}: Field required"),
            Dialect::OpenAi => format!("Missing required parameter: '{place}'."),
        };
        self.say("missing-field", message);
    }

    pub(crate) fn wrong_type(&mut self, place: &str, expected: &str) {
        let message = match self.dialect {
            Dialect::Anthropic => format!("{place}: Input should be {expected}"),
            Dialect::OpenAi => format!("Invalid type for '{place}': expected {expected}."),
        };
        self.say("wrong-type", message);
    }

    /// A kind of block or item that the service does not know.
    pub(crate) fn unknown_kind(&mut self, place: &str, kind: &str) {
        let message = match self.dialect {
            Dialect::Anthropic => format!(
                "{place}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
            ),
            Dialect::OpenAi => format!("Invalid value: '{kind}'. ('{place}.type')"),
        };
        self.say("unknown-kind", message);
    }

    /// A text that says nothing. Only Anthropic minds.
    pub(crate) fn spoken(&mut self, text: &str) {
        if self.dialect == Dialect::Anthropic && text.trim().is_empty() {
            let fault = if text.is_empty() { "be non-empty" } else { "contain non-whitespace text" };
            self.say("empty-text", format!("messages: text content blocks must {fault}"));
        }
    }
}
