//! Writing a Responses reply.

use serde_json::{Value, json};

use super::events::{Events, response};
use crate::script::{Block, StopReason, Usage};
use crate::wire::pieces::{call_id, deltas, made_signature};
use crate::wire::{Body, Voice};

pub(crate) fn speak(voice: &Voice<'_>) -> Body {
    if voice.view.stream { Body::Events(stream(voice)) } else { Body::Json(whole(voice)) }
}

/// The response as it is in the end.
fn whole(voice: &Voice<'_>) -> Value {
    let stop = voice.reply.stop();
    let (_, status) = ending(stop);
    let mut whole = response(voice, status);
    whole["output"] = voice.reply.blocks.iter().enumerate().map(|(index, _)| item(voice, index)).collect();
    whole["usage"] = usage(&voice.usage());
    match stop {
        StopReason::MaxTokens => whole["incomplete_details"] = json!({ "reason": "max_output_tokens" }),
        StopReason::ModelContextWindowExceeded => {
            let message = "Your input exceeds the context window of this model. Please adjust your input and try again.";
            whole["error"] = json!({ "code": "context_length_exceeded", "message": message });
        }
        _ => {}
    }
    whole
}

/// The last event and the status that goes with it.
fn ending(stop: StopReason) -> (&'static str, &'static str) {
    match stop {
        StopReason::MaxTokens => ("response.incomplete", "incomplete"),
        StopReason::ModelContextWindowExceeded => ("response.failed", "failed"),
        StopReason::EndTurn
        | StopReason::ToolUse
        | StopReason::StopSequence
        | StopReason::PauseTurn
        | StopReason::Refusal => ("response.completed", "completed"),
    }
}

fn usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.all_input(),
        "input_tokens_details": {
            "cached_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens + usage.cache_write_1h_tokens,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": { "reasoning_tokens": usage.reasoning_tokens },
        "total_tokens": usage.all_input() + usage.output_tokens,
    })
}

fn id(voice: &Voice<'_>, prefix: &str, index: usize) -> String {
    format!("{prefix}_{:06}_{index:02}", voice.number)
}

/// A whole item.
fn item(voice: &Voice<'_>, index: usize) -> Value {
    match &voice.reply.blocks[index] {
        Block::Text(_) => json!({
            "id": id(voice, "msg", index), "type": "message", "status": "completed", "role": "assistant",
            "content": [text_part(voice, index)],
        }),
        Block::Thinking { text, signature } => {
            let seal = signature.clone().unwrap_or_else(|| made_signature(voice.number, index));
            reasoning(voice, index, &[json!({ "type": "summary_text", "text": text })], &seal)
        }
        Block::RedactedThinking(data) => reasoning(voice, index, &[], data),
        Block::ToolCall(call) => json!({
            "id": id(voice, "fc", index), "type": "function_call", "status": "completed",
            "call_id": call_id("call", call.id.as_ref(), voice.number, index),
            "name": call.name, "arguments": call.arguments(),
        }),
    }
}

/// The content of a reasoning item is told only to those who ask for it.
fn reasoning(voice: &Voice<'_>, index: usize, summary: &[Value], seal: &str) -> Value {
    let mut item = json!({ "id": id(voice, "rs", index), "type": "reasoning", "summary": summary });
    if voice.view.wants_encrypted {
        item["encrypted_content"] = seal.into();
    }
    item
}

/// A text, or what the model declines with.
fn text_part(voice: &Voice<'_>, index: usize) -> Value {
    match &voice.reply.blocks[index] {
        Block::Text(text) if voice.reply.stop() == StopReason::Refusal => {
            json!({ "type": "refusal", "refusal": text })
        }
        Block::Text(text) => {
            json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] })
        }
        _ => Value::Null,
    }
}

fn stream(voice: &Voice<'_>) -> Vec<String> {
    let mut events = Events::default();
    events.push("response.created", json!({ "response": response(voice, "in_progress") }));
    events.push("response.in_progress", json!({ "response": response(voice, "in_progress") }));
    for (index, block) in voice.reply.blocks.iter().enumerate() {
        let done = item(voice, index);
        let added = json!({ "output_index": index, "item": begun(&done) });
        events.push("response.output_item.added", added);
        match block {
            Block::Text(text) => stream_text(voice, index, text, &mut events),
            Block::Thinking { text, .. } => stream_thinking(&done["id"], index, text, &mut events),
            Block::RedactedThinking(_) => {}
            Block::ToolCall(call) => stream_call(&done["id"], index, &call.arguments(), &mut events),
        }
        events.push("response.output_item.done", json!({ "output_index": index, "item": done }));
    }
    let (last, _) = ending(voice.reply.stop());
    events.push(last, json!({ "response": whole(voice) }));
    events.into_inner()
}

/// The item as it begins.
fn begun(done: &Value) -> Value {
    let mut item = done.clone();
    for (key, empty) in [("content", json!([])), ("summary", json!([])), ("arguments", json!(""))] {
        if item.get(key).is_some() {
            item[key] = empty;
        }
    }
    if item.get("status").is_some() {
        item["status"] = "in_progress".into();
    }
    item
}

fn stream_text(voice: &Voice<'_>, index: usize, text: &str, events: &mut Events) {
    let id = id(voice, "msg", index);
    let refuses = voice.reply.stop() == StopReason::Refusal;
    let place = || json!({ "item_id": id, "output_index": index, "content_index": 0 });
    let with = |key: &str, value: Value| {
        let mut fields = place();
        fields[key] = value;
        fields
    };
    let done = text_part(voice, index);
    let mut begun = done.clone();
    begun[if refuses { "refusal" } else { "text" }] = "".into();
    events.push("response.content_part.added", with("part", begun));
    let (delta, end, key) = if refuses {
        ("response.refusal.delta", "response.refusal.done", "refusal")
    } else {
        ("response.output_text.delta", "response.output_text.done", "text")
    };
    for part in deltas(text) {
        let mut fields = with("delta", part.into());
        if !refuses {
            fields["logprobs"] = json!([]);
        }
        events.push(delta, fields);
    }
    let mut fields = with(key, text.into());
    if !refuses {
        fields["logprobs"] = json!([]);
    }
    events.push(end, fields);
    events.push("response.content_part.done", with("part", done));
}

fn stream_thinking(id: &Value, index: usize, text: &str, events: &mut Events) {
    let with = |key: &str, value: Value| {
        let mut fields = json!({ "item_id": id, "output_index": index, "summary_index": 0 });
        fields[key] = value;
        fields
    };
    let part = |text: &str| json!({ "type": "summary_text", "text": text });
    events.push("response.reasoning_summary_part.added", with("part", part("")));
    for delta in deltas(text) {
        events.push("response.reasoning_summary_text.delta", with("delta", delta.into()));
    }
    events.push("response.reasoning_summary_text.done", with("text", text.into()));
    events.push("response.reasoning_summary_part.done", with("part", part(text)));
}

fn stream_call(id: &Value, index: usize, arguments: &str, events: &mut Events) {
    for delta in deltas(arguments) {
        let fields = json!({ "item_id": id, "output_index": index, "delta": delta });
        events.push("response.function_call_arguments.delta", fields);
    }
    let fields = json!({ "item_id": id, "output_index": index, "arguments": arguments });
    events.push("response.function_call_arguments.done", fields);
}
