//! One commit, one line.
//!
//! ```text
//! {"seq":12,"durable":11,"at":1763240000000,"tasks":["01KA…"],"events":[{"task":"01KA…",…}],"crc":"5d1f00c7"}
//! ```
//!
//! The keys stand in this order without spaces, so that a boot finds its way by comparing bytes and leaves the
//! events unread; any JSON tool reads the line too. `durable` is the last commit that was safe on disk when this
//! line was written: it tells a hole torn by a power cut (nobody was told about those commits) from damage to
//! something that had been acknowledged. A later minor version may add flat fields before `events`. `crc` is the
//! CRC-32 of all bytes before the comma in front of it.

use serde::Deserialize;
use std::borrow::Cow;

use crate::error::AppendError;
use crate::limits::{LINE_BYTES, SEQ_LIMIT, TASK_BYTES};
use crate::log::Commit;

/// Bytes of `,"crc":"xxxxxxxx"}`.
const SEAL: usize = 18;

/// The type of the event in which the log records that something was removed from it.
pub(crate) const PRUNE_RECORD: &str = "log_pruned";

/// The two fields of an event that the log looks at.
#[derive(Debug, Deserialize)]
pub(crate) struct EventLabel<'a> {
    #[serde(borrow)]
    pub(crate) task: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Cow<'a, str>,
}

impl<'a> EventLabel<'a> {
    pub(crate) fn read(event: &'a str) -> serde_json::Result<Self> {
        serde_json::from_str(event)
    }
}

/// What one input caused, ready to be appended: its time and its events as JSON texts.
#[derive(Debug, Clone)]
pub struct Draft {
    at: u64,
    tasks: Vec<String>,
    events: String,
}

impl Draft {
    /// An empty commit of the moment `at`, in milliseconds since the epoch.
    pub fn new(at: u64) -> Self {
        Self { at, tasks: Vec::new(), events: String::new() }
    }

    /// Adds one event: a JSON object on one line that names its task under `task` and its type under `type`.
    pub fn push(&mut self, event: &str) -> Result<(), AppendError> {
        let label = EventLabel::read(event).map_err(|error| AppendError::Invalid {
            reason: format!("an event must be an object with a `task` and a `type`: {error}"),
        })?;
        if label.kind == PRUNE_RECORD {
            return Err(AppendError::Invalid {
                reason: format!("only the log itself writes `{PRUNE_RECORD}`"),
            });
        }
        self.push_labelled(event, label)
    }

    /// Adds an event of the log itself.
    pub(crate) fn push_own(&mut self, event: &str) -> Result<(), AppendError> {
        let label =
            EventLabel::read(event).map_err(|error| AppendError::Invalid { reason: error.to_string() })?;
        self.push_labelled(event, label)
    }

    fn push_labelled(&mut self, event: &str, label: EventLabel<'_>) -> Result<(), AppendError> {
        if event.bytes().any(|byte| byte < 0x20) {
            return Err(AppendError::Invalid { reason: "an event must stand on one line".into() });
        }
        if !is_task_name(&label.task) {
            let name = label.task.escape_debug();
            return Err(AppendError::Invalid {
                reason: format!("`{name}` cannot name a task: 1 to {TASK_BYTES} of A-Z a-z 0-9 - _"),
            });
        }
        if !self.tasks.iter().any(|task| *task == label.task) {
            self.tasks.push(label.task.into_owned());
        }
        if !self.events.is_empty() {
            self.events.push(',');
        }
        self.events.push_str(event);
        Ok(())
    }

