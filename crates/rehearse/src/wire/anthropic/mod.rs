//! Anthropic Messages.

mod blocks;
mod error;
mod reply;
mod request;
mod rules;

pub(super) use error::{error, stream_error};
pub(super) use reply::speak;
pub(super) use request::read;

use crate::violation::Violation;

/// Headers that the service demands and the request lacks.
pub(super) fn missing_headers(has: impl Fn(&str) -> bool) -> Vec<Violation> {
    let mut missing = Vec::new();
    if !has("x-api-key") && !has("authorization") {
        missing.push(Violation::new("authentication", "x-api-key header is required"));
    }
    if !has("anthropic-version") {
        missing.push(Violation::new("missing-header", "anthropic-version: header is required"));
    }
    missing
}
