//! Fences around words that are not the program's: whose they are, and where they end.
//!
//! What stands inside is cleaned of characters that nobody sees, cut to its limit, and cannot contain a tag of
//! ours: the bracket before anything that a reader could take for one is written as an entity. All other text
//! stays as it is, code above all.

use crate::tool::CleanText;

/// Every tag the program writes. None of them can be written by anybody else inside of a fence.
pub const TAGS: &[&str] = &[
    "task_message",
    "task_complete",
    "clarify_response",
    "user_message_forwarded",
    "cross_project",
    "background_complete",
    "tree_change",
    "work_context",
    "notice",
    "project_memory",
    "task_description",
    "user_request",
    "skills",
    "skill",
    "servers",
    "server_words",
];

/// Bytes of a value beside a tag.
const ATTRIBUTE_BYTES: usize = 300;

/// A fence that is being put up.
#[derive(Debug, Clone)]
pub struct Fence {
    tag: &'static str,
    head: String,
}

impl Fence {
    /// A fence with one of [`TAGS`].
    pub fn new(tag: &'static str) -> Self {
        debug_assert!(TAGS.contains(&tag), "{tag} has to be in the list that content is checked against");
        Self { tag, head: format!("<{tag}") }
    }

    /// The same, saying this about what is inside.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        let value = cut(&CleanText::clean(value, usize::MAX).text().replace('\n', " "), ATTRIBUTE_BYTES);
        let value =
            value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
        self.head.push_str(&format!(" {name}=\"{value}\""));
        self
    }

    /// The fence with a text inside, of which at most so many bytes are shown.
    pub fn around(self, text: &str, max_bytes: usize) -> String {
        let inside = guarded(&cut(CleanText::clean(text, usize::MAX).text(), max_bytes));
        format!("{}>\n{}\n</{}>", self.head, inside.trim_end_matches('\n'), self.tag)
    }

    /// The fence with the program's own words inside, in which those of others stand fenced already.
    pub(super) fn around_own(self, text: &str, max_bytes: usize) -> String {
        format!("{}>\n{}\n</{}>", self.head, cut(text, max_bytes).trim_end_matches('\n'), self.tag)
    }

    /// The fence with nothing inside.
    pub fn empty(self) -> String {
        format!("{}/>", self.head)
    }
}

/// The beginning of a long text, and how much more there is.
pub fn cut(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let kept = text.floor_char_boundary(max_bytes);
    format!("{}\n[… {} bytes more]", &text[..kept], text.len() - kept)
}

/// The text without anything that could be taken for one of our tags.
pub(super) fn guarded(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        safe.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        safe.push_str(if begins_with_tag(rest) { "&lt;" } else { "<" });
    }
    safe.push_str(rest);
    safe
}

/// Whether one of our names follows, however it is spaced, slashed or capitalised.
fn begins_with_tag(text: &str) -> bool {
    let name = text.trim_start_matches(|c: char| c.is_whitespace() || c == '/' || c == '\\');
    TAGS.iter().any(|tag| name.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag)))
}
