//! What a prompt cache saves: whether the beginning of a request was read before, counted from its bytes.
//!
//! Anthropic's keeps what a request marks (`cache_control`), and finds it again at a mark or up to twenty blocks before
//! one. OpenAI's keeps every request by itself, in steps of 128 tokens. Both need 1,024 tokens, the same model, and
//! the same bytes from the first one on. Nothing ever expires here.

use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::Value;

use crate::limits::{CACHE_LEAST_TOKENS, CACHE_LOOK_BACK, CACHE_STEP_TOKENS, CACHED_PREFIXES, TOKEN_BYTES};
use crate::prefix::unmarked;
use crate::view::{Pieces, View};
use crate::wire::Wire;

/// The part of a request's tokens that the cache changes the price of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cached {
    pub(crate) read: u64,
    pub(crate) written: u64,
    pub(crate) written_for_an_hour: u64,
}

impl Cached {
    pub(crate) fn sum(self) -> u64 {
        self.read + self.written + self.written_for_an_hour
    }
}

/// The beginnings of requests that were read before.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    known: HashSet<u64>,
    /// Oldest first.
    order: VecDeque<u64>,
}

/// A place in a request: everything up to it, as a hash, and how many tokens that is.
#[derive(Debug, Clone, Copy)]
struct Place {
    prefix: u64,
    tokens: u64,
}

/// A mark behind a block.
#[derive(Debug, Clone, Copy)]
struct Mark {
    block: usize,
    for_an_hour: bool,
}

impl Cache {
    /// What this request finds, and what it leaves for later ones.
    pub(crate) fn serve(&mut self, wire: Wire, view: &View, body: &Value) -> Cached {
        match wire {
            Wire::Anthropic => self.marked(&view.model, body),
            Wire::Responses | Wire::Chat => {
                let read = self.stepwise(&view.model, &view.pieces);
                Cached { read, ..Cached::default() }
            }
        }
    }

    fn marked(&mut self, model: &str, body: &Value) -> Cached {
        let (places, marks) = blocks(model, body);
        let reach = |mark: &Mark| mark.block.saturating_sub(CACHE_LOOK_BACK)..=mark.block;
        let looked_at = marks.iter().flat_map(reach).map(|block| places[block]);
        let found = looked_at.filter(|place| self.known.contains(&place.prefix)).map(|place| place.tokens);
        let mut cached = Cached { read: found.max().unwrap_or(0), ..Cached::default() };
        let mut until = cached.read;
        for mark in marks {
            let Place { prefix, tokens } = places[mark.block];
            if tokens < CACHE_LEAST_TOKENS {
                continue;
            }
            let written = tokens.saturating_sub(until);
            if mark.for_an_hour {
                cached.written_for_an_hour += written;
            } else {
                cached.written += written;
            }
            until += written;
            self.keep(prefix);
        }
        cached
    }

    fn stepwise(&mut self, model: &str, pieces: &Pieces) -> u64 {
        let steps = steps(model, pieces);
        let found = steps.iter().filter(|place| self.known.contains(&place.prefix)).map(|place| place.tokens);
        let read = found.max().unwrap_or(0);
        steps.iter().for_each(|place| self.keep(place.prefix));
        read
    }

    fn keep(&mut self, prefix: u64) {
        if self.known.insert(prefix) {
            self.order.push_back(prefix);
        }
        if self.order.len() > CACHED_PREFIXES
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }
}

/// Every block of a Messages request in the order in which the service reads it, and the marks among them.
fn blocks(model: &str, body: &Value) -> (Vec<Place>, Vec<Mark>) {
    let mut hasher = begin(model);
    let (mut places, mut marks, mut bytes) = (Vec::new(), Vec::new(), 0);
    let mut add = |owner: &str, block: &Value| {
        let text = unmarked(block).to_string();
        (owner, &text).hash(&mut hasher);
        bytes += text.len() as u64;
        if let Some(mark) = block.get("cache_control").filter(|mark| mark.is_object()) {
            marks.push(Mark { block: places.len(), for_an_hour: mark["ttl"] == "1h" });
        }
        places.push(Place { prefix: hasher.finish(), tokens: bytes / TOKEN_BYTES });
    };
    for tool in list(&body["tools"]) {
        add("tools", tool);
    }
    for block in list(&body["system"]) {
        add("system", block);
    }
    for (index, message) in list(&body["messages"]).iter().enumerate() {
        let owner = format!("{index} {}", message["role"]);
        for block in list(&message["content"]) {
            add(&owner, block);
        }
    }
    (places, marks)
}

/// A list, or the one thing that stands in its place.
fn list(value: &Value) -> &[Value] {
    match value {
        Value::Array(list) => list,
        Value::Null => &[],
        one => std::slice::from_ref(one),
    }
}

/// The places at which OpenAI's cache can be met, from the shortest on.
fn steps(model: &str, pieces: &Pieces) -> Vec<Place> {
    let mut text = String::new();
    for value in pieces.head.iter().map(|(_, value)| value).chain(&pieces.items) {
        text.push_str(&value.to_string());
        text.push('\n');
    }
    let mut hasher = begin(model);
    let mut places = Vec::new();
    let mut tokens = 0;
    for step in text.as_bytes().chunks_exact((CACHE_STEP_TOKENS * TOKEN_BYTES) as usize) {
        step.hash(&mut hasher);
        tokens += CACHE_STEP_TOKENS;
        if tokens >= CACHE_LEAST_TOKENS {
            places.push(Place { prefix: hasher.finish(), tokens });
        }
    }
    places
}

fn begin(model: &str) -> DefaultHasher {
    let mut hasher = DefaultHasher::new();
    model.hash(&mut hasher);
    hasher
}
