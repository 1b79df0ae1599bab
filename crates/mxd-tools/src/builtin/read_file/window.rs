//! Some lines of a stream, with constant memory however long the stream and its lines are.

use std::fmt::Write as _;
use std::io::{self, BufRead};

use crate::builtin::content::whole_characters;

/// The most text that is shown, in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// The most of one line that is shown, in bytes.
const MAX_LINE: usize = 2_000;

/// Which lines to show.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// The first one, counted from 1.
    pub(super) first: u64,
    /// How many.
    pub(super) lines: u64,
}

/// The lines of a window.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) text: String,
    pub(super) end: End,
    /// Whether a line ended with CRLF.
    pub(super) crlf: bool,
    /// Whether something was not UTF-8.
    pub(super) lossy: bool,
}

/// Where a window ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// With the file, which has this many lines.
    File { lines: u64, last_line_ends: bool },
    /// Before this line.
    Cut { next: u64 },
}

impl Window {
    pub(super) fn show(self, mut reader: impl BufRead) -> io::Result<Shown> {
        let mut shown =
            Shown { text: String::new(), end: End::Cut { next: self.first }, crlf: false, lossy: false };
        let mut number = match skip(&mut reader, self.first - 1)? {
            Skipped::All => self.first,
            Skipped::ReachedEnd(end) => return Ok(Shown { end, ..shown }),
        };
        let mut line = Vec::new();
        let mut last_line_ends = true;
        loop {
            if reader.fill_buf()?.is_empty() {
                shown.end = End::File { lines: number - 1, last_line_ends };
                return Ok(shown);
            }
            if number - self.first >= self.lines || shown.text.len() + MAX_LINE > MAX_BYTES {
                shown.end = End::Cut { next: number };
                return Ok(shown);
            }
            let length = read_line(&mut reader, &mut line)?;
            last_line_ends = length.ends;
            shown.push(number, &line, length);
            number += 1;
        }
    }
}

impl Shown {
    fn push(&mut self, number: u64, line: &[u8], length: Length) {
        let cut = length.bytes > line.len() as u64;
        let mut line = line;
        if cut {
            line = whole_characters(line);
        } else if let (true, Some(without)) = (length.ends, line.strip_suffix(b"\r")) {
            self.crlf = true;
            line = without;
        }
        self.lossy |= std::str::from_utf8(line).is_err();
        // A zero byte stops some programs from reading on.
        let text = String::from_utf8_lossy(line).replace('\0', "\u{2400}");
        let _never_fails = write!(self.text, "{number:>6}\t{text}");
        if cut {
            let _never_fails = write!(self.text, "… [line cut: {} of {} bytes]", line.len(), length.bytes);
        }
        self.text.push('\n');
    }
}

/// How long a line really is.
#[derive(Debug, Clone, Copy)]
struct Length {
    bytes: u64,
    /// Whether a line end follows.
    ends: bool,
}

/// Reads a line into `kept`, of which no more is kept than can be shown.
fn read_line(reader: &mut impl BufRead, kept: &mut Vec<u8>) -> io::Result<Length> {
    kept.clear();
    let mut bytes = 0;
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(Length { bytes, ends: false });
        }
        let end = memchr::memchr(b'\n', buffer);
        let part = &buffer[..end.unwrap_or(buffer.len())];
        kept.extend_from_slice(&part[..part.len().min(MAX_LINE - kept.len())]);
        bytes += part.len() as u64;
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            return Ok(Length { bytes, ends: true });
        }
    }
}

enum Skipped {
    All,
    ReachedEnd(End),
}

/// Passes over this many lines.
fn skip(reader: &mut impl BufRead, lines: u64) -> io::Result<Skipped> {
    let mut passed = 0;
    let mut last_line_ends = true;
    while passed < lines {
        let buffer = reader.fill_buf()?;
        let Some(last) = buffer.last() else {
            let lines = passed + u64::from(!last_line_ends);
            return Ok(Skipped::ReachedEnd(End::File { lines, last_line_ends }));
        };
        last_line_ends = *last == b'\n';
        let missing = usize::try_from(lines - passed).unwrap_or(usize::MAX);
        let mut ends = memchr::memchr_iter(b'\n', buffer);
        let here = ends.clone().count();
        let used = match ends.nth(missing - 1) {
            Some(end) => end + 1,
            None => buffer.len(),
        };
        passed += here.min(missing) as u64;
        reader.consume(used);
    }
    Ok(Skipped::All)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn show(text: &[u8], first: u64, lines: u64, buffer: usize) -> Shown {
        Window { first, lines }.show(BufReader::with_capacity(buffer, text)).unwrap()
    }

    #[test]
    fn a_window_is_the_same_however_the_bytes_arrive() {
        let text = b"one\ntwo\r\n\nfour";
        for buffer in [1, 2, 3, 7, 100] {
            let shown = show(text, 2, 2, buffer);
            assert_eq!(shown.text, "     2\ttwo\n     3\t\n", "{buffer}");
            assert_eq!((shown.end, shown.crlf), (End::Cut { next: 4 }, true));
            let shown = show(text, 4, 9, buffer);
            assert_eq!(shown.text, "     4\tfour\n");
            assert_eq!(shown.end, End::File { lines: 4, last_line_ends: false });
        }
    }

    #[test]
    fn the_end_is_found_when_the_window_is_beyond_it() {
        for (text, lines) in [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n\n", 2)] {
            for buffer in [1, 100] {
                let End::File { lines: found, .. } = show(text.as_bytes(), 9, 1, buffer).end else {
                    panic!("{text:?} has no ninth line");
                };
                assert_eq!(found, lines, "{text:?}");
            }
        }
    }

    #[test]
    fn long_lines_and_long_texts_are_cut() {
        let text = format!("{}\nshort\n", "é".repeat(5_000));
        let shown = show(text.as_bytes(), 1, 9, 64);
        let expected =
            format!("     1\t{}… [line cut: 2000 of 10000 bytes]\n     2\tshort\n", "é".repeat(1_000));
        assert_eq!(shown.text, expected);
        let shown = show(&b"0123456789\n".repeat(10_000), 1, 100_000, 4096);
        assert!(matches!(shown.end, End::Cut { next } if next > 3_000), "{:?}", shown.end);
        assert!(shown.text.len() <= MAX_BYTES);
    }
}
