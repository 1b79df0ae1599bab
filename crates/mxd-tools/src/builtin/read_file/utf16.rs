//! UTF-16 as a stream of UTF-8.

use std::io::{self, Read};

use crate::builtin::content::Encoding;

/// How many bytes of UTF-16 are decoded at a time.
const STEP: usize = 8 * 1024;

/// Reads UTF-16 and delivers UTF-8. What is not valid becomes U+FFFD.
pub(super) struct Utf16<R> {
    inner: R,
    encoding: Encoding,
    /// Bytes that do not make a character yet.
    rest: Vec<u8>,
    decoded: Vec<u8>,
    delivered: usize,
}

impl<R: Read> Utf16<R> {
    pub(super) fn new(inner: R, encoding: Encoding) -> Self {
        Self { inner, encoding, rest: Vec::new(), decoded: Vec::new(), delivered: 0 }
    }

    fn refill(&mut self) -> io::Result<()> {
        let mut bytes = std::mem::take(&mut self.rest);
        let read = (&mut self.inner).take(STEP as u64).read_to_end(&mut bytes)?;
        let mut units: Vec<u16> =
            bytes.as_chunks::<2>().0.iter().map(|pair| self.encoding.unit(*pair)).collect();
        let mut whole = units.len() * 2;
        let half_pair = units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit));
        if half_pair && read > 0 {
            units.pop();
            whole -= 2;
        }
        self.decoded.clear();
        self.delivered = 0;
        let mut buffer = [0; 4];
        for character in char::decode_utf16(units) {
            let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
            self.decoded.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
        }
        if read > 0 {
            self.rest = bytes.split_off(whole);
        } else if whole < bytes.len() {
            self.decoded.extend_from_slice("\u{fffd}".as_bytes());
        }
        Ok(())
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.delivered == self.decoded.len() {
            self.refill()?;
        }
        // A lone first half of a pair decodes to nothing yet, which is not the end.
        if self.decoded.is_empty() && !self.rest.is_empty() {
            self.refill()?;
        }
        let mut left = &self.decoded[self.delivered..];
        let read = left.read(buffer)?;
        self.delivered += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8], encoding: Encoding) -> String {
        let mut text = String::new();
        Utf16::new(bytes, encoding).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn any_text_comes_through_in_both_orders() {
        // Longer than a step, and with pairs on every side of its border.
        for shift in 0..3 {
            let text = format!("{}{}", "x".repeat(shift), "a🦀é".repeat(3_000));
            for encoding in [Encoding::Utf16Little, Encoding::Utf16Big] {
                let bytes: Vec<u8> = text.encode_utf16().flat_map(|unit| encoding.pair(unit)).collect();
                assert_eq!(decoded(&bytes, encoding), text);
            }
        }
    }

    #[test]
    fn what_is_not_valid_is_marked() {
        assert_eq!(decoded(b"a\0b", Encoding::Utf16Little), "a\u{fffd}");
        assert_eq!(decoded(b"\x00\xd8", Encoding::Utf16Little), "\u{fffd}");
        assert_eq!(decoded(b"\x00\xd8a\0", Encoding::Utf16Little), "\u{fffd}a");
        assert_eq!(decoded(b"", Encoding::Utf16Little), "");
    }
}
