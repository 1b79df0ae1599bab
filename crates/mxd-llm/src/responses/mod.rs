//! The Responses API of OpenAI.

mod decode;
mod encode;
mod wire;

pub(crate) use decode::Decoder;
pub(crate) use encode::{data_url, effort, encode_head, encode_turn, result_text, system_text};
