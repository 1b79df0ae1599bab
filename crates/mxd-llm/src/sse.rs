//! Server-sent events: bytes in, events out.
//!
//! A push decoder that looks at every byte once, whatever the chunks are: an unfinished line is kept and only
//! what is new is searched for its end. Line ends are LF, CR or CRLF, as the standard says, also when a chunk
//! ends between CR and LF.

use memchr::memchr2;

/// One event of a stream. Its name is passed over: every wire says in the data what the event is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// Its `data:` lines, joined by line feeds.
    pub data: String,
}

/// An event grew beyond the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is over the limit of {limit} bytes")]
pub struct TooLarge {
    /// The limit.
    pub limit: usize,
}

/// The state between two chunks.
#[derive(Debug)]
pub struct SseDecoder {
    limit: usize,
    line: Vec<u8>,
    data: String,
    has_data: bool,
    after_cr: bool,
    at_start: bool,
}

impl SseDecoder {
    /// A decoder that refuses events of more than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            data: String::new(),
            has_data: false,
            after_cr: false,
            at_start: true,
        }
    }

    /// Takes the next bytes and appends the events they complete.
    ///
    /// An event without a blank line after it is not complete; at the end of a stream it is dropped.
    pub fn push(&mut self, mut bytes: &[u8], events: &mut Vec<SseEvent>) -> Result<(), TooLarge> {
        while !bytes.is_empty() {
            if self.after_cr {
                self.after_cr = false;
                if bytes[0] == b'\n' {
                    bytes = &bytes[1..];
                    continue;
                }
            }
            let Some(end) = memchr2(b'\n', b'\r', bytes) else {
                self.check(bytes.len())?;
                self.line.extend_from_slice(bytes);
                return Ok(());
            };
            self.after_cr = bytes[end] == b'\r';
            self.check(end)?;
            if self.line.is_empty() {
                self.take_line(&bytes[..end], events);
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(&bytes[..end]);
                self.take_line(&line, events);
                line.clear();
                self.line = line;
            }
            bytes = &bytes[end + 1..];
        }
        Ok(())
    }

    fn check(&self, more: usize) -> Result<(), TooLarge> {
        if self.line.len() + self.data.len() + more > self.limit {
            return Err(TooLarge { limit: self.limit });
        }
        Ok(())
    }

    fn take_line(&mut self, line: &[u8], events: &mut Vec<SseEvent>) {
        const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
        let at_start = std::mem::replace(&mut self.at_start, false);
        let line = if at_start { line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line) } else { line };
        if line.is_empty() {
            self.dispatch(events);
            return;
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        // Names are told again in the data; comments, ids and reconnection times mean nothing for an answer that
        // cannot be resumed.
        if field == b"data" {
            if self.has_data {
                self.data.push('\n');
            }
            self.has_data = true;
            self.data.push_str(&String::from_utf8_lossy(value));
        }
    }

    fn dispatch(&mut self, events: &mut Vec<SseEvent>) {
        if std::mem::replace(&mut self.has_data, false) {
            events.push(SseEvent { data: std::mem::take(&mut self.data) });
        }
    }
}
