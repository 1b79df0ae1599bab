//! Events: what happened, in the one vocabulary that the log, the prompt and the page share.
//!
//! An event is one JSON object on one line: `{"task":…,"type":…, …}`. What a newer version wrote and this one
//! does not know (types, fields at any depth, kinds of messages) survives being read and written again.

pub mod body;
pub mod delta;
mod head;
mod leftover;
mod vocabulary;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use thiserror::Error;

pub use self::delta::Delta;
pub use self::head::{EventHead, may_shape_state, split_events};
pub use self::leftover::Extra;
pub use self::vocabulary::{DeltaBody, Durability, EventBody, EventKind, UnknownEvent, VOCABULARY, Version};
use crate::id::TaskId;
use crate::raw::RawJson;

/// Something that happened to a task and is part of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The task it happened to.
    pub task: TaskId,
    /// What happened.
    pub body: EventBody,
    /// What a newer version wrote and the typed form does not hold.
    pub extra: Extra,
}

/// Why a text is not an event this version can hold.
#[derive(Debug, Error)]
pub enum DecodeError {
    /// No JSON object with a task and a type.
    #[error("not an event: {0}")]
    Head(#[source] serde_json::Error),
    /// The type is known, but what it carries does not fit.
    #[error("a `{}` event that this version cannot read: {source}", kind.name())]
    Body {
        /// The type.
        kind: EventKind,
        /// What does not fit.
        source: serde_json::Error,
    },
    /// Ephemeral events are not stored, so none can be read back.
    #[error("`{}` events are never stored", kind.name())]
    Ephemeral {
        /// The type.
        kind: EventKind,
    },
    /// A stored event where an ephemeral one is expected.
    #[error("`{kind}` is not an ephemeral event")]
    NotADelta {
        /// The name of the type.
        kind: String,
    },
}

/// An event could not be written as JSON. Our own types always can; this keeps the possibility visible.
#[derive(Debug, Error)]
#[error("an event could not be written as JSON: {0}")]
pub struct EncodeError(#[from] serde_json::Error);

impl Event {
    /// Puts an event together.
    pub fn new(task: TaskId, body: impl Into<EventBody>) -> Self {
        Self { task, body: body.into(), extra: Extra::default() }
    }

    /// Reads an event from its JSON text, losing nothing.
    pub fn decode(text: &str) -> Result<Self, DecodeError> {
        let head = EventHead::parse(text)?;
        let Some(kind) = head.kind() else {
            let whole = RawJson::parse(text).map_err(DecodeError::Head)?;
            let body = UnknownEvent { type_name: head.type_name.into_owned(), whole };
            return Ok(Self { task: head.task, body: EventBody::Unknown(body), extra: Extra::default() });
        };
        let unreadable = |source| DecodeError::Body { kind, source };
        let body =
            EventBody::parse(kind, text).map_err(unreadable)?.ok_or(DecodeError::Ephemeral { kind })?;
        let typed = body.encode(head.task).map_err(unreadable)?;
        let extra = Extra::between(text, &typed).map_err(unreadable)?;
        Ok(Self { task: head.task, body, extra })
    }

    /// The event as one JSON object without line breaks.
    pub fn to_json(&self) -> Result<String, EncodeError> {
        let typed = self.body.encode(self.task)?;
        Ok(self.extra.merged_into(typed)?)
    }

    /// The name of its type, also when this version does not know it.
    pub fn type_name(&self) -> &str {
        self.body.type_name()
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.to_json().map_err(serde::ser::Error::custom)?;
        RawValue::from_string(text).map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::decode(raw.get()).map_err(serde::de::Error::custom)
    }
}
