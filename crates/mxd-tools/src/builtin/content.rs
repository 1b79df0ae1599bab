//! What bytes are: a picture, text in some encoding, or neither.

/// How much of a file is looked at to tell, in bytes.
pub(super) const HEAD: usize = 8 * 1024;

/// What a file contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A picture that models can look at, with its media type.
    Picture(&'static str),
    Text(Encoding),
    /// Neither, with what it probably is.
    Binary(&'static str),
}

/// How text is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf8WithMark,
    Utf16Little,
    Utf16Big,
}

impl Encoding {
    /// The bytes that announce it.
    pub(super) fn mark(self) -> &'static [u8] {
        match self {
            Self::Utf8 => b"",
            Self::Utf8WithMark => b"\xef\xbb\xbf",
            Self::Utf16Little => b"\xff\xfe",
            Self::Utf16Big => b"\xfe\xff",
        }
    }

    /// Its name, when it is worth a word.
    pub(super) fn note(self) -> Option<&'static str> {
        match self {
            Self::Utf8 => None,
            Self::Utf8WithMark => Some("UTF-8 with a byte order mark"),
            Self::Utf16Little => Some("UTF-16 LE"),
            Self::Utf16Big => Some("UTF-16 BE"),
        }
    }

    /// Two bytes of UTF-16 as a number.
    pub(super) fn unit(self, pair: [u8; 2]) -> u16 {
        if self == Self::Utf16Big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
    }

    /// The opposite of [`Self::unit`].
    pub(super) fn pair(self, unit: u16) -> [u8; 2] {
        if self == Self::Utf16Big { unit.to_be_bytes() } else { unit.to_le_bytes() }
    }
}

/// How pictures begin.
const PICTURES: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
];

/// How other things begin.
const BINARIES: &[(&[u8], &str)] = &[
    (b"\x7fELF", "a program or library, ELF"),
    (b"\xcf\xfa\xed\xfe", "a program or library, Mach-O"),
    (b"MZ", "a program or library, PE"),
    (b"\0asm", "WebAssembly"),
    (b"\xca\xfe\xba\xbe", "a Java class"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\xfd7zXZ\0", "xz"),
    (b"BZh", "bzip2"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"%PDF-", "a PDF"),
];

impl Kind {
    /// What a file is that begins like this.
    pub(super) fn of(head: &[u8]) -> Self {
        let begins = |(magic, _): &&(&[u8], &'static str)| head.starts_with(magic);
        if let Some((_, media_type)) = PICTURES.iter().find(begins) {
            return Self::Picture(media_type);
        }
        if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
            return Self::Picture("image/webp");
        }
        let marked = [Encoding::Utf8WithMark, Encoding::Utf16Little, Encoding::Utf16Big];
        if let Some(encoding) = marked.into_iter().find(|encoding| head.starts_with(encoding.mark())) {
            return Self::Text(encoding);
        }
        let known = BINARIES.iter().find(begins).map(|(_, name)| *name);
        let has_zero = memchr::memchr(0, head).is_some();
        match known {
            Some(name) if has_zero || name == "a PDF" => Self::Binary(name),
            None if head.get(257..262) == Some(b"ustar") => Self::Binary("a tar archive"),
            _ if has_zero => Self::Binary("of an unknown kind"),
            _ => Self::Text(Encoding::Utf8),
        }
    }
}

/// How many lines a text has. What follows the last line end is a line too, unless it is empty.
pub(super) fn count_lines(text: &[u8]) -> usize {
    let ends = memchr::memchr_iter(b'\n', text).count();
    if text.is_empty() || text.ends_with(b"\n") { ends } else { ends + 1 }
}

/// `1 line`, `2 lines`.
pub(super) fn counted(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// The longest front of some bytes that does not end inside of a character.
pub(super) fn whole_characters(bytes: &[u8]) -> &[u8] {
    for back in 1..=bytes.len().min(3) {
        let needed = match bytes[bytes.len() - back] {
            0x80..=0xbf => continue,
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xff => 4,
            _ => 1,
        };
        return if needed > back { &bytes[..bytes.len() - back] } else { bytes };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_say_what_they_are() {
        let tar = [b"a".repeat(257), b"ustar".to_vec()].concat();
        let cases: [(&[u8], Kind); 12] = [
            (b"", Kind::Text(Encoding::Utf8)),
            (b"plain", Kind::Text(Encoding::Utf8)),
            (b"\xff\xfeh\0", Kind::Text(Encoding::Utf16Little)),
            (b"\xfe\xff\0h", Kind::Text(Encoding::Utf16Big)),
            (b"\xef\xbb\xbfh", Kind::Text(Encoding::Utf8WithMark)),
            (b"\x89PNG\r\n\x1a\nrest", Kind::Picture("image/png")),
            (b"RIFF\0\0\0\0WEBP", Kind::Picture("image/webp")),
            (b"\x7fELF\0", Kind::Binary("a program or library, ELF")),
            (b"MZ is how this sentence begins", Kind::Text(Encoding::Utf8)),
            (b"%PDF-1.7", Kind::Binary("a PDF")),
            (b"a\0b", Kind::Binary("of an unknown kind")),
            (&tar, Kind::Binary("a tar archive")),
        ];
        for (head, kind) in cases {
            assert_eq!(Kind::of(head), kind, "{head:?}");
        }
    }

    #[test]
    fn a_cut_never_shows_half_a_character() {
        let text = "aé漢🦀".as_bytes();
        for end in 0..=text.len() {
            let whole = whole_characters(&text[..end]);
            assert!(std::str::from_utf8(whole).is_ok() && end - whole.len() < 4, "{end}");
        }
        assert_eq!(whole_characters(b"\xff\xff a\xc3"), b"\xff\xff a");
        assert_eq!(whole_characters(b"\xff\xff a"), b"\xff\xff a");
    }

    #[test]
    fn lines_are_counted_with_and_without_a_last_line_end() {
        assert_eq!([b"".as_slice(), b"a", b"a\n", b"a\nb", b"\n"].map(count_lines), [0, 1, 1, 2, 1]);
    }
}
