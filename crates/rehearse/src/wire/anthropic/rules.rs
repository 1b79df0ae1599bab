//! The rules of the Messages wire that concern more than one block. Messages quote the service.
//!
//! Roles need not alternate: the service joins neighbours of one role. So do the rules here.

use std::collections::HashSet;

use serde_json::Value;

use crate::view::{Message, Part, Role, View};
use crate::wire::fields::Fields;

/// Cache markers in one request.
const MARKERS: usize = 4;

pub(super) fn check(view: &View, body: &Value, fields: &mut Fields) {
    ends(view, fields);
    thinking_is_not_last(view, fields);
    unique_calls(view, fields);
    pairs(&view.messages, fields);
    let parts = ["system", "tools", "messages"].iter().filter_map(|name| body.get(name));
    let markers = parts.map(markers).sum::<usize>() + usize::from(body.get("cache_control").is_some());
    if markers > MARKERS {
        let message =
            format!("A maximum of {MARKERS} blocks with cache_control may be provided. Found {markers}.");
        fields.say("cache-markers", message);
    }
}

fn ends(view: &View, fields: &mut Fields) {
    let Some((first, last)) = view.messages.first().zip(view.messages.last()) else {
        fields.say("no-messages", "messages: at least one message is required");
        return;
    };
    if first.role != Role::User {
        fields.say("first-message", "messages: first message must use the \"user\" role");
    }
    if last.role == Role::Assistant {
        let message = "This model does not support assistant message prefill. \
                       The conversation must end with a user message.";
        fields.say("last-message", message);
    }
}

fn thinking_is_not_last(view: &View, fields: &mut Fields) {
    for (index, message) in view.messages.iter().enumerate() {
        let last = message.parts.last();
        let thinking = matches!(last, Some(Part::Thinking { .. } | Part::Redacted));
        if message.role == Role::Assistant && thinking {
            let block = message.parts.len() - 1;
            let message = format!(
                "messages.{index}.content.{block}: The final block in an assistant message cannot be `thinking`."
            );
            fields.say("thinking-last", message);
        }
    }
}

fn unique_calls(view: &View, fields: &mut Fields) {
    let mut seen = HashSet::new();
    for part in view.messages.iter().flat_map(|message| &message.parts) {
        if let Part::Call { id, .. } = part
            && !seen.insert(id)
        {
            fields.say("duplicate-call", format!("messages: `tool_use` ids must be unique: {id}"));
        }
    }
}

/// Every call has exactly one result, in the run of results that begins the user turn after it.
fn pairs(messages: &[Message], fields: &mut Fields) {
    let mut open: Vec<&str> = Vec::new();
    let mut at = 0;
    while let Some(message) = messages.get(at) {
        let end = messages[at..].iter().position(|next| next.role != message.role);
        let end = end.map_or(messages.len(), |length| at + length);
        let turn: Vec<(usize, usize, &Part)> = numbered(messages, at..end).collect();
        if message.role == Role::Assistant {
            open = turn.iter().filter_map(|(_, _, part)| call_id(part)).collect();
            if end == messages.len() && !open.is_empty() {
                unanswered(end - 1, &open, fields);
            }
        } else {
            let before = at.checked_sub(1);
            answers(&turn, &open, before, fields);
            open.clear();
        }
        at = end;
    }
}

fn numbered(
    messages: &[Message],
    range: std::ops::Range<usize>,
) -> impl Iterator<Item = (usize, usize, &Part)> {
    range.flat_map(|index| {
        messages[index].parts.iter().enumerate().map(move |(block, part)| (index, block, part))
    })
}

fn call_id(part: &Part) -> Option<&str> {
    match part {
        Part::Call { id, .. } => Some(id),
        _ => None,
    }
}

/// `before` is the message that made the calls `open`.
fn answers(turn: &[(usize, usize, &Part)], open: &[&str], before: Option<usize>, fields: &mut Fields) {
    let mut answered = HashSet::new();
    let mut leading = true;
    for (message, block, part) in turn {
        let Part::Result(result) = part else {
            leading = false;
            continue;
        };
        let id = result.id.as_str();
        if !open.contains(&id) {
            let message = format!(
                "messages.{message}.content.{block}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. \
                 Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            );
            fields.say("orphan-result", message);
        } else if !leading {
            let message = format!(
                "messages.{message}.content.{block}: `tool_result` for {id} must come before any other content \
                 in the message after the call."
            );
            fields.say("result-not-leading", message);
        } else if !answered.insert(id) {
            let message = format!(
                "messages.{message}.content.{block}: each tool_use must have a single result. \
                 Found multiple `tool_result` blocks with id: {id}"
            );
            fields.say("duplicate-result", message);
        }
    }
    let missing: Vec<&str> = open.iter().copied().filter(|id| !answered.contains(id)).collect();
    if let Some(before) = before.filter(|_| !missing.is_empty()) {
        unanswered(before, &missing, fields);
    }
}

fn unanswered(message: usize, ids: &[&str], fields: &mut Fields) {
    let message = format!(
        "messages.{message}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. \
         Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
        ids.join(", ")
    );
    fields.say("missing-result", message);
}

/// Cache markers at any depth outside of tool inputs and schemas.
fn markers(value: &Value) -> usize {
    match value {
        Value::Array(list) => list.iter().map(markers).sum(),
        Value::Object(map) => {
            let deeper = map.iter().filter(|(key, _)| !matches!(key.as_str(), "input" | "input_schema"));
            let here = usize::from(map.get("cache_control").is_some_and(|marker| !marker.is_null()));
            here + deeper.map(|(_, value)| markers(value)).sum::<usize>()
        }
        _ => 0,
    }
}
