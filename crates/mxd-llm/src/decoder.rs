//! The bytes of a response become chunks, whatever the wire.

use mxd_core::prompt::CacheTtl;
use serde::{Deserialize, Deserializer};

use crate::chunk::Chunk;
use crate::error::{Class, LlmError};
use crate::sse::{SseDecoder, SseEvent};
use crate::wire::Wire;
use crate::{anthropic, chat, limits, responses};

/// Where chunks are put.
pub(crate) type Out<'a> = &'a mut Vec<Chunk>;

/// Whether an answer goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// It does.
    More,
    /// Its end was told.
    Complete,
}

/// A response that is being read. However its bytes are cut, the same chunks come out.
#[derive(Debug)]
pub struct ResponseDecoder {
    sse: SseDecoder,
    wire: WireDecoder,
    events: Vec<SseEvent>,
    bytes: usize,
    has_begun: bool,
    progress: Progress,
}

#[derive(Debug)]
enum WireDecoder {
    Anthropic(anthropic::Decoder),
    Responses(responses::Decoder),
    Chat(chat::Decoder),
}

/// What a decoder cannot know from the response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hints {
    /// Goes into the names of tool calls to which the server gave none, so that they differ from those of other
    /// answers.
    pub salt: u64,
    /// How long the prefix was asked to be kept.
    pub ttl: CacheTtl,
}

impl ResponseDecoder {
    /// A decoder for this wire.
    pub fn new(wire: Wire, hints: Hints) -> Self {
        let wire = match wire {
            Wire::Anthropic => WireDecoder::Anthropic(anthropic::Decoder::new(hints.ttl)),
            Wire::Responses => WireDecoder::Responses(responses::Decoder::default()),
            Wire::Chat => WireDecoder::Chat(chat::Decoder::new(hints.salt)),
        };
        let sse = SseDecoder::new(limits::EVENT_BYTES);
        Self { sse, wire, events: Vec::new(), bytes: 0, has_begun: false, progress: Progress::More }
    }

    /// Takes the next bytes and appends the chunks they complete. Chunks that came before an error are kept.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<Chunk>) -> Result<(), LlmError> {
        self.bytes += bytes.len();
        if self.bytes > limits::RESPONSE_BYTES {
            return Err(protocol(&format!(
                "the answer is over the limit of {} bytes",
                limits::RESPONSE_BYTES
            )));
        }
        let mut events = std::mem::take(&mut self.events);
        let pushed = self.sse.push(bytes, &mut events);
        for event in events.drain(..) {
            if self.progress == Progress::More {
                self.progress = self.wire.event(&event, out)?;
                self.has_begun = true;
            }
        }
        self.events = events;
        pushed.map_err(|error| protocol(&error.to_string()))
    }

    /// Whether anything of an answer came. A provider that only says what is wrong has not begun one.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Bytes that the model has written so far, finished or not: no tokenizer makes more tokens of a text.
    pub fn written(&self) -> u64 {
        match &self.wire {
            WireDecoder::Anthropic(wire) => wire.written,
            WireDecoder::Chat(wire) => wire.written,
            // This wire reports no usage before the end, so nothing can be made of a part of an answer.
            WireDecoder::Responses(_) => 0,
        }
    }

    /// Whether the answer's end was told; nothing after it matters.
    pub fn is_complete(&self) -> bool {
        self.progress == Progress::Complete
    }

    /// The connection has ended. An answer that did not end before it is cut off.
    pub fn finish(&mut self, out: &mut Vec<Chunk>) -> Result<(), LlmError> {
        if self.is_complete() {
            return Ok(());
        }
        let ended = match &mut self.wire {
            WireDecoder::Anthropic(_) | WireDecoder::Responses(_) => false,
            WireDecoder::Chat(chat) => chat.hung_up(out),
        };
        if !ended {
            return Err(LlmError::new(Class::Network, "the connection ended in the middle of the answer"));
        }
        self.progress = Progress::Complete;
        Ok(())
    }
}

impl WireDecoder {
    fn event(&mut self, event: &SseEvent, out: Out<'_>) -> Result<Progress, LlmError> {
        match self {
            Self::Anthropic(wire) => wire.event(event, out),
            Self::Responses(wire) => wire.event(event, out),
            Self::Chat(wire) => wire.event(event, out),
        }
    }
}

/// The name of the model that answers, if what a server says can be one.
pub(crate) fn model_name(told: Option<String>) -> Option<String> {
    told.filter(|name| !name.is_empty() && name.len() <= limits::MODEL_NAME_BYTES)
}

/// The same where it is read: whatever else stands in its place is no reason to lose an answer.
pub(crate) fn named<'a, D: Deserializer<'a>>(told: D) -> Result<Option<String>, D::Error> {
    let told = serde_json::Value::deserialize(told)?;
    Ok(model_name(told.as_str().map(str::to_owned)))
}

/// An event's data.
pub(crate) fn parse<'a, T: Deserialize<'a>>(data: &'a str) -> Result<T, LlmError> {
    serde_json::from_str(data).map_err(|error| {
        let start: String = data.chars().take(200).collect();
        protocol(&format!("an event of the stream makes no sense ({error}): {start}"))
    })
}

pub(crate) fn protocol(message: &str) -> LlmError {
    LlmError::new(Class::Protocol, message)
}
