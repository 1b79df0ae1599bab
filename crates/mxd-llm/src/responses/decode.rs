//! From the stream of this wire to chunks.

use mxd_core::prompt::{Block, Opaque};
use mxd_core::raw::RawJson;

use super::wire::{self, ErrorBody, Event, Finished, FinishedCall, FinishedMessage, Part, Response};
use crate::chunk::{Chunk, Stop, Usage};
use crate::classify::from_code;
use crate::decoder::{Out, Progress, parse, protocol};
use crate::error::LlmError;
use crate::limits;
use crate::malformed::tool_call;
use crate::sse::SseEvent;
use crate::tokens::Counting;
use crate::wire::Wire;

/// What is known of an answer so far.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    items: usize,
    called: bool,
    refused: bool,
}

impl Decoder {
    pub(crate) fn event(&mut self, event: &SseEvent, out: Out<'_>) -> Result<Progress, LlmError> {
        if event.data == "[DONE]" {
            return Ok(Progress::More);
        }
        let event: Event<'_> = parse(&event.data)?;
        match &*event.kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                out.push(Chunk::TextDelta(delta(&event)?));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                out.push(Chunk::ThinkingDelta(delta(&event)?));
            }
            "response.reasoning_summary_part.added" if event.summary_index > 0 => {
                out.push(Chunk::ThinkingDelta("\n\n".to_owned()));
            }
            "response.output_item.done" => {
                let item = event.item.ok_or_else(|| protocol("a finished item without the item"))?;
                self.item(item, out)?;
            }
            "response.completed" | "response.incomplete" => {
                let response = event.response.ok_or_else(|| protocol("an end without the response"))?;
                self.end(response, &event.kind, out)?;
                return Ok(Progress::Complete);
            }
            "response.failed" => return Err(failed(event.response.and_then(|response| response.error))),
            "error" => return Err(broken_off(event)),
            // Beginnings, parts and tools of the provider: the finished items tell all of it.
            _ => {}
        }
        Ok(Progress::More)
    }

    fn item(&mut self, json: RawJson, out: Out<'_>) -> Result<(), LlmError> {
        self.items += 1;
        if self.items > limits::CALLS {
            return Err(protocol("too many items in one answer"));
        }
        let item: Finished = parse(json.get())?;
        match item.kind.as_str() {
            "message" => {
                let message: FinishedMessage = parse(json.get())?;
                message.content.into_iter().for_each(|part| self.part(part, out));
            }
            "function_call" => {
                self.called = true;
                let call: FinishedCall = parse(json.get())?;
                out.push(Chunk::Item(Block::ToolCall(tool_call(call.call_id, call.name, &call.arguments)?)));
            }
            _ => {
                let wire = Wire::Responses.name().to_owned();
                out.push(Chunk::Item(Block::Opaque(Opaque { wire, json })));
            }
        }
        Ok(())
    }

    fn part(&mut self, part: Part, out: Out<'_>) {
        let text = if part.kind == "refusal" {
            self.refused = true;
            part.refusal
        } else {
            part.text
        };
        if !text.is_empty() {
            out.push(Chunk::Item(Block::text(text)));
        }
    }

    fn end(&mut self, response: Response, kind: &str, out: Out<'_>) -> Result<(), LlmError> {
        if self.items == 0 {
            // Some proxies tell the items only here.
            for item in response.output {
                self.item(item, out)?;
            }
        }
        if let Some(told) = response.usage {
            out.push(Chunk::Usage(usage(&told)));
        }
        let stop = if kind == "response.incomplete" {
            incomplete(response.incomplete_details.map(|details| details.reason).unwrap_or_default())
        } else if self.called {
            Stop::ToolUse
        } else if self.refused {
            Stop::Refusal
        } else {
            Stop::EndTurn
        };
        out.push(Chunk::End { stop, model: response.model });
        Ok(())
    }
}

fn delta(event: &Event<'_>) -> Result<String, LlmError> {
    let raw = event.delta.ok_or_else(|| protocol("a delta event without a delta"))?;
    parse(raw.get())
}

/// The tokens from the cache are part of the input here; ours do not overlap.
fn usage(told: &wire::Usage) -> Usage {
    let mut counting = Counting::default();
    let (read, written) = told.input_tokens_details.as_ref().map_or((0, 0), |details| {
        (counting.take(details.cached_tokens), counting.take(details.cache_write_tokens))
    });
    let thought = told.output_tokens_details.as_ref().map(|details| details.reasoning_tokens);
    let (output, reasoning) = (counting.take(told.output_tokens), counting.take(thought.unwrap_or_default()));
    let prompt = counting.take(told.input_tokens);
    let input = counting.uncached(prompt, (read, written));
    let fault = counting.fault;
    Usage { input, cache_read: read, cache_write_5m: written, cache_write_1h: 0, output, reasoning, fault }
}

fn incomplete(reason: String) -> Stop {
    match reason.as_str() {
        "max_output_tokens" => Stop::MaxTokens,
        "content_filter" => Stop::Refusal,
        _ => Stop::Other(if reason.is_empty() { "incomplete".to_owned() } else { reason }),
    }
}

fn failed(error: Option<ErrorBody>) -> LlmError {
    let Some(error) = error else {
        return from_code(&[], "the response failed and the provider does not say why");
    };
    let (code, kind) = (error.code.unwrap_or_default(), error.kind.unwrap_or_default());
    from_code(&[&code, &kind], &error.message.unwrap_or_default())
}

/// The words stand in the event itself, or in an object of it.
fn broken_off(event: Event<'_>) -> LlmError {
    let nested = event.error.unwrap_or(ErrorBody { code: None, kind: None, message: None });
    let code = match event.code {
        Some(serde_json::Value::String(code)) => Some(code),
        Some(serde_json::Value::Number(number)) => Some(number.to_string()),
        Some(_) | None => nested.code,
    };
    let message = event.message.or(nested.message).unwrap_or_default();
    from_code(&[&code.unwrap_or_default(), &nested.kind.unwrap_or_default()], &message)
}