    /// A commit of these events, each a JSON text.
    pub fn of<'a>(at: u64, events: impl IntoIterator<Item = &'a str>) -> Result<Self, AppendError> {
        let mut draft = Self::new(at);
        events.into_iter().try_for_each(|event| draft.push(event))?;
        Ok(draft)
    }

    /// Whether nothing was pushed yet.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// About as many bytes as the line will have.
    pub(crate) fn weight(&self) -> usize {
        self.events.len() + self.tasks.iter().map(|task| task.len() + 3).sum::<usize>() + 128
    }

    pub(crate) fn tasks(&self) -> &[String] {
        &self.tasks
    }

    /// Whether a log takes it: what could not be read back is refused.
    ///
    /// # Errors
    ///
    /// When it is empty or too large.
    pub fn check(&self) -> Result<(), AppendError> {
        if self.is_empty() {
            return Err(AppendError::Invalid { reason: "a commit needs at least one event".into() });
        }
        if self.weight() > LINE_BYTES {
            return Err(AppendError::TooLarge { bytes: self.weight(), limit: LINE_BYTES });
        }
        Ok(())
    }

    /// What a reader sees of it once it has this number.
    pub(crate) fn commit(&self, seq: u64) -> Commit {
        Commit { seq, at: self.at, events: format!("[{}]", self.events) }
    }

    /// Appends the finished line, with its newline, to `out`.
    pub(crate) fn write(&self, seq: u64, durable: u64, out: &mut Vec<u8>) {
        let tasks: Vec<&str> = self.tasks.iter().map(String::as_str).collect();
        write_line(Place { seq, durable, at: self.at }, &tasks, &self.events, out);
    }
}

/// Where and when a line stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) seq: u64,
    pub(crate) durable: u64,
    pub(crate) at: u64,
}

/// Appends a line to `out`; `events` is the inside of the JSON array.
pub(crate) fn write_line(place: Place, tasks: &[&str], events: &str, out: &mut Vec<u8>) {
    let start = out.len();
    let Place { seq, durable, at } = place;
    out.extend_from_slice(format!(r#"{{"seq":{seq},"durable":{durable},"at":{at},"tasks":["#).as_bytes());
    for (position, task) in tasks.iter().enumerate() {
        out.extend_from_slice(if position == 0 { b"\"" } else { b",\"" });
        out.extend_from_slice(task.as_bytes());
        out.push(b'"');
    }
    out.extend_from_slice(b"],\"events\":[");
    out.extend_from_slice(events.as_bytes());
    out.push(b']');
    seal(out, start);
}

/// Ends the object that began at `start` with its checksum and a newline.
pub(crate) fn seal(out: &mut Vec<u8>, start: usize) {
    let crc = crc32fast::hash(&out[start..]);
    out.extend_from_slice(format!(",\"crc\":\"{crc:08x}\"}}\n").as_bytes());
}

/// A line read back, still as it stands on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// The commit's number, without gaps from 1.
    pub seq: u64,
    /// The last commit that was durable when this one was written.
    pub durable: u64,
    /// When it was decided, in milliseconds since the epoch.
    pub at: u64,
    /// The events as a JSON array.
    pub events: &'a str,
    tasks: &'a str,
}

/// A line on its way from one thread to another.
#[derive(Debug)]
pub(crate) struct OwnedLine {
    place: Place,
    tasks: String,
    events: String,
}

impl OwnedLine {
    pub(crate) fn line(&self) -> Line<'_> {
        let Place { seq, durable, at } = self.place;
        Line { seq, durable, at, events: &self.events, tasks: &self.tasks }
    }
}

impl<'a> Line<'a> {
    pub(crate) fn keep(self) -> OwnedLine {
        let Self { seq, durable, at, events, tasks } = self;
        OwnedLine { place: Place { seq, durable, at }, tasks: tasks.into(), events: events.into() }
    }

    /// The tasks its events belong to.
    pub fn tasks(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.tasks
            .split(',')
            .filter_map(|quoted| quoted.get(1..quoted.len().saturating_sub(1)))
            .filter(|task| !task.is_empty())
    }

    /// Reads a line without its newline. `None` says that this is not what was once written.
    pub(crate) fn read(line: &'a [u8]) -> Option<Self> {
        let body = std::str::from_utf8(unseal(line)?).ok()?;
        let (seq, rest) =
            number(body.strip_prefix("{\"seq\":")?).filter(|(seq, _)| (1..SEQ_LIMIT).contains(seq))?;
        let (durable, rest) = number(rest.strip_prefix(",\"durable\":")?)?;
        let (at, rest) = number(rest.strip_prefix(",\"at\":")?)?;
        let rest = rest.strip_prefix(",\"tasks\":[")?;
        let (tasks, rest) = rest.split_once(']')?;
        let events = match rest.strip_prefix(",\"events\":") {
            Some(events) => events,
            None => rest.get(memchr::memmem::find(rest.as_bytes(), b",\"events\":[")? + 10..)?,
        };
        (events.starts_with('[') && events.ends_with(']')).then_some(Self { seq, durable, at, events, tasks })
    }
}

