//! Streams of events, however their bytes are cut.

use super::super::error::Cause;

/// An event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Event {
    /// What it is; `message` when nothing is said.
    pub(super) name: String,
    /// What it says.
    pub(super) data: String,
}

/// Reads a stream of events.
#[derive(Debug)]
pub(super) struct Events {
    limit: usize,
    line: Vec<u8>,
    /// The last byte was a carriage return, so a line feed is part of that line's end.
    after_return: bool,
    event: Event,
    has_data: bool,
    /// The last event that can be resumed behind.
    pub(super) last_id: Option<String>,
    /// How long the server wants us to wait before resuming, in milliseconds.
    pub(super) retry: Option<u64>,
}

impl Events {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            after_return: false,
            event: Event::default(),
            has_data: false,
            last_id: None,
            retry: None,
        }
    }

    /// Takes bytes and returns the events that are complete with them.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, Cause> {
        let mut events = Vec::new();
        let mut rest = bytes;
        if std::mem::take(&mut self.after_return) {
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', rest) {
            self.extend(&rest[..end])?;
            let line = std::mem::take(&mut self.line);
            events.extend(self.line(&line)?);
            let is_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            if is_return {
                match rest.first() {
                    Some(b'\n') => rest = &rest[1..],
                    Some(_) => {}
                    None => self.after_return = true,
                }
            }
        }
        self.extend(rest)?;
        Ok(events)
    }

    fn extend(&mut self, bytes: &[u8]) -> Result<(), Cause> {
        if self.line.len() + self.event.data.len() + bytes.len() > self.limit {
            return Err(Cause::MessageTooLong { limit: self.limit });
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn line(&mut self, line: &[u8]) -> Result<Option<Event>, Cause> {
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return Ok(std::mem::take(&mut self.has_data).then_some(event));
        }
        let text = str::from_utf8(line).map_err(|_| Cause::BadStream("it is no UTF-8".to_owned()))?;
        let (field, value) = text.split_once(':').unwrap_or((text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.has_data = true;
                self.event.data.push_str(value);
            }
            "id" if !value.contains('\0') && value.len() <= ID_BYTES => self.last_id = Some(value.to_owned()),
            "retry" => self.retry = value.parse().ok(),
            _ => {}
        }
        Ok(None)
    }
}

/// Bytes of the name of an event.
const ID_BYTES: usize = 1_024;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STREAM: &str = ": hello\nid: 7\nevent: message\ndata: {\"a\":\ndata: 1}\n\ndata: é\r\n\r\nid: 8\rdata:x\r\rretry: 50\n\n";

    fn read(pieces: &[&[u8]]) -> (Vec<Event>, Option<String>, Option<u64>) {
        let mut events = Events::new(1_000);
        let read = pieces.iter().flat_map(|piece| events.push(piece).unwrap()).collect();
        (read, events.last_id, events.retry)
    }

    #[test]
    fn events_are_read() {
        let (events, last_id, retry) = read(&[STREAM.as_bytes()]);
        let data: Vec<&str> = events.iter().map(|event| event.data.as_str()).collect();
        assert_eq!(data, ["{\"a\":\n1}", "é", "x"]);
        assert_eq!((last_id.as_deref(), retry), (Some("8"), Some(50)));
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut events = Events::new(100);
        assert_eq!(events.push(&[b'x'; 101]).unwrap_err(), Cause::MessageTooLong { limit: 100 });
        let mut events = Events::new(100);
        let many = (0..20).find_map(|_| events.push(b"data: 1234567890\n").err());
        assert_eq!(many, Some(Cause::MessageTooLong { limit: 100 }));
    }

    proptest! {
        #[test]
        fn cuts_change_nothing(cuts in prop::collection::vec(0..STREAM.len(), 0..8)) {
            let mut cuts = cuts;
            cuts.extend([0, STREAM.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|two| &STREAM.as_bytes()[two[0]..two[1]]).collect();
            prop_assert_eq!(read(&pieces), read(&[STREAM.as_bytes()]));
        }
    }
}
