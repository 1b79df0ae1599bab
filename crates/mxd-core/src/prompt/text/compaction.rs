//! Summaries: what the model is asked to write, what is never left to it, and how both become one text.
//!
//! A summary has seven sections. Two of them, and the facts that others would be wrong without, are put
//! together from the log: what the user asked for, word by word, and how the tasks stand. The model writes the
//! other five. So a bad summary can lose an insight, but no rule, no child, no open question and no debt.

use std::fmt::Write as _;

use super::fence::{Fence, cut, guarded};
use super::first::FirstMessage;
use super::notice::Notice;
use super::stamp::stamp;
use crate::id::TaskId;
use crate::time::Millis;
use crate::tree::Status;

/// Bytes of everything the user said, and of one message when that is exceeded.
const USER_BYTES: usize = 96 * 1024;
const OLD_USER_BYTES: usize = 1_000;
/// Bytes of one section of the model.
const SECTION_BYTES: usize = 64 * 1024;
/// Lines of a list of facts.
const LIST_LINES: usize = 200;
/// Bytes of one such line.
const LINE_BYTES: usize = 1_000;

/// The seven sections, in their order.
pub const SECTIONS: [&str; 7] = [
    "User requests",
    "Current phase",
    "Completed work",
    "Task tree state",
    "Key insights and rejected approaches",
    "Key context",
    "Pending work",
];

/// What the model is asked for.
pub const INSTRUCTION: &str = "\
The conversation is about to be replaced by a summary, to make room. Write that summary now; call no tools. You will go \
on from it with nothing else of this conversation before you, so whatever is not in it is lost to you.

What the user said, the state of all tasks, open questions and approvals, budgets and calls with unknown outcome are \
added from the record, word by word; do not repeat them. Write these five sections, with exactly these headings, between \
<summary> and </summary>:

## Current phase
What you are doing right now and why: the goal you are working towards, the step you are in, what you were about to do \
next, and what the last results were.

## Completed work
What is done and verified, with files, functions and commits, and the command that showed it. Say apart what is written and \
not verified.

## Key insights and rejected approaches
What you found out that was not obvious. What was tried and did not work, and why, so that it is not tried again. \
Decisions with their reasons.

## Key context
What you would have to look up again: paths, names, commands that work, formats, numbers, exact error texts, agreements \
with other tasks. Quote exactly where the wording matters.

## Pending work
What is left, in order, each item concrete enough to start on. What you wait for. What you promised to whom.

Be complete rather than elegant. Do not say that anything is done that you did not see done.";

/// What survives whatever the model writes.
#[derive(Debug, Clone)]
pub struct Kept<'a> {
    /// Everything the user said to this task, oldest first.
    pub user: &'a [UserWords<'a>],
    /// The tasks directly below, through folders, but for closed ones.
    pub children: &'a [KeptChild<'a>],
    /// Questions to the user without an answer.
    pub clarifications: &'a [KeptQuestion<'a>],
    /// Calls that wait for the user's word.
    pub approvals: &'a [KeptQuestion<'a>],
    /// Calls whose outcome nobody knows, and commands in the background.
    pub unknown: &'a [String],
    /// Where the agent is; commands may have moved it.
    pub directory: &'a str,
}

/// One message of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserWords<'a> {
    /// When it came.
    pub at: Millis,
    /// What it said.
    pub text: &'a str,
}

/// A task below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptChild<'a> {
    /// Which.
    pub id: TaskId,
    /// Its title.
    pub title: &'a str,
    /// How it stands.
    pub status: Status,
    /// Its branch.
    pub branch: Option<&'a str>,
}

/// Something that waits for the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptQuestion<'a> {
    /// Its id.
    pub id: &'a str,
    /// What was asked, or which call it is about.
    pub about: &'a str,
}

/// The five sections of the model, by their headings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prose {
    sections: [String; 7],
}

/// What a model answered to [`INSTRUCTION`], taken apart. Text without a heading of ours belongs to the current phase.
pub fn prose(answer: &str) -> Prose {
    let mut prose = Prose::default();
    let mut current = 1;
    for line in inside_tags(answer).lines() {
        match heading(line) {
            Some(section) => current = section,
            None => {
                prose.sections[current].push_str(line);
                prose.sections[current].push('\n');
            }
        }
    }
    for section in &mut prose.sections {
        *section = section.trim().to_owned();
    }
    prose
}