/// The bytes a checksum covers, if it fits them.
pub(crate) fn unseal(line: &[u8]) -> Option<&[u8]> {
    let (body, seal) = line.split_at_checked(line.len().checked_sub(SEAL)?)?;
    let hex = seal.strip_prefix(b",\"crc\":\"")?.strip_suffix(b"\"}")?;
    let mut crc = [0; 4];
    hex::decode_to_slice(hex, &mut crc).ok()?;
    // Only the spelling we write counts, or a flipped bit in the case of a digit would go unnoticed.
    let canonical = !hex.iter().any(u8::is_ascii_uppercase);
    (canonical && u32::from_be_bytes(crc) == crc32fast::hash(body)).then_some(body)
}

/// Reads the digits at the beginning of `text`.
fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit())?;
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// Names that need no escaping in JSON or in a file name.
fn is_task_name(name: &str) -> bool {
    (1..=TASK_BYTES).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENT: &str = r#"{"task":"01KA","type":"message","text":"] \"events\":["}"#;

    #[test]
    fn a_line_reads_back_as_written() {
        let draft = Draft::of(77, [EVENT, r#"{"task":"01KB","type":"x"}"#, EVENT]).unwrap();
        let mut out = Vec::new();
        draft.write(12, 11, &mut out);
        let line = Line::read(out.strip_suffix(b"\n").unwrap()).unwrap();
        assert_eq!((line.seq, line.durable, line.at), (12, 11, 77));
        assert_eq!(line.tasks().collect::<Vec<_>>(), ["01KA", "01KB"]);
        assert_eq!(line.events, format!(r#"[{EVENT},{{"task":"01KB","type":"x"}},{EVENT}]"#));
        serde_json::from_slice::<serde_json::Value>(&out).unwrap();
    }

    #[test]
    fn the_format_is_pinned() {
        let mut out = Vec::new();
        Draft::of(1763240000000, [r#"{"task":"T1","type":"x"}"#]).unwrap().write(1, 0, &mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"seq\":1,\"durable\":0,\"at\":1763240000000,\"tasks\":[\"T1\"],\
             \"events\":[{\"task\":\"T1\",\"type\":\"x\"}],\"crc\":\"1fa87d19\"}\n"
        );
    }

    #[test]
    fn fields_of_a_later_minor_version_do_not_disturb() {
        let mut out =
            br#"{"seq":3,"durable":2,"at":1,"tasks":["T"],"lane":"b","events":[{"task":"T"}]"#.to_vec();
        seal(&mut out, 0);
        let line = Line::read(out.strip_suffix(b"\n").unwrap()).unwrap();
        assert_eq!((line.seq, line.events), (3, r#"[{"task":"T"}]"#));
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let mut out = Vec::new();
        Draft::of(5, [EVENT]).unwrap().write(1, 0, &mut out);
        out.pop();
        for position in 0..out.len() * 8 {
            let mut flipped = out.clone();
            flipped[position / 8] ^= 1 << (position % 8);
            assert_eq!(Line::read(&flipped), None, "bit {position}");
        }
    }

    #[test]
    fn bad_events_are_refused_with_the_reason() {
        let reason = |event: &str| Draft::new(0).push(event).unwrap_err().to_string();
        assert!(reason("{\"type\":\"x\"}").contains("missing field `task`"));
        assert!(reason("{\"task\":\"T\"}").contains("missing field `type`"));
        assert!(reason("{\"task\":\"T\",\"type\":5}").contains("invalid type"));
        assert!(reason("{\"task\":\"T\",\"type\":\"a\",\"type\":\"b\"}").contains("duplicate field"));
        assert!(reason("{\"task\":\"T\",\"type\":\"log_pruned\"}").contains("only the log itself"));
        assert!(reason("{\"task\":\"T\",\n\"type\":\"x\"}").contains("one line"));
        assert!(reason("{\"task\":\"a b\",\"type\":\"x\"}").contains("cannot name a task"));
        assert!(reason("{\"task\":\"T\"").contains("EOF"));
        assert!(Draft::new(0).check().unwrap_err().to_string().contains("at least one event"));
    }
}
