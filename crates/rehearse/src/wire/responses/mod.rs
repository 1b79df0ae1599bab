//! OpenAI Responses.

mod error;
mod events;
mod items;
mod reply;
mod request;
mod rules;

pub(super) use error::{missing_headers, stream_error};
pub(super) use reply::speak;
pub(super) use request::read;
