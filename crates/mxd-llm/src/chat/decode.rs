//! From the stream of this wire to chunks.

use mxd_core::prompt::{Block, Thinking};

use super::calls::Calls;
use super::wire::{self, Choice, Delta, Piece};
use crate::chunk::{Chunk, Stop, Usage};
use crate::classify::from_code;
use crate::decoder::{Out, Progress, model_name, parse};
use crate::error::LlmError;
use crate::sse::SseEvent;
use crate::tokens::Counting;

/// What is known of an answer so far.
#[derive(Debug)]
pub(crate) struct Decoder {
    salt: u64,
    text: String,
    thought: String,
    refused: bool,
    calls: Calls,
    stop: Option<Stop>,
    model: Option<String>,
    /// Bytes of what the model wrote.
    pub(crate) written: u64,
}

impl Decoder {
    pub(crate) fn new(salt: u64) -> Self {
        Self {
            salt,
            text: String::new(),
            thought: String::new(),
            refused: false,
            calls: Calls::default(),
            stop: None,
            model: None,
            written: 0,
        }
    }

    pub(crate) fn event(&mut self, event: &SseEvent, out: Out<'_>) -> Result<Progress, LlmError> {
        if event.data.trim() == "[DONE]" {
            if self.stop.is_none() {
                // A server that says the end but not why.
                self.finish("stop".to_owned(), out)?;
            }
            self.hung_up(out);
            return Ok(Progress::Complete);
        }
        let piece: Piece<'_> = parse(&event.data)?;
        if let Some(error) = piece.error {
            return Err(broken_off(&error));
        }
        if self.model.is_none() {
            let told = piece.model.and_then(|told| serde_json::from_str(told.get()).ok());
            self.model = model_name(told);
        }
        for choice in piece.choices.into_iter().flatten().filter(|choice| choice.index == 0) {
            self.choice(choice, out)?;
        }
        if let Some(told) = piece.usage {
            out.push(Chunk::Usage(usage(&told)));
        }
        Ok(Progress::More)
    }

    /// The connection has ended; fine if the answer had. Whether it had is returned.
    pub(crate) fn hung_up(&mut self, out: Out<'_>) -> bool {
        match self.stop.take() {
            Some(stop) => {
                out.push(Chunk::End { stop, model: self.model.take() });
                true
            }
            None => false,
        }
    }

    fn choice(&mut self, choice: Choice, out: Out<'_>) -> Result<(), LlmError> {
        if self.stop.is_some() {
            // Some servers close with an empty piece after the last one.
            return Ok(());
        }
        if let Some(delta) = choice.delta.or(choice.message.map(|whole| *whole)) {
            self.grow(delta, out)?;
        }
        match choice.finish_reason.filter(|reason| !reason.is_empty()) {
            Some(reason) => self.finish(reason, out),
            None => Ok(()),
        }
    }

    fn grow(&mut self, delta: Delta, out: Out<'_>) -> Result<(), LlmError> {
        self.count(&delta);
        let said = |text: Option<String>| text.filter(|text| !text.is_empty());
        if let Some(text) = said(delta.reasoning_content).or(said(delta.reasoning)) {
            self.thought.push_str(&text);
            out.push(Chunk::ThinkingDelta(text));
        }
        let refusal = said(delta.refusal);
        self.refused |= refusal.is_some();
        for text in [said(delta.content), refusal].into_iter().flatten() {
            self.text.push_str(&text);
            out.push(Chunk::TextDelta(text));
        }
        for call in delta.tool_calls.into_iter().flatten() {
            self.calls.add(call)?;
        }
        Ok(())
    }

    fn count(&mut self, delta: &Delta) {
        let Delta { content, refusal, reasoning, reasoning_content, tool_calls, .. } = delta;
        let texts = [content, refusal, reasoning, reasoning_content];
        let texts = texts.into_iter().flatten().map(String::len).fold(0, usize::saturating_add);
        let calls = tool_calls.iter().flatten().filter_map(|call| call.function.as_ref());
        let arguments = calls.filter_map(|call| call.arguments.as_ref());
        let arguments = arguments.map(|json| json.get().len()).fold(0, usize::saturating_add);
        let bytes = u64::try_from(texts.saturating_add(arguments)).unwrap_or(u64::MAX);
        self.written = self.written.saturating_add(bytes);
    }

    /// The items are whole; usage may still follow, so the end is told later.
    fn finish(&mut self, reason: String, out: Out<'_>) -> Result<(), LlmError> {
        let called = !self.calls.is_empty();
        if !self.thought.is_empty() {
            let text = std::mem::take(&mut self.thought);
            out.push(Chunk::Item(Block::Thinking(Thinking { text, signature: None })));
        }
        if !self.text.is_empty() {
            out.push(Chunk::Item(Block::text(std::mem::take(&mut self.text))));
        }
        for call in self.calls.finish(self.salt)? {
            out.push(Chunk::Item(Block::ToolCall(call)));
        }
        self.stop = Some(match reason.as_str() {
            "length" => Stop::MaxTokens,
            "content_filter" => Stop::Refusal,
            "tool_calls" | "function_call" => Stop::ToolUse,
            // Servers exist that say "stop" beside calls.
            "stop" | "eos" if called => Stop::ToolUse,
            "stop" | "eos" if self.refused => Stop::Refusal,
            "stop" | "eos" => Stop::EndTurn,
            _ => Stop::Other(reason),
        });
        Ok(())
    }
}

/// The tokens from the cache are part of the prompt here; ours do not overlap.
fn usage(told: &wire::Usage) -> Usage {
    let mut counting = Counting::default();
    let details = told.prompt_tokens_details.as_ref();
    let read = counting.take(details.and_then(|details| details.cached_tokens).unwrap_or_default());
    let written = counting.take(details.and_then(|details| details.cache_write_tokens).unwrap_or_default());
    let thought = told.completion_tokens_details.as_ref().and_then(|details| details.reasoning_tokens);
    let (output, reasoning) =
        (counting.take(told.completion_tokens), counting.take(thought.unwrap_or_default()));
    let prompt = counting.take(told.prompt_tokens);
    let input = counting.uncached(prompt, (read, written));
    let fault = counting.fault;
    Usage { input, cache_read: read, cache_write_5m: written, cache_write_1h: 0, output, reasoning, fault }
}

/// Servers put a number, a word or nothing where the code belongs.
fn broken_off(error: &serde_json::Value) -> LlmError {
    let word = |name: &str| match error.get(name) {
        Some(serde_json::Value::String(word)) => word.clone(),
        Some(serde_json::Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let message = error.as_str().map_or_else(|| word("message"), str::to_owned);
    from_code(&[&word("code"), &word("type")], &message)
}
