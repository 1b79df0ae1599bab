//! Errors of the Messages wire.

use serde_json::{Value, json};

use crate::wire::Trouble;
use crate::wire::pieces::event;

/// The body of an error response.
pub(crate) fn error(trouble: &Trouble, number: u64) -> Value {
    let kind = trouble.kind.as_deref().unwrap_or_else(|| kind_of(trouble.status));
    json!({
        "type": "error",
        "error": { "type": kind, "message": trouble.message },
        "request_id": format!("req_{number:06}"),
    })
}

/// The event that ends a stream with an error.
pub(crate) fn stream_error(trouble: &Trouble, number: u64) -> String {
    event("error", &error(trouble, number))
}

fn kind_of(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500..=599 => "api_error",
        _ => "invalid_request_error",
    }
}
