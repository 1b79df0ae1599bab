//! Writing a Messages reply.

use serde_json::{Value, json};

use crate::script::{Block, StopReason, Usage};
use crate::wire::pieces::{call_id, deltas, event, made_signature};
use crate::wire::{Body, Voice};

pub(crate) fn speak(voice: &Voice<'_>) -> Body {
    if voice.view.stream { Body::Events(stream(voice)) } else { Body::Json(whole(voice)) }
}

fn whole(voice: &Voice<'_>) -> Value {
    let blocks = voice.reply.blocks.iter().enumerate();
    let content: Vec<Value> = blocks.map(|(index, block)| full(voice, index, block)).collect();
    let mut message = head(voice, usage(&voice.usage()));
    message["content"] = content.into();
    message["stop_reason"] = voice.reply.stop().name().into();
    message["stop_sequence"] = json!(voice.reply.stop_sequence);
    message
}

fn head(voice: &Voice<'_>, usage: Value) -> Value {
    json!({
        "id": format!("msg_{:06}", voice.number),
        "type": "message",
        "role": "assistant",
        "model": voice.view.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage,
    })
}

fn usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens + usage.cache_write_1h_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write_tokens,
            "ephemeral_1h_input_tokens": usage.cache_write_1h_tokens,
        },
        "output_tokens": usage.output_tokens,
        "service_tier": "standard",
    })
}

fn full(voice: &Voice<'_>, index: usize, block: &Block) -> Value {
    match block {
        Block::Text(text) => json!({ "type": "text", "text": text }),
        Block::Thinking { text, .. } => {
            json!({ "type": "thinking", "thinking": text, "signature": signature(voice, index, block) })
        }
        Block::RedactedThinking(data) => json!({ "type": "redacted_thinking", "data": data }),
        Block::ToolCall(call) => {
            let id = call_id("toolu", call.id.as_ref(), voice.number, index);
            // Without streaming there is no place for malformed JSON but a string.
            let input: Value =
                serde_json::from_str(&call.arguments()).unwrap_or_else(|_| call.arguments().into());
            json!({ "type": "tool_use", "id": id, "name": call.name, "input": input })
        }
    }
}

fn signature(voice: &Voice<'_>, index: usize, block: &Block) -> String {
    match block {
        Block::Thinking { signature: Some(given), .. } => given.clone(),
        _ => made_signature(voice.number, index),
    }
}

fn stream(voice: &Voice<'_>) -> Vec<String> {
    let billed = voice.usage();
    let start = json!({ "type": "message_start", "message": head(voice, usage(&Usage { output_tokens: 1, ..billed })) });
    let mut events = vec![event("message_start", &start), event("ping", &json!({ "type": "ping" }))];
    for (index, block) in voice.reply.blocks.iter().enumerate() {
        let begin = json!({ "type": "content_block_start", "index": index, "content_block": empty(voice, index, block) });
        events.push(event("content_block_start", &begin));
        for delta in block_deltas(voice, index, block) {
            let delta = json!({ "type": "content_block_delta", "index": index, "delta": delta });
            events.push(event("content_block_delta", &delta));
        }
        events.push(event("content_block_stop", &json!({ "type": "content_block_stop", "index": index })));
    }
    let mut delta =
        json!({ "stop_reason": voice.reply.stop().name(), "stop_sequence": voice.reply.stop_sequence });
    if voice.reply.stop() == StopReason::Refusal {
        delta["stop_details"] = Value::Null;
    }
    let end = json!({ "type": "message_delta", "delta": delta, "usage": {
        "input_tokens": billed.input_tokens,
        "cache_creation_input_tokens": billed.cache_write_tokens + billed.cache_write_1h_tokens,
        "cache_read_input_tokens": billed.cache_read_tokens,
        "output_tokens": billed.output_tokens,
    } });
    events.push(event("message_delta", &end));
    events.push(event("message_stop", &json!({ "type": "message_stop" })));
    events
}

/// The block as it begins.
fn empty(voice: &Voice<'_>, index: usize, block: &Block) -> Value {
    match block {
        Block::Text(_) => json!({ "type": "text", "text": "" }),
        Block::Thinking { .. } => json!({ "type": "thinking", "thinking": "", "signature": "" }),
        Block::RedactedThinking(_) => full(voice, index, block),
        Block::ToolCall(call) => {
            let id = call_id("toolu", call.id.as_ref(), voice.number, index);
            json!({ "type": "tool_use", "id": id, "name": call.name, "input": {} })
        }
    }
}

fn block_deltas(voice: &Voice<'_>, index: usize, block: &Block) -> Vec<Value> {
    match block {
        Block::Text(text) => {
            deltas(text).into_iter().map(|part| json!({ "type": "text_delta", "text": part })).collect()
        }
        Block::Thinking { text, .. } => {
            let parts = deltas(text).into_iter();
            let thoughts = parts.map(|part| json!({ "type": "thinking_delta", "thinking": part }));
            let signature = signature(voice, index, block);
            thoughts.chain([json!({ "type": "signature_delta", "signature": signature })]).collect()
        }
        Block::RedactedThinking(_) => Vec::new(),
        Block::ToolCall(call) => {
            let arguments = call.arguments();
            // The service begins with an empty piece, and sends nothing else for a call without arguments.
            let parts = if arguments == "{}" { Vec::new() } else { deltas(&arguments) };
            let parts = [""].into_iter().chain(parts);
            parts.map(|part| json!({ "type": "input_json_delta", "partial_json": part })).collect()
        }
    }
}
