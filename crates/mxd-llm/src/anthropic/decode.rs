//! From the stream of this wire to chunks.

use std::collections::BTreeMap;

use mxd_core::prompt::{Block, CacheTtl, RedactedThinking, Thinking};

use super::wire::{self, Delta, Event, StartedBlock};
use crate::chunk::{Chunk, Stop, Usage};
use crate::classify::from_code;
use crate::decoder::{Out, Progress, parse, protocol};
use crate::error::LlmError;
use crate::limits;
use crate::malformed::tool_call;
use crate::sse::SseEvent;
use crate::tokens::{Counting, Tokens};

/// What is known of an answer so far.
#[derive(Debug)]
pub(crate) struct Decoder {
    ttl: CacheTtl,
    open: BTreeMap<u32, Open>,
    usage: Usage,
    stop: Option<Stop>,
    model: Option<String>,
    /// Bytes of what the model wrote.
    pub(crate) written: u64,
}

/// A block that is not finished.
#[derive(Debug)]
enum Open {
    Text(String),
    Thinking(Thinking),
    Redacted(String),
    Call {
        id: String,
        name: String,
        arguments: String,
    },
    /// A kind we do not know.
    Skipped,
}

impl Decoder {
    pub(crate) fn new(ttl: CacheTtl) -> Self {
        Self { ttl, open: BTreeMap::new(), usage: Usage::default(), stop: None, model: None, written: 0 }
    }

    pub(crate) fn event(&mut self, event: &SseEvent, out: Out<'_>) -> Result<Progress, LlmError> {
        let event: Event<'_> = parse(&event.data)?;
        match &*event.kind {
            "message_start" => {
                if let Some(message) = event.message {
                    self.model = message.model;
                    self.use_tokens(message.usage, out);
                }
            }
            "content_block_start" => self.start(event.index, event.content_block.unwrap_or_default(), out)?,
            "content_block_delta" => self.grow(event.index, event.delta.unwrap_or_default(), out),
            "content_block_stop" => self.finish(event.index, out)?,
            "message_delta" => {
                let told = event.delta.unwrap_or_default().stop_reason;
                self.stop = told.map(stop).or(self.stop.take());
                self.use_tokens(event.usage, out);
            }
            "message_stop" => {
                let stop = self.stop.take().unwrap_or_else(|| Stop::Other("none".to_owned()));
                out.push(Chunk::End { stop, model: self.model.take() });
                return Ok(Progress::Complete);
            }
            "error" => {
                let error = event.error.unwrap_or_default();
                return Err(from_code(&[&error.kind], &error.message));
            }
            // Signs of life, and what newer versions of the wire tell.
            _ => {}
        }
        Ok(Progress::More)
    }

    fn start(&mut self, index: u32, block: StartedBlock, out: Out<'_>) -> Result<(), LlmError> {
        if self.open.len() >= limits::CALLS {
            return Err(protocol("too many blocks are open at once"));
        }
        self.count([&block.text, &block.thinking, &block.signature, &block.data]);
        let open = match block.kind.as_str() {
            "text" => {
                send(block.text.clone(), Chunk::TextDelta, out);
                Open::Text(block.text)
            }
            "thinking" => {
                send(block.thinking.clone(), Chunk::ThinkingDelta, out);
                let signature = (!block.signature.is_empty()).then_some(block.signature);
                Open::Thinking(Thinking { text: block.thinking, signature })
            }
            "redacted_thinking" => Open::Redacted(block.data),
            "tool_use" => Open::Call { id: block.id, name: block.name, arguments: String::new() },
            _ => Open::Skipped,
        };
        self.open.insert(index, open);
        Ok(())
    }