impl Prose {
    /// Whether nothing was written, so that the old history has to stay.
    pub fn is_empty(&self) -> bool {
        self.sections.iter().all(String::is_empty)
    }
}

fn inside_tags(answer: &str) -> &str {
    let Some(start) = answer.find("<summary>") else { return answer };
    let inside = &answer[start + "<summary>".len()..];
    &inside[..inside.rfind("</summary>").unwrap_or(inside.len())]
}

/// Which section a heading begins.
fn heading(line: &str) -> Option<usize> {
    let words = line.trim();
    let words = words.strip_prefix('#')?.trim_start_matches('#').trim().trim_end_matches(':');
    let plain = |text: &str| text.to_lowercase().replace('&', "and");
    SECTIONS.iter().position(|section| plain(section) == plain(words))
}

/// A whole summary.
#[derive(Debug, Clone)]
pub struct Checkpoint<'a> {
    /// What the model wrote.
    pub prose: &'a Prose,
    /// What it was not asked for.
    pub kept: &'a Kept<'a>,
}

impl Checkpoint<'_> {
    /// The text of the seven sections.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (index, name) in SECTIONS.iter().enumerate() {
            let written = guarded(&cut(&self.prose.sections[index], SECTION_BYTES));
            let facts = match index {
                0 => self.kept.user_requests(),
                3 => self.kept.tasks(),
                5 => self.kept.facts(),
                _ => String::new(),
            };
            let body = match (facts.trim_end(), written.as_str()) {
                ("", "") => "Nothing was noted.".to_owned(),
                (facts, "") => facts.to_owned(),
                ("", written) => written.to_owned(),
                (facts, written) => format!("{facts}\n\n{written}"),
            };
            let _infallible = write!(text, "## {name}\n\n{body}\n\n");
        }
        text.truncate(text.trim_end().len());
        text
    }
}

impl Kept<'_> {
    fn user_requests(&self) -> String {
        if self.user.is_empty() {
            return "The user has not written to this task.".to_owned();
        }
        let total: usize = self.user.iter().map(|words| words.text.len()).sum();
        let mut excess = total.saturating_sub(USER_BYTES);
        let mut text = String::new();
        for words in self.user {
            // The oldest are shortened first; what was said last still counts in every word.
            let limit = if excess > 0 { OLD_USER_BYTES } else { usize::MAX };
            excess = excess.saturating_sub(words.text.len().saturating_sub(limit));
            let fence = Fence::new("user_request").with("at", &stamp(words.at));
            let _infallible = writeln!(text, "{}", fence.around(words.text, limit));
        }
        text
    }

    fn tasks(&self) -> String {
        if self.children.is_empty() {
            return "There are no open tasks below yours.".to_owned();
        }
        list(self.children.iter().map(|child| {
            let branch = child.branch.map_or_else(String::new, |branch| format!(", branch {branch}"));
            format!("{} {}: {}{branch}", child.id, child.status, child.title)
        }))
    }

    fn facts(&self) -> String {
        let mut text = format!("Working directory: {}\n", guarded(self.directory));
        let questions = |asked: &[KeptQuestion<'_>]| {
            list(asked.iter().map(|question| format!("{}: {}", question.id, question.about)))
        };
        for (name, lines) in [
            ("Questions to the user without an answer", questions(self.clarifications)),
            ("Calls that wait for the user's word", questions(self.approvals)),
            ("Of unknown outcome, or still running", list(self.unknown.iter().cloned())),
        ] {
            if !lines.is_empty() {
                let _infallible = write!(text, "\n{name}:\n{lines}");
            }
        }
        text
    }
}

fn list(lines: impl Iterator<Item = String>) -> String {
    let lines: Vec<String> = lines.collect();
    let mut text = String::new();
    for line in lines.iter().take(LIST_LINES) {
        let _infallible = writeln!(text, "* {}", guarded(&cut(&line.replace('\n', " "), LINE_BYTES)));
    }
    if let Some(more @ 1..) = lines.len().checked_sub(LIST_LINES) {
        let _infallible = writeln!(text, "* and {more} more");
    }
    text
}

/// The one message that a summarised conversation goes on from: the first one again, with the memory as it is now, and
/// the summary.
pub fn resume(first: &FirstMessage<'_>, checkpoint: &str) -> String {
    format!("{}\n# Where you were\n\n{checkpoint}\n\n{}", first.text(), Notice::Compacted.text())
}
