//! Replacing text, and knowing afterwards where it was.

use std::ops::Range;

use memchr::memmem;

use super::Edit;
use super::document::Document;

/// How many places are named when a text is not unique.
const PLACES: usize = 10;

/// A document that is being edited.
#[derive(Debug)]
pub(super) struct Replacement<'a> {
    document: &'a mut Document,
    ends: LineEnds,
    spans: Vec<Range<usize>>,
    times: usize,
    converted: bool,
}

/// How the lines of a document end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEnds {
    Lf,
    Crlf,
    Mixed,
}

/// Why an edit does not fit.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mismatch {
    NotFound,
    Several { count: usize, lines: String },
}

impl<'a> Replacement<'a> {
    pub(super) fn new(document: &'a mut Document) -> Self {
        let ends = LineEnds::of(&document.text);
        Self { document, ends, spans: Vec::new(), times: 0, converted: false }
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.document.text
    }

    /// Where something was replaced, in the text as it is now.
    pub(super) fn spans(&self) -> &[Range<usize>] {
        &self.spans
    }

    pub(super) fn times(&self) -> usize {
        self.times
    }

    /// Whether line ends of an edit had to be made like those of the document.
    pub(super) fn converted(&self) -> bool {
        self.converted
    }

    pub(super) fn apply(&mut self, edit: &Edit) -> Result<(), Mismatch> {
        let (old, new) = (edit.old_string.as_str(), edit.new_string.as_str());
        let as_given = || (old.to_owned(), new.to_owned());
        let (mut old_text, mut new_text) = match self.ends {
            LineEnds::Lf | LineEnds::Mixed => as_given(),
            LineEnds::Crlf => (with_crlf(old), with_crlf(new)),
        };
        let mut at = self.find(&old_text);
        if at.is_empty() && self.ends == LineEnds::Mixed {
            (old_text, new_text) = (with_crlf(old), with_crlf(new));
            at = self.find(&old_text);
        }
        match at.as_slice() {
            [] => return Err(Mismatch::NotFound),
            [_] => {}
            _ if edit.replace_all => {}
            _ => return Err(Mismatch::Several { count: at.len(), lines: self.lines_of(&at) }),
        }
        self.converted |= old_text != old || new_text != new;
        self.replace(&at, old_text.len(), new_text.as_bytes());
        Ok(())
    }

    fn find(&self, old: &str) -> Vec<usize> {
        memmem::find_iter(self.text(), old).collect()
    }

    /// Puts `new` in the place of `length` bytes at each of `at`.
    fn replace(&mut self, at: &[usize], length: usize, new: &[u8]) {
        let text = &self.document.text;
        let moved = |position: usize| {
            let before = at.partition_point(|start| start + length <= position);
            position - before * length + before * new.len()
        };
        let mut spans: Vec<_> = self.spans.iter().map(|span| moved(span.start)..moved(span.end)).collect();
        let mut result = Vec::with_capacity(moved(text.len()));
        let mut copied = 0;
        for start in at {
            result.extend_from_slice(&text[copied..*start]);
            spans.push(result.len()..result.len() + new.len());
            result.extend_from_slice(new);
            copied = start + length;
        }
        result.extend_from_slice(&text[copied..]);
        self.spans = spans;
        self.times += at.len();
        self.document.text = result;
    }

    fn lines_of(&self, at: &[usize]) -> String {
        let mut lines = Vec::new();
        let (mut number, mut counted) = (1, 0);
        for start in at.iter().take(PLACES) {
            number += memchr::memchr_iter(b'\n', &self.text()[counted..*start]).count();
            counted = *start;
            lines.push(number.to_string());
        }
        let more = if at.len() > PLACES { ", …" } else { "" };
        format!("lines {}{more}", lines.join(", "))
    }
}

impl LineEnds {
    fn of(text: &[u8]) -> Self {
        let all = memchr::memchr_iter(b'\n', text).count();
        let crlf = memmem::find_iter(text, b"\r\n").count();
        match crlf {
            0 => Self::Lf,
            _ if crlf == all => Self::Crlf,
            _ => Self::Mixed,
        }
    }
}

fn with_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(old: &str, new: &str) -> Edit {
        Edit { old_string: old.to_owned(), new_string: new.to_owned(), replace_all: true }
    }

    fn spans_after(text: &str, edits: &[Edit]) -> Vec<String> {
        let mut document = Document::read(text.as_bytes()).unwrap();
        let mut replacement = Replacement::new(&mut document);
        for edit in edits {
            replacement.apply(edit).unwrap();
        }
        let cut =
            |span: &Range<usize>| String::from_utf8_lossy(&replacement.text()[span.clone()]).into_owned();
        replacement.spans().iter().map(cut).collect()
    }

    #[test]
    fn places_move_with_later_edits() {
        let edits = [edit("b", "BBB"), edit("a", ""), edit("c", "CC")];
        assert_eq!(spans_after("a b a b c", &edits), ["BBB", "BBB", "", "", "CC"]);
        assert_eq!(spans_after("one two", &[edit("one", "1"), edit("1 two", "done")]).len(), 2);
    }

    #[test]
    fn line_ends_are_recognised() {
        let of = |text: &str| LineEnds::of(text.as_bytes());
        assert_eq!(
            [of(""), of("a\nb"), of("a\r\nb\r\n"), of("a\r\nb\n")],
            [LineEnds::Lf, LineEnds::Lf, LineEnds::Crlf, LineEnds::Mixed]
        );
    }
}
