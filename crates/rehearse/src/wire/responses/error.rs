//! Errors of the Responses wire.

use serde_json::json;

use super::events::response;
use crate::violation::Violation;
use crate::wire::pieces::event;
use crate::wire::{Trouble, Voice};

/// Headers that the service demands and the request lacks.
pub(crate) fn missing_headers(has: impl Fn(&str) -> bool) -> Vec<Violation> {
    if has("authorization") {
        return Vec::new();
    }
    let message = "You didn't provide an API key. You need to provide your API key in an Authorization header \
                   using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).";
    vec![Violation::new("authentication", message)]
}

/// The event that ends a stream with an error: the response has failed.
pub(crate) fn stream_error(trouble: &Trouble, voice: &Voice<'_>) -> String {
    let code = trouble.kind.as_deref().unwrap_or("server_error");
    let mut failed = response(voice, "failed");
    failed["error"] = json!({ "code": code, "message": trouble.message });
    // Where in the stream this comes is not known here; clients do not count.
    let data = json!({ "type": "response.failed", "sequence_number": 0, "response": failed });
    event("response.failed", &data)
}
