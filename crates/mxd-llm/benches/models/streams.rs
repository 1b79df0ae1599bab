//! Streams of text, as each wire sends them.
//!
//! Included by both benchmarks of this crate.

use mxd_llm::Wire;

/// Bytes of a piece in which a network delivers a stream.
pub(crate) const PACKET: usize = 1_400;

/// The data of every event, for a plain pass over them.
pub(crate) fn data_of(stream: &str) -> impl Iterator<Item = &str> {
    stream.lines().filter_map(|line| line.strip_prefix("data: "))
}

/// A stream of so many pieces of text. Two of the services name every event before its data.
pub(crate) fn stream(wire: Wire, events: usize) -> String {
    let event = match wire {
        Wire::Anthropic => concat!(
            "event: content_block_delta\n",
            r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"some words of it, "}}"#,
        ),
        Wire::Responses => concat!(
            "event: response.output_text.delta\n",
            r#"data: {"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"some words of it, ","sequence_number":7}"#,
        ),
        Wire::Chat => {
            r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"some words of it, "},"finish_reason":null}]}"#
        }
    };
    let start = match wire {
        Wire::Anthropic => {
            "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
        }
        Wire::Responses | Wire::Chat => "",
    };
    format!("{start}{}", format!("{event}\n\n").repeat(events))
}
