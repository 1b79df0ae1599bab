//! The rules of the Responses wire that concern more than one item. Messages quote the service.

use std::collections::HashSet;

use serde_json::Value;

use crate::view::{Message, Part, Role, View};
use crate::wire::fields::Fields;

/// The items as they were sent.
pub(super) struct Items<'a> {
    pub(super) list: &'a [Value],
    /// The service keeps what it answers, so that ids alone can name it.
    pub(super) stored: bool,
}

pub(super) fn check(view: &View, items: &Items<'_>, fields: &mut Fields) {
    ends(view, fields);
    unique_ids(items.list, fields);
    pairs(&view.messages, fields);
    reasoning(view, items, fields);
}

fn ends(view: &View, fields: &mut Fields) {
    let mut spoken = view.messages.iter().filter(|message| message.role != Role::System);
    let Some(first) = spoken.next() else {
        fields.say("no-messages", "Missing required parameter: 'input' holds no message.");
        return;
    };
    if first.role != Role::User {
        fields.say("first-message", "rehearse: the first item of 'input' must be a message of the user.");
    }
    let last = spoken.next_back().unwrap_or(first);
    if last.role == Role::Assistant {
        let message =
            "rehearse: the last item of 'input' must be a message of the user or a function_call_output.";
        fields.say("last-message", message);
    }
}

fn unique_ids(items: &[Value], fields: &mut Fields) {
    let mut seen = HashSet::new();
    for (index, item) in items.iter().enumerate() {
        let id = item["id"].as_str();
        if let Some(id) = id.filter(|id| !seen.insert(*id)) {
            let message = format!(
                "Duplicate item found with id {id}. Remove duplicate items from your input and try again."
            );
            fields.say("duplicate-item", format!("{message} ('input[{index}]')"));
        }
    }
}

/// Every call has one output, after it and before the model speaks again.
fn pairs(messages: &[Message], fields: &mut Fields) {
    let mut open: Vec<&str> = Vec::new();
    let mut made: HashSet<&str> = HashSet::new();
    let mut answered: HashSet<&str> = HashSet::new();
    for (index, message) in messages.iter().enumerate() {
        for part in &message.parts {
            match part {
                Part::Call { id, .. } => {
                    if !made.insert(id) {
                        fields.say("duplicate-call", format!("Duplicate function call with call_id {id}."));
                    }
                    open.push(id);
                }
                Part::Result(result) => {
                    let id = result.id.as_str();
                    if !made.contains(id) {
                        let message =
                            format!("No tool call found for function call output with call_id {id}.");
                        fields.say("orphan-result", message);
                    } else if !answered.insert(id) {
                        fields.say(
                            "duplicate-result",
                            format!("Duplicate function call output with call_id {id}."),
                        );
                    }
                    open.retain(|call| *call != id);
                }
                _ => {}
            }
        }
        // Calls of one turn may stand apart, with reasoning or text between them; nobody else may come in between.
        let speaks_again = message.role == Role::Assistant && follows_output(messages, index);
        if message.role == Role::User || speaks_again {
            out_of_place(&mut open, &messages[index..], fields);
        }
    }
    for id in open {
        fields.say("missing-result", format!("No tool output found for function call {id}."));
    }
}

/// The model begins to speak again after outputs.
fn follows_output(messages: &[Message], index: usize) -> bool {
    let before = index.checked_sub(1).and_then(|before| messages.get(before));
    before.is_some_and(|before| before.role == Role::Tool)
}

/// Calls that are still open when `rest` begins with something else. The service takes an output that comes later;
/// an agent that sends one has lost its order.
fn out_of_place(open: &mut Vec<&str>, rest: &[Message], fields: &mut Fields) {
    let parts = |messages: &[Message], wanted: &dyn Fn(&Part) -> bool| {
        messages.iter().flat_map(|message| &message.parts).any(wanted)
    };
    open.retain(|id| {
        let made_here = parts(&rest[..1], &|part| matches!(part, Part::Call { id: made, .. } if made == id));
        let comes_later = parts(rest, &|part| part.result().is_some_and(|result| result.id == *id));
        if !made_here && comes_later {
            let message = format!("rehearse: the output of function call {id} does not follow it.");
            fields.say("result-not-leading", message);
        }
        made_here || !comes_later
    });
}

/// A reasoning item carries its content when the service stores nothing, and is followed by what came of it.
fn reasoning(view: &View, items: &Items<'_>, fields: &mut Fields) {
    for (index, message) in view.messages.iter().enumerate() {
        let [Part::Thinking { seal, .. }] = &message.parts[..] else { continue };
        let id = items.list.get(index).and_then(|item| item["id"].as_str()).unwrap_or_default();
        if seal.is_none() && !items.stored {
            let message = format!(
                "Item with id '{id}' not found. Items are not persisted when `store` is set to false. \
                 Try again with `store` set to true, or remove this item from your input."
            );
            fields.say("reasoning-content", message);
        }
        if view.messages.get(index + 1).is_none_or(|next| next.role != Role::Assistant) {
            let message =
                format!("Item '{id}' of type 'reasoning' was provided without its required following item.");
            fields.say("reasoning-alone", message);
        }
    }
}
