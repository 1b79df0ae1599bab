//! What a model call gives back, piece by piece.

use std::time::Duration;

use mxd_core::event::body::{StopReason, Usage as StoredUsage};
use mxd_core::prompt::Block;

use crate::error::LlmError;

/// One piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chunk {
    /// More text, for the eye; the whole comes as an [`Chunk::Item`].
    TextDelta(String),
    /// More of a thought, for the eye.
    ThinkingDelta(String),
    /// A finished block, as it goes back into the conversation.
    Item(Block),
    /// What the call has used so far. The last one counts; servers that do not say send none.
    Usage(Usage),
    /// The attempt failed and another one follows when the stream is polled again: everything since the attempt began is
    /// void, and what it has used is not part of what the next one uses.
    Retrying(Retrying),
    /// The answer is complete. Nothing follows.
    End {
        /// Why the model stopped.
        stop: Stop,
        /// Which model answered, as its server calls it, if it says so. What was asked for may be only a name for it.
        model: Option<String>,
    },
}

/// An attempt that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retrying {
    /// Which attempt failed, from 1.
    pub attempt: u32,
    /// How long until the next one.
    pub delay: Duration,
    /// What went wrong.
    pub error: LlmError,
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// It had no more to say.
    EndTurn,
    /// It wants tool results.
    ToolUse,
    /// It ran into its output limit.
    MaxTokens,
    /// It wrote a text that was given as the end.
    StopSequence,
    /// The provider paused a long turn; asking again with what came so far goes on with it.
    PauseTurn,
    /// It would not answer.
    Refusal,
    /// The conversation and the answer fill the model's context.
    ContextExceeded,
    /// A reason only this provider knows.
    Other(String),
}

impl From<Stop> for StopReason {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::EndTurn => Self::EndTurn,
            Stop::ToolUse => Self::ToolUse,
            Stop::MaxTokens => Self::MaxTokens,
            Stop::Refusal => Self::Refusal,
            Stop::StopSequence => Self::Other("stop_sequence".to_owned()),
            Stop::PauseTurn => Self::Other("pause_turn".to_owned()),
            Stop::ContextExceeded => Self::Other("model_context_window_exceeded".to_owned()),
            Stop::Other(reason) => Self::Other(reason),
        }
    }
}

/// Tokens of one call. The kinds do not overlap, except that `reasoning` is part of `output`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Read without the cache.
    pub input: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Put into the cache for five minutes, or for as long as the provider does by itself.
    pub cache_write_5m: u64,
    /// Put into the cache for an hour.
    pub cache_write_1h: u64,
    /// Written, thinking included.
    pub output: u64,
    /// Of those, thought.
    pub reasoning: u64,
    /// What is wrong with the numbers, when they cannot be.
    pub fault: Option<&'static str>,
}

impl Usage {
    /// Everything the model had before its eyes.
    pub fn prompt(&self) -> u64 {
        let parts = [self.input, self.cache_read, self.cache_write_5m, self.cache_write_1h];
        parts.into_iter().fold(0, u64::saturating_add)
    }
}

impl From<Usage> for StoredUsage {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.input,
            output_tokens: usage.output,
            cache_read_tokens: usage.cache_read,
            cache_write_tokens: usage.cache_write_5m.saturating_add(usage.cache_write_1h),
        }
    }
}
