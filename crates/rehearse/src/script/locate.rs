//! From a path in a JSON document to the line where the value stands.
//!
//! Reading into types forgets where things stood. A check that looks at several values therefore names its
//! subject by path, and the line is looked up here. The text has been read as JSON before.

use std::fmt;

/// One step down a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Into an object.
    Key(String),
    /// Into a list.
    Index(usize),
}

/// A way down a document: `conversations[0].turns[2].reply`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Path(Vec<Step>);

impl Path {
    pub(crate) fn key(&self, key: &str) -> Self {
        self.with(Step::Key(key.to_owned()))
    }

    pub(crate) fn index(&self, index: usize) -> Self {
        self.with(Step::Index(index))
    }

    fn with(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// Line and column, counted from 1, of the value in `text`, or of the last part of the way that exists.
    pub(crate) fn locate(&self, text: &str) -> (usize, usize) {
        let mut cursor = Cursor { text: text.as_bytes(), at: 0 };
        let offset = cursor.seek(&self.0);
        let before = &text.as_bytes()[..offset.min(text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
        (line, column)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if position == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    /// The offset of the value that the steps lead to from here.
    fn seek(&mut self, steps: &[Step]) -> usize {
        let first = self.peek();
        let start = self.at;
        let Some((step, rest)) = steps.split_first() else { return start };
        let found = match (step, first) {
            (Step::Key(key), Some(b'{')) => self.enter_object(key),
            (Step::Index(index), Some(b'[')) => self.enter_list(*index),
            _ => false,
        };
        if found { self.seek(rest) } else { start }
    }

    /// Stops before the value of `wanted`; the last one counts, as for any reader of JSON.
    fn enter_object(&mut self, wanted: &str) -> bool {
        let mut found = None;
        self.at += 1;
        while self.peek() == Some(b'"') {
            let key = self.string();
            self.peek();
            self.at += 1;
            if key == wanted {
                self.peek();
                found = Some(self.at);
            }
            self.skip_value();
            if self.peek() == Some(b',') {
                self.at += 1;
            }
        }
        self.at = found.unwrap_or(self.at);
        found.is_some()
    }

    fn enter_list(&mut self, wanted: usize) -> bool {
        self.at += 1;
        for _ in 0..wanted {
            if matches!(self.peek(), None | Some(b']')) {
                return false;
            }
            self.skip_value();
            if self.peek() == Some(b',') {
                self.at += 1;
            }
        }
        !matches!(self.peek(), None | Some(b']'))
    }

    fn string(&mut self) -> String {
        let start = self.at;
        self.skip_string();
        let raw = self.text.get(start..self.at).unwrap_or_default();
        serde_json::from_slice(raw).unwrap_or_default()
    }

    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.text.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'"' => return,
                _ => {}
            }
        }
    }

    fn skip_value(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => self.skip_string(),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' if depth == 0 => return,
                b'}' | b']' => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' if depth == 0 => return,
                _ => self.at += 1,
            }
            let ended = depth == 0 && matches!(byte, b'"' | b'}' | b']');
            if ended {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "{\n  \"a\": [1, {\"b\\\"\": \"x]}\"},\n    {\"c\": [[], {}, true]}],\n  \"d\": null\n}\n";

    fn line(path: &Path) -> (usize, usize) {
        path.locate(TEXT)
    }

    #[test]
    fn values_are_found_behind_strings_and_brackets() {
        let root = Path::default();
        assert_eq!(line(&root), (1, 1));
        assert_eq!(line(&root.key("a")), (2, 8));
        assert_eq!(line(&root.key("a").index(1).key("b\"")), (2, 20));
        assert_eq!(line(&root.key("a").index(2).key("c").index(2)), (3, 20));
        assert_eq!(line(&root.key("d")), (4, 8));
    }

    #[test]
    fn a_way_that_ends_early_gives_its_last_place() {
        let root = Path::default();
        assert_eq!(line(&root.key("a").index(2).key("gone")), (3, 5));
        assert_eq!(line(&root.key("a").index(7)), (2, 8));
        assert_eq!(root.key("a").index(2).key("c").to_string(), "a[2].c");
    }
}
