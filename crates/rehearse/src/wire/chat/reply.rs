//! Writing a Chat Completions reply.

use serde_json::{Value, json};

use crate::script::{Block, Quirk, StopReason, ToolCall, Usage};
use crate::wire::pieces::{call_id, deltas};
use crate::wire::{Body, Trouble, Voice, openai};

/// The moment at which everything is created: the same in every run.
const CREATED: u64 = 1_767_225_600;

pub(crate) fn speak(voice: &Voice<'_>) -> Body {
    if voice.view.stream { Body::Events(stream(voice)) } else { Body::Json(whole(voice)) }
}

/// What compatible servers send when something breaks in the middle.
pub(crate) fn stream_error(trouble: &Trouble) -> String {
    data(&json!({ "error": openai::error(trouble) }))
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn whole(voice: &Voice<'_>) -> Value {
    let mut message = json!({ "role": "assistant", "content": null, "refusal": null });
    let texts = joined(voice, |block| match block {
        Block::Text(text) => Some(text),
        _ => None,
    });
    let thoughts = joined(voice, |block| match block {
        Block::Thinking { text, .. } => Some(text),
        _ => None,
    });
    if let Some(text) = texts {
        message["content"] = text.into();
    }
    if let Some(text) = thoughts {
        message["reasoning_content"] = text.into();
    }
    let calls: Vec<Value> = calls(voice)
        .map(|(index, call)| {
            let function = json!({ "name": call.name, "arguments": call.arguments() });
            json!({ "id": id(voice, index, call), "type": "function", "function": function })
        })
        .collect();
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let choice = json!({ "index": 0, "message": message, "logprobs": null, "finish_reason": finish(voice.reply.stop()) });
    let mut whole = head(voice, "chat.completion");
    whole["choices"] = json!([choice]);
    if !voice.reply.quirks.contains(&Quirk::NoUsage) {
        whole["usage"] = usage(&voice.usage());
    }
    whole
}

fn joined<'a>(voice: &'a Voice<'_>, pick: impl Fn(&'a Block) -> Option<&'a String>) -> Option<String> {
    let texts: Vec<&str> = voice.reply.blocks.iter().filter_map(pick).map(String::as_str).collect();
    (!texts.is_empty()).then(|| texts.concat())
}

fn calls<'a>(voice: &'a Voice<'_>) -> impl Iterator<Item = (usize, &'a ToolCall)> {
    voice.reply.blocks.iter().enumerate().filter_map(|(index, block)| match block {
        Block::ToolCall(call) => Some((index, call)),
        _ => None,
    })
}

fn id(voice: &Voice<'_>, index: usize, call: &ToolCall) -> String {
    call_id("call", call.id.as_ref(), voice.number, index)
}

fn head(voice: &Voice<'_>, object: &str) -> Value {
    json!({
        "id": format!("chatcmpl-{:06}", voice.number),
        "object": object,
        "created": CREATED,
        "model": voice.view.model,
        "system_fingerprint": null,
    })
}

fn usage(usage: &Usage) -> Value {
    json!({
        "prompt_tokens": usage.all_input(),
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.all_input() + usage.output_tokens,
        "prompt_tokens_details": { "cached_tokens": usage.cache_read_tokens },
        "completion_tokens_details": { "reasoning_tokens": usage.reasoning_tokens },
    })
}

fn finish(stop: StopReason) -> &'static str {
    match stop {
        StopReason::EndTurn | StopReason::StopSequence | StopReason::PauseTurn => "stop",
        StopReason::ToolUse => "tool_calls",
        StopReason::MaxTokens | StopReason::ModelContextWindowExceeded => "length",
        StopReason::Refusal => "content_filter",
    }
}

fn stream(voice: &Voice<'_>) -> Vec<String> {
    let usage_follows = voice.view.wants_usage && !voice.reply.quirks.contains(&Quirk::NoUsage);
    let chunk = |choices: Value| {
        let mut chunk = head(voice, "chat.completion.chunk");
        chunk["choices"] = choices;
        if usage_follows {
            chunk["usage"] = Value::Null;
        }
        chunk
    };
    let said = |delta: Value, end: Option<&str>| {
        chunk(json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": end }]))
    };
    let mut chunks = vec![said(json!({ "role": "assistant", "content": "" }), None)];
    let mut made = 0;
    for (index, block) in voice.reply.blocks.iter().enumerate() {
        let deltas = match block {
            Block::Text(text) => deltas(text).into_iter().map(|part| json!({ "content": part })).collect(),
            Block::Thinking { text, .. } => {
                deltas(text).into_iter().map(|part| json!({ "reasoning_content": part })).collect()
            }
            Block::RedactedThinking(_) => Vec::new(),
            Block::ToolCall(call) => {
                made += 1;
                call_deltas(voice, &id(voice, index, call), made - 1, call)
            }
        };
        chunks.extend(deltas.into_iter().map(|delta| said(delta, None)));
    }
    chunks.push(said(json!({}), Some(finish(voice.reply.stop()))));
    if usage_follows {
        let mut last = chunk(json!([]));
        last["usage"] = usage(&voice.usage());
        chunks.push(last);
    }
    chunks.iter().map(data).chain(["data: [DONE]\n\n".to_owned()]).collect()
}

/// A call in pieces: first who is called, then the arguments.
fn call_deltas(voice: &Voice<'_>, id: &str, position: usize, call: &ToolCall) -> Vec<Value> {
    let arguments = call.arguments();
    let first = |arguments: &str| {
        json!({ "tool_calls": [{
            "index": position, "id": id, "type": "function",
            "function": { "name": call.name, "arguments": arguments },
        }] })
    };
    if voice.reply.quirks.contains(&Quirk::WholeToolCalls) {
        return vec![first(&arguments)];
    }
    let piece = |part: &str| {
        let mut call = json!({ "index": position, "function": { "arguments": part } });
        if voice.reply.quirks.contains(&Quirk::RepeatIds) {
            call["id"] = id.into();
            call["type"] = "function".into();
        }
        json!({ "tool_calls": [call] })
    };
    let pieces = deltas(&arguments).into_iter().map(piece);
    [first("")].into_iter().chain(pieces).collect()
}