    fn count<'a>(&mut self, texts: impl IntoIterator<Item = &'a String>) {
        let bytes = texts.into_iter().map(String::len).fold(0, usize::saturating_add);
        self.written = self.written.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX));
    }

    fn grow(&mut self, index: u32, delta: Delta, out: Out<'_>) {
        let Delta { text, thinking, signature, partial_json, .. } = &delta;
        self.count([text, thinking, signature, partial_json].into_iter().flatten());
        match self.open.get_mut(&index) {
            Some(Open::Text(whole)) => {
                let text = delta.text.unwrap_or_default();
                whole.push_str(&text);
                send(text, Chunk::TextDelta, out);
            }
            Some(Open::Thinking(thought)) => {
                let text = delta.thinking.unwrap_or_default();
                thought.text.push_str(&text);
                send(text, Chunk::ThinkingDelta, out);
                if let Some(signature) = delta.signature {
                    thought.signature.get_or_insert_default().push_str(&signature);
                }
            }
            Some(Open::Call { arguments, .. }) => {
                arguments.push_str(&delta.partial_json.unwrap_or_default());
            }
            Some(Open::Redacted(_) | Open::Skipped) | None => {}
        }
    }

    fn finish(&mut self, index: u32, out: Out<'_>) -> Result<(), LlmError> {
        let block = match self.open.remove(&index) {
            Some(Open::Text(text)) if !text.is_empty() => Block::text(text),
            Some(Open::Thinking(thought)) if !thought.text.is_empty() || thought.signature.is_some() => {
                Block::Thinking(thought)
            }
            Some(Open::Redacted(data)) => Block::RedactedThinking(RedactedThinking { data }),
            Some(Open::Call { id, name, arguments }) => Block::ToolCall(tool_call(id, name, &arguments)?),
            Some(Open::Text(_) | Open::Thinking(_) | Open::Skipped) | None => return Ok(()),
        };
        out.push(Chunk::Item(block));
        Ok(())
    }

    fn use_tokens(&mut self, told: Option<wire::Usage>, out: Out<'_>) {
        let told = told.unwrap_or_default();
        let before = self.usage;
        let usage = &mut self.usage;
        // What was wrong once stays wrong: a later event may repeat only some of the numbers.
        let mut counting = Counting { fault: usage.fault };
        let mut count = |told: Option<Tokens>, before: u64| told.map_or(before, |told| counting.take(told));
        usage.input = count(told.input_tokens, usage.input);
        usage.output = count(told.output_tokens, usage.output);
        usage.cache_read = count(told.cache_read_input_tokens, usage.cache_read);
        if let Some(written) = &told.cache_creation {
            usage.cache_write_5m = count(Some(written.ephemeral_5m_input_tokens), 0);
            usage.cache_write_1h = count(Some(written.ephemeral_1h_input_tokens), 0);
        } else if told.cache_creation_input_tokens.is_some() {
            let written = count(told.cache_creation_input_tokens, 0);
            // Some servers tell no split; then all of it is kept as long as we asked.
            match self.ttl {
                CacheTtl::FiveMinutes => usage.cache_write_5m = written - usage.cache_write_1h.min(written),
                CacheTtl::OneHour => usage.cache_write_1h = written - usage.cache_write_5m.min(written),
            }
        }
        if let Some(details) = &told.output_tokens_details {
            usage.reasoning = count(Some(details.thinking_tokens), 0);
        }
        usage.fault = counting.fault;
        if *usage != before {
            out.push(Chunk::Usage(*usage));
        }
    }
}

fn send(text: String, chunk: fn(String) -> Chunk, out: Out<'_>) {
    if !text.is_empty() {
        out.push(chunk(text));
    }
}

fn stop(reason: String) -> Stop {
    match reason.as_str() {
        "end_turn" => Stop::EndTurn,
        "tool_use" => Stop::ToolUse,
        "max_tokens" => Stop::MaxTokens,
        "stop_sequence" => Stop::StopSequence,
        "pause_turn" => Stop::PauseTurn,
        "refusal" => Stop::Refusal,
        "model_context_window_exceeded" => Stop::ContextExceeded,
        _ => Stop::Other(reason),
    }
}
