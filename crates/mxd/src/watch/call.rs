//! A call that somebody looks at before it is allowed or denied.

use serde_json::{Value, json};

use super::keys::Ask;
use super::rows::{filled, visible, wrapped};
use crate::client::view::Approval;

/// Before the start of a line of an argument, and before what did not fit in its row. The columns belong to us, so no
/// call can draw them.
const START: &str = "│ ";
const ON: &str = "↳ ";

/// In less than this a letter might have no room, and what is not seen is not read.
const NARROWEST: usize = 12;

/// What is to be said about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Allow,
    Deny,
}

/// A call on the screen that one more key allows or denies: this one, whatever waits by then.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub(super) call: Approval,
    pub(super) word: Word,
    /// The first row that is in sight, and how many are.
    pub(super) from: usize,
    pub(super) height: usize,
    /// How many rows were in sight so far, from the first one on, while they were as wide as this.
    seen: usize,
    width: usize,
    is_read: bool,
}

impl Shown {
    pub(super) fn new(call: Approval, word: Word) -> Self {
        Self { call, word, from: 0, height: 0, seen: 0, width: 0, is_read: false }
    }

    /// What it asks of whoever looks.
    pub(super) fn title(&self) -> String {
        let word = match self.word {
            Word::Allow => "Allow",
            Word::Deny => "Deny",
        };
        let title = visible(&self.call.task_title);
        match self.call.host {
            Some(_) => format!(" {word} “{title}” to reach a host? "),
            None => format!(" {word} this call of “{title}”? "),
        }
    }

    /// All of the call, in rows.
    fn rows(&self, width: usize) -> Vec<String> {
        if let Some(host) = &self.call.host {
            let mut rows = wrapped("A command wants to reach a host that no rule allows or denies:", width);
            rows.extend(in_lines(&Value::from(host.as_str()), width));
            return rows;
        }
        let rule = self.call.rule.as_ref().map(|rule| format!("  (the rule “{rule}” asks)"));
        let mut rows = wrapped(&visible(&format!("{}{}", self.call.tool, rule.unwrap_or_default())), width);
        match &self.call.args {
            Value::Null => rows.extend(wrapped("Its arguments are not known here.", width)),
            Value::Object(args) if args.is_empty() => rows.extend(wrapped("It has no arguments.", width)),
            Value::Object(args) => {
                for (name, value) in args {
                    rows.extend(wrapped(&format!("{}:", visible(name)), width));
                    rows.extend(in_lines(value, width));
                }
            }
            other => rows.extend(in_lines(other, width)),
        }
        rows
    }

    /// Brings what an area can hold in sight: the rows, and how many there are above and below of them.
    pub(super) fn look(&mut self, width: usize, height: usize) -> (Vec<String>, usize, usize) {
        let rows = self.rows(width);
        if width != self.width {
            // Other rows: nobody can say which of them were seen.
            (self.from, self.seen, self.width) = (0, 0, width);
        }
        self.height = height;
        self.from = self.from.min(rows.len().saturating_sub(height));
        let end = self.from.saturating_add(height).min(rows.len());
        if self.from <= self.seen && width >= NARROWEST {
            self.seen = self.seen.max(end);
        }
        self.is_read |= self.seen >= rows.len();
        let below = rows.len() - end;
        (rows.into_iter().take(end).skip(self.from).collect(), self.from, below)
    }

    /// The word is given, unless nobody can know yet what it would be about.
    pub(super) fn give(&self) -> Result<Ask, &'static str> {
        let decision = match self.word {
            Word::Allow if self.call.args.is_null() => {
                return Err("what it would do is not known here, so it cannot be allowed here");
            }
            Word::Allow if !self.is_read => return Err("it is not all seen yet: PgDn"),
            Word::Allow => "once",
            Word::Deny => "deny",
        };
        let body = json!({
            "taskId": self.call.task_id, "approvalId": self.call.approval_id, "decision": decision,
            "argsDigest": self.call.args_digest,
        });
        Ok(Ask { path: "/approve".to_owned(), body, words: None })
    }
}

/// A value in rows: the lines of a text as they are, everything else as JSON.
fn in_lines(value: &Value, width: usize) -> Vec<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_else(|_| other.to_string()),
    };
    let room = width.saturating_sub(2);
    let rows = text.split('\n').flat_map(|line| {
        let rows = filled(&visible(line), room).into_iter().enumerate();
        rows.map(|(n, row)| format!("{}{row}", if n == 0 { START } else { ON })).collect::<Vec<_>>()
    });
    rows.collect()
}
