//! OpenAI Chat Completions, as many other servers speak it too.

mod messages;
mod reply;
mod request;
mod rules;

pub(super) use reply::{speak, stream_error};
pub(super) use request::read;
