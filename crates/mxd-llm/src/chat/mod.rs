//! The Chat Completions API, as many servers speak it.

mod calls;
mod decode;
mod encode;
mod wire;

pub(crate) use decode::Decoder;
pub(crate) use encode::{encode_head, encode_turn};
