//! The first two fields of an event, which are enough to decide whether the rest needs to be read.

use std::borrow::Cow;

use serde::Deserialize;

use super::{DecodeError, EventKind};
use crate::id::TaskId;

/// Whose event it is and of which type.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct EventHead<'a> {
    /// The task it happened to.
    pub task: TaskId,
    /// The name of the type, also when this version does not know it.
    #[serde(rename = "type", borrow)]
    pub type_name: Cow<'a, str>,
}

impl<'a> EventHead<'a> {
    /// Reads the head of an event. The rest of the text is not promised to be valid.
    ///
    /// What we write ourselves always starts the same way and is read without scanning the rest, so that a
    /// boot can skip the large bodies it does not need.
    pub fn parse(text: &'a str) -> Result<Self, DecodeError> {
        match Self::at_front(text) {
            Some(head) => Ok(head),
            None => serde_json::from_str(text).map_err(DecodeError::Head),
        }
    }

    /// The type, if this version knows it.
    pub fn kind(&self) -> Option<EventKind> {
        EventKind::from_name(&self.type_name)
    }

    fn at_front(text: &'a str) -> Option<Self> {
        let rest = text.strip_prefix(r#"{"task":""#)?;
        let (task, rest) = rest.split_at_checked(ulid::ULID_LEN)?;
        let rest = rest.strip_prefix(r#"","type":""#)?;
        let (type_name, _) = rest.split_once('"')?;
        if type_name.contains('\\') {
            return None;
        }
        Some(Self { task: task.parse().ok()?, type_name: Cow::Borrowed(type_name) })
    }
}
