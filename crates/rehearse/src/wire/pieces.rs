//! Small things that every wire needs to write a reply.

use serde_json::Value;

use crate::limits::{DELTA_CHARS, TOKEN_BYTES};
use crate::script::{Block, Reply};

/// The parts in which a text is streamed. An empty text has none.
pub(crate) fn deltas(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.char_indices().nth(DELTA_CHARS).map_or(rest.len(), |(at, _)| at);
        let (part, after) = rest.split_at(end);
        parts.push(part);
        rest = after;
    }
    parts
}

/// One server-sent event with a name.
pub(crate) fn event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

/// The id of a call: the script's, or one made from the numbers of request and block.
pub(crate) fn call_id(prefix: &str, given: Option<&String>, number: u64, index: usize) -> String {
    given.cloned().unwrap_or_else(|| format!("{prefix}_{number:06}_{index:02}"))
}

/// The signature of a thinking block when the script gives none.
pub(crate) fn made_signature(number: u64, index: usize) -> String {
    format!("c2lnbmVk{number:06}{index:02}")
}

/// A token for every four bytes said.
pub(crate) fn count_output(reply: &Reply) -> u64 {
    reply.blocks.iter().map(|block| tokens(&said(block))).sum()
}

/// The part of it that was thought.
pub(crate) fn count_reasoning(reply: &Reply) -> u64 {
    let thought = reply.blocks.iter().filter(|block| matches!(block, Block::Thinking { .. }));
    thought.map(|block| tokens(&said(block))).sum()
}

fn said(block: &Block) -> String {
    match block {
        Block::Text(text) | Block::Thinking { text, .. } | Block::RedactedThinking(text) => text.clone(),
        Block::ToolCall(call) => call.name.clone() + &call.arguments(),
    }
}

fn tokens(text: &str) -> u64 {
    (text.len() as u64).div_ceil(TOKEN_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_put_together_are_the_text() {
        for text in ["", "a", &"ä€😀".repeat(40)] {
            assert_eq!(deltas(text).concat(), text);
            assert!(deltas(text).iter().all(|part| part.chars().count() <= DELTA_CHARS));
        }
        assert_eq!(deltas(&"x".repeat(50)).len(), 3);
    }
}
