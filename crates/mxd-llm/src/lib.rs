//! Model providers: a neutral request becomes a stream of chunks.
//!
//! A [`mxd_core::prompt::Request`] becomes bytes in an [`EncodedPrefix`], which a live session keeps and
//! appends to; a [`Provider`] sends it, retries what can pass, and gives back [`Chunk`]s. Three wires are spoken: Anthropic
//! Messages, OpenAI Responses and Chat Completions. What models can do and cost is data ([`Models`]). This crate
//! knows nothing of tasks, configuration files or the log.

mod anthropic;
mod breaker;
mod call;
mod chat;
mod chunk;
mod classify;
mod cost;
mod decoder;
mod error;
mod http;
pub mod limits;
mod malformed;
mod models;
mod prefix;
mod provider;
mod responses;
mod retry;
mod sse;
mod tokens;
mod wire;

pub use breaker::{Admission, Breaker, BreakerSettings, Circuit};
pub use chunk::{Chunk, Retrying, Stop, Usage};
pub use cost::cost;
pub use decoder::{Hints, ResponseDecoder};
pub use error::{Class, LlmError, Rule};
pub use http::Timeouts;
pub use models::{LongContext, Model, Models, Prices, ThinkingStyle};
pub use prefix::{EncodedPrefix, EncodedRequest};
pub use provider::{ChunkStream, ListedModel, Provider, ProviderConfig};
pub use retry::Backoff;
pub use sse::{SseDecoder, SseEvent, TooLarge};
pub use wire::Wire;
