//! The bytes of a request, kept and appended to.
//!
//! Every wire writes what is frozen first and the conversation last, so a live session keeps one buffer, and a
//! new turn costs its own bytes. The moving cache marks are not in the buffer: they are put in while a body is
//! copied out, so the buffer only ever grows at its end.

use bytes::Bytes;
use mxd_core::prompt::{CacheTtl, Head, Request, Turn};
use serde::Serialize;

use crate::error::{Class, LlmError};
use crate::wire::Wire;
use crate::{anthropic, chat, responses};

/// A request as it goes out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedRequest {
    /// The wire it is for.
    pub wire: Wire,
    /// How long the provider is asked to keep the prefix; some do not repeat it when they tell what they kept.
    pub ttl: CacheTtl,
    /// The body.
    pub body: Bytes,
}

impl EncodedRequest {
    /// The whole request at once.
    pub fn new(wire: Wire, request: &Request) -> Result<Self, LlmError> {
        Ok(EncodedPrefix::of(wire, request)?.request())
    }
}

/// The encoded conversation of a live session.
#[derive(Debug, Clone)]
pub struct EncodedPrefix {
    wire: Wire,
    ttl: CacheTtl,
    buffer: Vec<u8>,
    list: List,
    turns: usize,
}

/// The open list at the end of the buffer.
#[derive(Debug, Clone, Default)]
pub(crate) struct List {
    /// Whether something is in it.
    pub(crate) filled: bool,
    /// Where cache marks go in: at the ends of the last two user turns. The older one is where the request
    /// before this one ended, which the provider finds again however many blocks lie between.
    pub(crate) marks: [Option<usize>; 2],
}

impl EncodedPrefix {
    /// The frozen start.
    pub fn new(wire: Wire, head: &Head) -> Result<Self, LlmError> {
        let mut buffer = Vec::with_capacity(4 << 10);
        let mut list = List::default();
        match wire {
            Wire::Anthropic => anthropic::encode_head(&mut buffer, head, anthropic::Purpose::Answer)?,
            Wire::Responses => responses::encode_head(&mut buffer, head)?,
            Wire::Chat => chat::encode_head(&mut buffer, head, &mut list)?,
        }
        Ok(Self { wire, ttl: head.cache.ttl, buffer, list, turns: 0 })
    }

    /// The whole request.
    pub fn of(wire: Wire, request: &Request) -> Result<Self, LlmError> {
        let mut prefix = Self::new(wire, &request.head)?;
        for turn in &request.turns {
            prefix.push(turn)?;
        }
        Ok(prefix)
    }

    /// The body that asks Anthropic to count instead of to answer.
    pub(crate) fn counting(request: &Request) -> Result<EncodedRequest, LlmError> {
        let mut prefix = Self::new(Wire::Anthropic, &request.head)?;
        prefix.buffer.clear();
        anthropic::encode_head(&mut prefix.buffer, &request.head, anthropic::Purpose::Count)?;
        for turn in &request.turns {
            prefix.push(turn)?;
        }
        Ok(prefix.request())
    }

    /// Appends a turn. When it fails, the prefix is as it was.
    pub fn push(&mut self, turn: &Turn) -> Result<(), LlmError> {
        let (length, list) = (self.buffer.len(), self.list.clone());
        let written = match self.wire {
            Wire::Anthropic => anthropic::encode_turn(&mut self.buffer, &mut self.list, turn),
            Wire::Responses => responses::encode_turn(&mut self.buffer, &mut self.list, turn),
            Wire::Chat => chat::encode_turn(&mut self.buffer, &mut self.list, turn),
        };
        match written {
            Ok(()) => self.turns += 1,
            Err(_) => {
                self.buffer.truncate(length);
                self.list = list;
            }
        }
        written
    }

    /// How many turns are in it.
    pub fn turns(&self) -> usize {
        self.turns
    }

    /// The bytes every later request begins with, apart from the moving cache marks.
    pub fn stable(&self) -> &[u8] {
        &self.buffer
    }

    /// The request for the conversation so far.
    pub fn request(&self) -> EncodedRequest {
        let mark = match self.wire {
            Wire::Anthropic => anthropic::cache_mark(self.ttl).as_bytes(),
            Wire::Responses | Wire::Chat => b"",
        };
        let mut body = Vec::with_capacity(self.buffer.len() + 2 * mark.len() + 2);
        let mut from = 0;
        for at in self.list.marks.iter().flatten() {
            body.extend_from_slice(&self.buffer[from..*at]);
            body.extend_from_slice(mark);
            from = *at;
        }
        body.extend_from_slice(&self.buffer[from..]);
        body.extend_from_slice(b"]}");
        EncodedRequest { wire: self.wire, ttl: self.ttl, body: Bytes::from(body) }
    }
}

/// Appends a value.
pub(crate) fn put(buffer: &mut Vec<u8>, value: &impl Serialize) -> Result<(), LlmError> {
    serde_json::to_writer(buffer, value)
        .map_err(|error| LlmError::new(Class::Invalid, format!("the request cannot be written: {error}")))
}

/// Appends an element to the open list.
pub(crate) fn put_element(
    buffer: &mut Vec<u8>,
    list: &mut List,
    value: &impl Serialize,
) -> Result<(), LlmError> {
    if list.filled {
        buffer.push(b',');
    }
    list.filled = true;
    put(buffer, value)
}

/// Writes the frozen fields and leaves the object open at the list that follows.
pub(crate) fn put_open_object(
    buffer: &mut Vec<u8>,
    fields: &impl Serialize,
    list: &str,
) -> Result<(), LlmError> {
    put(buffer, fields)?;
    // Every head has fields, so what is cut off is the closing brace and what follows is another field.
    buffer.pop();
    buffer.extend_from_slice(format!(",\"{list}\":[").as_bytes());
    Ok(())
}

/// Whether a text says something; providers refuse blank ones.
pub(crate) fn says_something(text: &str) -> bool {
    !text.trim().is_empty()
}
