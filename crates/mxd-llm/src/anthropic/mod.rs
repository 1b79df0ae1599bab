//! The Messages API of Anthropic.

mod decode;
mod encode;
mod wire;

pub(crate) use decode::Decoder;
pub(crate) use encode::{Purpose, cache_mark, encode_head, encode_turn};
