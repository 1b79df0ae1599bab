//! The first two fields of an event, which are enough to decide whether the rest needs to be read.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;
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

/// Whether any event in this JSON array may concern the state; false lets a boot skip a whole commit unread.
///
/// Looks for every key `type` with a name behind it, at any depth. Inside of strings the quotes are escaped, so
/// no event can hide from this, and a tool input that has such a key is only read in vain.
pub fn may_shape_state(events: &str) -> bool {
    const KEY: &str = "\"type\":\"";
    static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(KEY));
    FINDER.find_iter(events.as_bytes()).any(|position| {
        let name =
            events.get(position + KEY.len()..).and_then(|rest| rest.split_once('"')).map(|(name, _)| name);
        name.and_then(EventKind::from_name).is_some_and(EventKind::shapes_state)
    })
}

/// The events of a JSON array as they are written there. `None` if it is not an array of objects.
///
/// Only finds where each object ends, which is several times faster than reading it.
pub fn split_events(events: &str) -> Option<Vec<&str>> {
    let mut rest = events.strip_prefix('[')?.strip_suffix(']')?;
    let mut split = Vec::new();
    while !rest.is_empty() {
        let (event, behind) = rest.split_at_checked(object_end(rest.as_bytes())?)?;
        split.push(event);
        rest = behind
            .strip_prefix(',')
            .filter(|rest| !rest.is_empty())
            .or(behind.is_empty().then_some(behind))?;
    }
    Some(split)
}

/// Where the object at the beginning of a text ends.
fn object_end(text: &[u8]) -> Option<usize> {
    let (mut position, mut depth) = (0, 0_usize);
    if text.first() != Some(&b'{') {
        return None;
    }
    loop {
        position += memchr::memchr3(b'"', b'{', b'}', text.get(position..)?)?;
        match text[position] {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => position = string_end(text, position + 1)?,
        }
        position += 1;
        if depth == 0 {
            return Some(position);
        }
    }
}

/// Where the string whose inside begins at `position` has its closing quote.
fn string_end(text: &[u8], mut position: usize) -> Option<usize> {
    loop {
        position += memchr::memchr2(b'"', b'\\', text.get(position..)?)?;
        if text[position] == b'"' {
            return Some(position);
        }
        position += 2;
    }
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
