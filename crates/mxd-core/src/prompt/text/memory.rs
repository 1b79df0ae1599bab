//! The project's memory file in a conversation, and what a task may do to it.

use super::fence::{Fence, cut};

/// Where it is, from the root of the worktree.
pub const PATH: &str = ".mxd/memory.md";

/// Bytes of it that a conversation gets to see.
const SHOWN_BYTES: usize = 64 * 1024;

/// Of those, bytes of its end, where the newest entries are; the rest is its beginning, where the weightiest are.
const SHOWN_END_BYTES: usize = 16 * 1024;

/// What merging tasks are told when entries came along.
pub const CURATION: &str = "Look over what was added: join what belongs together, remove what is trivial or no \
    longer true, put what matters most on top, and commit it.";

/// The memory file of a worktree, as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Memory {
    /// There is none.
    Missing,
    /// It is there and cannot be used; the reason is for the agent.
    Unreadable(String),
    /// Its text.
    Text(String),
}

impl Memory {
    /// What the conversation says about it.
    pub fn block(&self) -> String {
        match self {
            Self::Missing => format!("There is no {PATH} yet; the first entry creates it."),
            Self::Unreadable(why) => format!("{PATH} could not be loaded: {}", cut(why, 500)),
            Self::Text(text) if text.trim().is_empty() => format!("{PATH} is empty."),
            Self::Text(text) => {
                let note = "Preloaded, do not read it again";
                let fence = Fence::new("project_memory").with("path", PATH).with("note", note);
                fence.around(&ends(text), usize::MAX)
            }
        }
    }
}

/// Beginning and end of a text that is too long, cut between lines.
fn ends(text: &str) -> String {
    if text.len() <= SHOWN_BYTES {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(SHOWN_BYTES - SHOWN_END_BYTES);
    let head = text[..head].rfind('\n').map_or(head, |line_end| line_end + 1);
    let tail = text.ceil_char_boundary(text.len() - SHOWN_END_BYTES);
    let tail = text[tail..].find('\n').map_or(tail, |line_end| tail + line_end + 1);
    let omitted = tail - head;
    let note = format!("[… {omitted} bytes left out: the file is too long and has to be shortened …]\n");
    format!("{}{note}{}", &text[..head], &text[tail..])
}

/// What a branch did to the memory it started from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryChange {
    /// Nothing.
    Unchanged,
    /// It wrote behind the end, as tasks are asked to.
    Appended,
    /// It changed or removed what was there.
    Rewritten,
}

impl MemoryChange {
    /// Compares what was there with what is there.
    pub fn between(before: &str, after: &str) -> Self {
        let (before, after) = (before.trim_end(), after.trim_end());
        match after.strip_prefix(before) {
            Some("") => Self::Unchanged,
            // The last line may have been continued, which is a change of an entry.
            Some(added) if before.is_empty() || added.starts_with(['\n', '\r']) => Self::Appended,
            Some(_) | None => Self::Rewritten,
        }
    }

    /// What the task that merges it is told.
    pub fn note(self) -> Option<String> {
        match self {
            Self::Unchanged => None,
            Self::Appended => Some(format!("{PATH} has new entries. {CURATION}")),
            Self::Rewritten => Some(format!(
                "This branch changed or removed entries of {PATH} that it did not write; tasks only append. See in \
                 the difference whether that was right. {CURATION}"
            )),
        }
    }
}
