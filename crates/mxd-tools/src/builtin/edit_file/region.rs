//! The changed places of a text, with line numbers and a few lines around.

use std::fmt::Write as _;
use std::ops::Range;

use crate::builtin::content::whole_characters;

/// How many lines are shown around a change.
const AROUND: usize = 2;

/// How many lines are shown at most.
const MAX_LINES: usize = 60;

/// How much of a line is shown at most, in bytes.
const MAX_LINE: usize = 300;

/// The lines of these spans and those around them.
pub(super) fn show(text: &[u8], spans: &[Range<usize>]) -> String {
    let starts: Vec<usize> =
        std::iter::once(0).chain(memchr::memchr_iter(b'\n', text).map(|end| end + 1)).collect();
    // After a last line end there is no line.
    let count = if text.is_empty() || text.ends_with(b"\n") { starts.len() - 1 } else { starts.len() };
    let line_of = |position: usize| starts.partition_point(|start| *start <= position) - 1;
    let regions = spans.iter().map(|span| {
        let last = line_of(span.end.saturating_sub(1).max(span.start));
        line_of(span.start).saturating_sub(AROUND)..(last + AROUND + 1).min(count)
    });
    let mut shown = String::new();
    let mut lines = 0;
    let mut last_end = None;
    for region in merged(regions.collect()) {
        if last_end.is_some() {
            shown.push_str("   ...\n");
        }
        last_end = Some(region.end);
        for index in region {
            if lines == MAX_LINES {
                shown.push_str("[more lines changed than are shown; read_file shows them]\n");
                return shown;
            }
            lines += 1;
            let end = starts.get(index + 1).map_or(text.len(), |next| next - 1);
            let line = &text[starts[index]..end];
            let _never_fails = writeln!(shown, "{:>6}\t{}", index + 1, shortened(line));
        }
    }
    shown
}

/// A line, cut where it is too long.
pub(super) fn shortened(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= MAX_LINE {
        return String::from_utf8_lossy(line).into_owned();
    }
    format!("{}…", String::from_utf8_lossy(whole_characters(&line[..MAX_LINE])))
}

/// Overlapping and touching ranges as one, in order.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;

    #[test]
    fn changes_are_shown_with_the_lines_around_them() {
        let text = b"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12";
        assert_eq!(show(text, from_ref(&(0..1))), "     1\t1\n     2\t2\n     3\t3\n");
        let both = show(text, &[25..27, 4..5]);
        assert!(
            both.starts_with("     1\t1\n") && both.contains("     5\t5\n   ...\n    10\t10\n"),
            "{both}"
        );
        assert!(both.ends_with("    12\t12\n"), "{both}");
    }

    #[test]
    fn a_text_that_became_empty_shows_nothing() {
        assert_eq!(show(b"", from_ref(&(0..0))), "");
        assert_eq!(show(b"a\n", from_ref(&(2..2))), "     1\ta\n");
    }
}
