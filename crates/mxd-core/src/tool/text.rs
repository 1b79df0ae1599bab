//! Text from outside: cleaned before a model reads it, escaped before a message quotes it.
//!
//! What a server says about its tools goes into the prompt. Characters that a person does not see there but
//! a model reads (tags, zero-width and direction marks) are taken out and counted, so that whoever shows the
//! tool can warn. This costs emoji their joiners and some scripts a mark between letters, which a
//! description can bear.

use std::fmt;

use serde::Serialize;

use super::limits;

/// Text from outside without control and hidden characters, cut to its limit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CleanText {
    text: String,
    flags: TextFlags,
}

/// What was taken out of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TextFlags {
    /// How many control characters, other than line breaks and tabs.
    pub control: usize,
    /// How many characters that nobody sees.
    pub hidden: usize,
    /// How many bytes behind the limit.
    pub cut_bytes: usize,
}

impl TextFlags {
    /// Whether the text was as it should be.
    pub fn is_clean(self) -> bool {
        self == Self::default()
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            control: self.control + other.control,
            hidden: self.hidden + other.hidden,
            cut_bytes: self.cut_bytes + other.cut_bytes,
        }
    }
}

impl CleanText {
    /// Cleans a text and cuts it to a number of bytes.
    pub fn clean(given: &str, max_bytes: usize) -> Self {
        let mut text = String::with_capacity(given.len().min(max_bytes));
        let mut flags = TextFlags::default();
        let mut chars = given.chars().peekable();
        while let Some(c) = chars.next() {
            if c == '\r' && chars.peek() == Some(&'\n') {
                continue;
            }
            if is_hidden(c) {
                flags.hidden += 1;
            } else if c.is_control() && !matches!(c, '\n' | '\t') {
                flags.control += 1;
            } else if flags.cut_bytes > 0 || text.len() + c.len_utf8() > max_bytes {
                flags.cut_bytes += c.len_utf8();
            } else {
                text.push(c);
            }
        }
        Self { text, flags }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What was taken out of it.
    pub fn flags(&self) -> TextFlags {
        self.flags
    }
}

impl fmt::Display for CleanText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Whether a character shows nothing, and so could tell a model what its user does not see.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}'
        // Zero-width characters and direction marks.
        | '\u{200B}'..='\u{200F}'
        // Line and paragraph separators, embeddings and overrides of direction.
        | '\u{2028}'..='\u{202E}'
        // Joiners, invisible operators, isolates.
        | '\u{2060}'..='\u{206F}'
        | '\u{3164}'
        // Variation selectors can carry any bytes behind one visible character.
        | '\u{FE00}'..='\u{FE0F}'
        | '\u{FEFF}' | '\u{FFA0}'
        | '\u{FFF0}'..='\u{FFFB}'
        | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}'
        // Tags, and the rest of the variation selectors.
        | '\u{E0000}'..='\u{E0FFF}')
}

/// Words of others as a person reads them: what nobody sees, and what a terminal obeys, is spelled out.
pub fn visible(words: &str) -> String {
    let mut shown = String::with_capacity(words.len());
    let mut letters = words.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\r' if letters.peek() == Some(&'\n') => {}
            '\n' | '\t' => shown.push(letter),
            _ if letter.is_control() || is_hidden(letter) => shown.extend(letter.escape_unicode()),
            _ => shown.push(letter),
        }
    }
    shown
}

/// A piece of text from outside, fit to stand in a message: escaped and short.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quoted(String);

impl Quoted {
    /// Escapes control and hidden characters and cuts what is long.
    pub fn of(given: &str) -> Self {
        let mut text = String::new();
        for (index, c) in given.chars().enumerate() {
            if index == limits::QUOTE_CHARS {
                text.push('…');
                break;
            }
            match c {
                '\n' | '\r' | '\t' => text.extend(c.escape_default()),
                _ if c.is_control() || is_hidden(c) => text.extend(c.escape_unicode()),
                _ => text.push(c),
            }
        }
        Self(text)
    }
}

impl fmt::Display for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Quoted({})", self.0)
    }
}
