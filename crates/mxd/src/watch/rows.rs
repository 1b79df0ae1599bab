//! Text in rows. What counts is how wide it is on a terminal, and not how many characters it has.

use ratatui::style::Style;
use ratatui::text::Span;

/// What all rows of a line but the first begin with.
const BACK: &str = "  ";

/// How many cells a text takes.
fn width_of(text: &str) -> usize {
    letters(text).iter().map(|(_, width)| width).sum()
}

/// The letters of a text as the screen has them, each with the cells it takes.
fn letters(text: &str) -> Vec<(String, usize)> {
    let span = Span::raw(text);
    let letters = span.styled_graphemes(Style::new());
    letters.map(|letter| (letter.symbol.to_owned(), Span::raw(letter.symbol).width())).collect()
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
        for width in 2..60 {
            let rows = wrapped(LINE, width);
            assert_eq!(words(&rows.concat()), words(LINE), "{width}");
            assert!(rows.iter().all(|row| width_of(row) <= width), "{width}: {rows:?}");
            assert_eq!(words(&drawn(&rows, width)), words(LINE), "{width}");
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
}
