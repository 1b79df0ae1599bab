//! Tool calls that arrive in pieces, from servers that do not agree how.
//!
//! The rule is one call per index. Beyond it there are servers that leave the index out, give every call the
//! index 0, send a call in one piece, repeat its id and name with every piece, give two calls the same id, or
//! give none. What tells a new call then is a new id, or a name after arguments that are already whole.

use std::collections::BTreeSet;

use mxd_core::prompt::ToolCall;

use super::wire::CallDelta;
use crate::decoder::{parse, protocol};
use crate::error::LlmError;
use crate::limits;
use crate::malformed::tool_call;

/// The calls of one answer.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: Vec<Open>,
}

#[derive(Debug)]
struct Open {
    index: Option<u32>,
    id: String,
    name: String,
    arguments: String,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Takes a piece.
    pub(super) fn add(&mut self, delta: CallDelta) -> Result<(), LlmError> {
        let CallDelta { index, id, function } = delta;
        let id = id.unwrap_or_default();
        let (name, arguments) = match function {
            Some(function) => (function.name.unwrap_or_default(), function.arguments),
            None => (String::new(), None),
        };
        let arguments = match arguments {
            Some(raw) if raw.get().starts_with('"') => parse(raw.get())?,
            Some(raw) if raw.get() == "null" => String::new(),
            Some(raw) => raw.get().to_owned(),
            None => String::new(),
        };
        let open = match self.continued(index, &id, &name) {
            Some(at) => &mut self.open[at],
            None if self.open.len() >= limits::CALLS => return Err(protocol("too many tool calls")),
            None => {
                self.open.push(Open {
                    index,
                    id: String::new(),
                    name: String::new(),
                    arguments: String::new(),
                });
                let last = self.open.len() - 1;
                &mut self.open[last]
            }
        };
        if open.id.is_empty() {
            open.id = id;
        }
        if open.name.is_empty() {
            open.name = name;
        }
        open.arguments.push_str(&arguments);
        Ok(())
    }

    /// The call that a piece belongs to, unless it begins a new one.
    fn continued(&self, index: Option<u32>, id: &str, name: &str) -> Option<usize> {
        let at = match index {
            Some(_) => self.open.iter().rposition(|open| open.index == index)?,
            None => self.open.len().checked_sub(1)?,
        };
        let open = &self.open[at];
        let other_id = !id.is_empty() && !open.id.is_empty() && open.id != id;
        let named_again = id.is_empty() && !name.is_empty() && is_whole(&open.arguments);
        (!other_id && !named_again).then_some(at)
    }

    /// The finished calls, with ids that no two of them share.
    pub(super) fn finish(&mut self, salt: u64) -> Result<Vec<ToolCall>, LlmError> {
        let mut taken = BTreeSet::new();
        let mut calls = Vec::new();
        for (number, open) in std::mem::take(&mut self.open).into_iter().enumerate() {
            let mut id = if open.id.is_empty() { format!("call_{salt:016x}_{number}") } else { open.id };
            if taken.contains(&id) {
                id = format!("{id}_{number}");
            }
            taken.insert(id.clone());
            calls.push(tool_call(id, open.name, &open.arguments)?);
        }
        Ok(calls)
    }
}

fn is_whole(arguments: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(arguments).is_ok()
}
