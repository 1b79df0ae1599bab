//! Which kind of failure an answer of a server is, by tables.
//!
//! The most telling word wins: a code, then a type, then a phrase of the message, then the status. A spent
//! quota, for example, comes with the status of a rate limit, but waiting does not help.

use std::time::Duration;

use serde::Deserialize;

use crate::error::{Class, LlmError};

/// Codes and types of both vendors and of common servers.
const CODES: &[(&str, Class)] = &[
    ("rate_limit_error", Class::RateLimit),
    ("rate_limit_exceeded", Class::RateLimit),
    ("requests", Class::RateLimit),
    ("tokens", Class::RateLimit),
    ("overloaded_error", Class::Overloaded),
    ("server_is_overloaded", Class::Overloaded),
    ("slow_down", Class::Overloaded),
    ("api_error", Class::Server),
    ("server_error", Class::Server),
    ("internal_server_error", Class::Server),
    ("timeout_error", Class::Timeout),
    ("authentication_error", Class::Auth),
    ("invalid_api_key", Class::Auth),
    ("permission_error", Class::Permission),
    ("billing_error", Class::Quota),
    ("insufficient_quota", Class::Quota),
    ("billing_hard_limit_reached", Class::Quota),
    ("not_found_error", Class::NotFound),
    ("model_not_found", Class::NotFound),
    ("request_too_large", Class::TooLarge),
    ("context_length_exceeded", Class::ContextTooLong),
    ("string_above_max_length", Class::TooLarge),
    ("content_filter", Class::Refused),
    ("content_policy_violation", Class::Refused),
    ("invalid_prompt", Class::Refused),
];

/// What is said so generally that a phrase of the message tells more.
const VAGUE_CODES: &[(&str, Class)] = &[("invalid_request_error", Class::Invalid)];

/// Phrases that no code tells, in lower case.
const PHRASES: &[(&str, Class)] = &[
    ("prompt is too long", Class::ContextTooLong),
    ("maximum context length", Class::ContextTooLong),
    ("exceeds the available context size", Class::ContextTooLong),
    ("exceed context limit", Class::ContextTooLong),
    ("credit balance is too low", Class::Quota),
];

const STATUSES: &[(u16, Class)] = &[
    (400, Class::Invalid),
    (401, Class::Auth),
    (402, Class::Quota),
    (403, Class::Permission),
    (404, Class::NotFound),
    (408, Class::Timeout),
    (409, Class::Server),
    (413, Class::TooLarge),
    (422, Class::Invalid),
    (425, Class::Server),
    (429, Class::RateLimit),
    (503, Class::Overloaded),
    (504, Class::Timeout),
    (529, Class::Overloaded),
];

/// The error a stream tells in the middle of an answer; nothing but words is known of it.
pub(crate) fn from_code(codes: &[&str], message: &str) -> LlmError {
    let class = by_words(codes, message).unwrap_or(Class::Server);
    let code = codes.iter().find(|code| !code.is_empty()).copied().unwrap_or("error");
    LlmError::new(class, format!("the provider broke off with {code}: {message}"))
}

/// What an error response says.
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    pub(crate) body: &'a str,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) request_id: Option<String>,
}

/// The error of a response whose status is no success.
pub(crate) fn from_answer(answer: Answer<'_>) -> LlmError {
    let told = Told::read(answer.body);
    let class = by_words(&[&told.code, &told.kind], &told.message)
        .or_else(|| find(STATUSES, &answer.status))
        .unwrap_or(if answer.status >= 500 { Class::Server } else { Class::Invalid });
    let words = if told.message.is_empty() { answer.body.trim() } else { told.message.as_str() };
    let message = format!("the provider answered {}: {words}", answer.status);
    LlmError {
        status: Some(answer.status),
        retry_after: answer.retry_after,
        request_id: answer.request_id,
        ..LlmError::new(class, message)
    }
}

fn by_words(codes: &[&str], message: &str) -> Option<Class> {
    let lower = message.to_lowercase();
    let phrase = || PHRASES.iter().find(|(phrase, _)| lower.contains(phrase)).map(|(_, class)| *class);
    let sure = codes.iter().find_map(|code| find(CODES, code));
    sure.or_else(phrase).or_else(|| codes.iter().find_map(|code| find(VAGUE_CODES, code)))
}

fn find<K: PartialEq>(table: &[(K, Class)], key: &K) -> Option<Class> {
    table.iter().find(|(entry, _)| entry == key).map(|(_, class)| *class)
}

/// The words of an error body, wherever the server puts them.
#[derive(Default)]
struct Told {
    code: String,
    kind: String,
    message: String,
}

#[derive(Deserialize)]
struct Envelope {
    error: Option<serde_json::Value>,
    message: Option<String>,
    detail: Option<serde_json::Value>,
}

impl Told {
    fn read(body: &str) -> Self {
        let Ok(envelope) = serde_json::from_str::<Envelope>(body) else {
            return Self::default();
        };
        let word = |value: &serde_json::Value, name: &str| {
            value.get(name).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
        };
        match envelope.error.or(envelope.detail) {
            Some(serde_json::Value::String(message)) => Self { message, ..Self::default() },
            Some(error) if error.is_object() => Self {
                code: word(&error, "code"),
                kind: word(&error, "type"),
                message: word(&error, "message"),
            },
            Some(other) => Self { message: other.to_string(), ..Self::default() },
            None => Self { message: envelope.message.unwrap_or_default(), ..Self::default() },
        }
    }
}
