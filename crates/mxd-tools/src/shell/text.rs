//! Output as a model reads it: what a terminal would show, without the commands to the terminal.

use super::limits::{INLINE_BYTES, PREVIEW_HEAD_BYTES, PREVIEW_TAIL_BYTES};

/// Bytes as text: escape sequences and control characters gone, of a line that was overwritten with carriage
/// returns what was written last, and U+FFFD for what is no UTF-8.
pub(crate) fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut shown = String::with_capacity(text.len());
    let mut line = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\x1b' => skip_escape(&mut chars),
            '\n' => {
                shown.push('\n');
                line = shown.len();
            }
            // Several may stand before a line feed.
            '\r' if matches!(chars.peek(), Some('\n' | '\r') | None) => {}
            '\r' => shown.truncate(line),
            '\t' => shown.push('\t'),
            _ if c.is_control() => {}
            _ => shown.push(c),
        }
    }
    shown
}

/// Skips the rest of an escape sequence, by its form: CSI, a string (OSC, DCS, …), or a single character.
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        Some('[') => {
            while chars.next_if(|c| matches!(c, '\x20'..='\x3f')).is_some() {}
            chars.next_if(|c| matches!(c, '\x40'..='\x7e'));
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            // A string that never ends takes the line, not the rest of the output.
            while let Some(c) = chars.next_if(|c| *c != '\n') {
                if c == '\x07' || (c == '\x1b' && chars.next_if_eq(&'\\').is_some()) {
                    return;
                }
            }
        }
        Some('\x20'..='\x2f') => {
            while chars.next_if(|c| matches!(c, '\x20'..='\x2f')).is_some() {}
            chars.next_if(|c| matches!(c, '\x30'..='\x7e'));
        }
        Some(_) | None => {}
    }
}

/// The beginning and the end of a text that is too long, cut at line breaks where there are some nearby.
pub(crate) struct Preview<'a> {
    pub(crate) head: &'a str,
    pub(crate) tail: &'a str,
}

/// `None` when the text is short enough to be shown whole.
pub(crate) fn preview(text: &str) -> Option<Preview<'_>> {
    (text.len() > INLINE_BYTES)
        .then(|| Preview { head: head(text, PREVIEW_HEAD_BYTES), tail: tail(text, PREVIEW_TAIL_BYTES) })
}

/// The first bytes of a text: whole lines if one ends in the second half of them.
pub(crate) fn head(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let cut = &text[..text.floor_char_boundary(bytes)];
    match cut.rfind('\n') {
        Some(end) if end >= cut.len() / 2 => &cut[..=end],
        _ => cut,
    }
}

/// The last bytes of a text: whole lines if one begins in the first half of them.
pub(crate) fn tail(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let cut = &text[text.ceil_char_boundary(text.len() - bytes)..];
    match cut.find('\n') {
        Some(end) if end < cut.len() / 2 => &cut[end + 1..],
        _ => cut,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_model_reads_what_a_terminal_shows() {
        for (bytes, shown) in [
            (&b"\x1b[1;31mred\x1b[0m text"[..], "red text"),
            (b"\x1b]0;a title\x07after", "after"),
            (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
            (b"10%\r50%\r100%\ndone", "100%\ndone"),
            (b"dos\r\nlines\r\n", "dos\nlines\n"),
            (b"over\r\r\n", "over\n"),
            (b"a\tb\x00\x08c", "a\tbc"),
            (b"\xff\xfe", "\u{fffd}\u{fffd}"),
            (b"\x1b(Bset", "set"),
            (b"\x1bPnever ends\nnext", "\nnext"),
            (b"cut\x1b[3", "cut"),
            (b"cut\x1b", "cut"),
        ] {
            assert_eq!(plain(bytes), shown, "{bytes:?}");
        }
    }

    #[test]
    fn a_preview_ends_and_begins_with_whole_lines() {
        let text: String = (0..2_000).map(|line| format!("line {line}\n")).collect();
        let preview = preview(&text).unwrap();
        assert!(preview.head.starts_with("line 0\n") && preview.head.ends_with('\n'));
        assert!(preview.tail.starts_with("line ") && preview.tail.ends_with("line 1999\n"));
    }

    proptest! {
        #[test]
        fn no_bytes_break_it(bytes: Vec<u8>) {
            let shown = plain(&bytes);
            prop_assert!(!shown.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
        }

        #[test]
        fn cuts_are_cuts(text: String, bytes in 0_usize..64) {
            let (head, tail) = (head(&text, bytes), tail(&text, bytes));
            prop_assert!(head.len() <= bytes.max(text.len().min(bytes)) && text.starts_with(head));
            prop_assert!(tail.len() <= bytes && text.ends_with(tail));
        }
    }
}
