//! Text in rows. What counts is how wide it is on a terminal, and not how many characters it has.

use mxd_core::tool::is_hidden;
use ratatui::style::Style;
use ratatui::text::Span;

/// What all rows of a line but the first begin with.
const BACK: &str = "  ";
/// Stands for what was left out.
const MORE: &str = "…";

/// How many cells a text takes.
pub(super) fn width_of(text: &str) -> usize {
    letters(text).iter().map(|(_, width)| width).sum()
}

/// The letters of a text as the screen has them, each with the cells it takes.
fn letters(text: &str) -> Vec<(String, usize)> {
    let span = Span::raw(text);
    let letters = span.styled_graphemes(Style::new());
    letters.map(|letter| (letter.symbol.to_owned(), Span::raw(letter.symbol).width())).collect()
}

/// A text without anything that a terminal would follow or not show: a sign stands for each of them.
pub(super) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\0'..='\x1f' => shown.extend(char::from_u32(0x2400 + u32::from(c))),
            '\x7f' => shown.push('␡'),
            _ if c.is_control() || is_hidden(c) => shown.extend(c.escape_unicode()),
            _ => shown.push(c),
        }
    }
    shown
}

/// Rows that are being filled.
struct Rows {
    rows: Vec<String>,
    width: usize,
    back: &'static str,
    /// The cells of the last row that are taken.
    taken: usize,
    /// Whether the last row has nothing of the text yet.
    is_new: bool,
}

impl Rows {
    fn new(width: usize, back: &'static str) -> Self {
        Self { rows: vec![String::new()], width, back, taken: 0, is_new: true }
    }

    fn begin(&mut self) {
        self.rows.push(self.back.to_owned());
        self.taken = self.back.len();
        self.is_new = true;
    }

    fn has_room(&self, width: usize) -> bool {
        // A letter that fits nowhere stands where a row begins.
        self.is_new || self.taken + width <= self.width
    }

    fn put(&mut self, letter: &str, width: usize) {
        if let Some(row) = self.rows.last_mut() {
            row.push_str(letter);
        }
        self.taken += width;
        self.is_new = false;
    }
}

/// A line in rows of this width, broken between words where there are some; all but the first stand back a little.
pub(super) fn wrapped(line: &str, width: usize) -> Vec<String> {
    // A wide letter must have room behind the blanks.
    let back = if width < 2 * BACK.len() { "" } else { BACK };
    let mut rows = Rows::new(width, back);
    for word in line.replace('\t', "    ").split_inclusive(' ') {
        if !rows.has_room(width_of(word.trim_end())) {
            rows.begin();
        }
        for (letter, width) in letters(word) {
            if rows.has_room(width) {
                rows.put(&letter, width);
            } else if letter != " " {
                // Nobody misses a blank at the end of a row.
                rows.begin();
                rows.put(&letter, width);
            }
        }
    }
    rows.rows
}

/// A line in full rows of this width, with each of its blanks.
pub(super) fn filled(line: &str, width: usize) -> Vec<String> {
    let mut rows = Rows::new(width, "");
    for (letter, width) in letters(line) {
        if !rows.has_room(width) {
            rows.begin();
        }
        rows.put(&letter, width);
    }
    rows.rows
}

/// As much of the start of a text as fits.
pub(super) fn start_of(text: &str, width: usize) -> String {
    if width_of(text) <= width {
        return text.to_owned();
    }
    let kept = fitting(letters(text).into_iter(), width.saturating_sub(1));
    kept.into_iter().chain([MORE.to_owned()]).collect()
}

/// As much of the end of a text as fits.
pub(super) fn end_of(text: &str, width: usize) -> String {
    if width_of(text) <= width {
        return text.to_owned();
    }
    let kept = fitting(letters(text).into_iter().rev(), width.saturating_sub(1));
    [MORE.to_owned()].into_iter().chain(kept.into_iter().rev()).collect()
}

fn fitting(letters: impl Iterator<Item = (String, usize)>, width: usize) -> Vec<String> {
    let mut taken = 0;
    let fits = letters.take_while(|(_, width_of_letter)| {
        taken += width_of_letter;
        taken <= width
    });
    fits.map(|(letter, _)| letter).collect()
}

#[cfg(test)]
mod tests {
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;
    use ratatui::text::Line;
    use ratatui::widgets::{Paragraph, Widget as _};

    use super::*;

    const LINE: &str = "a-very-long-word then  some of them, wide: 日本語日本語日本語 and 😀👨\u{200d}👩\u{200d}👧 cafe\u{301} too";

    fn words(text: &str) -> String {
        text.chars().filter(|c| *c != ' ').collect()
    }

    #[test]
    fn lines_are_broken_between_words_and_lose_nothing() {
        assert_eq!(wrapped("short", 10), ["short"]);
        assert_eq!(wrapped("one two three", 8), ["one two ", "  three"]);
        assert_eq!(wrapped("abcdefghij", 4), ["abcd", "  ef", "  gh", "  ij"]);
        assert_eq!(filled("one  two", 4), ["one ", " two"]);
        for width in 2..60 {
            for rows in [wrapped(LINE, width), filled(LINE, width)] {
                assert_eq!(words(&rows.concat()), words(LINE), "{width}");
                assert!(rows.iter().all(|row| width_of(row) <= width), "{width}: {rows:?}");
                assert_eq!(words(&drawn(&rows, width)), words(LINE), "{width}");
            }
        }
    }

    /// What a screen of this width shows of the rows.
    fn drawn(rows: &[String], width: usize) -> String {
        let area = Rect::new(0, 0, width.try_into().unwrap(), rows.len().try_into().unwrap());
        let mut screen = Buffer::empty(area);
        let lines: Vec<Line<'_>> = rows.iter().map(|row| Line::from(row.as_str())).collect();
        Paragraph::new(lines).render(area, &mut screen);
        screen.content().iter().map(ratatui::buffer::Cell::symbol).collect()
    }

    #[test]
    fn a_text_that_does_not_fit_keeps_its_start_or_its_end() {
        assert_eq!((start_of("日本", 4), end_of("日本", 4)), ("日本".to_owned(), "日本".to_owned()));
        assert_eq!((start_of("日本語", 5), end_of("日本語", 5)), ("日本…".to_owned(), "…本語".to_owned()));
        for width in 1..40 {
            assert!(width_of(&start_of(LINE, width)) <= width, "{width}");
            assert!(width_of(&end_of(LINE, width)) <= width, "{width}");
        }
    }

    #[test]
    fn nothing_is_hidden_from_whoever_looks() {
        assert_eq!(visible("a\tb\r\u{1b}[2J\u{7f}"), "a␉b␍␛[2J␡");
        assert_eq!(visible("x\u{202e}y\u{200b}\u{9b}"), r"x\u{202e}y\u{200b}\u{9b}");
    }
}
