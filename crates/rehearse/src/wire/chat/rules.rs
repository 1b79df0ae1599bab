//! The rules of the Chat wire that concern more than one message. Messages quote the service.

use crate::view::{Part, Role, View};
use crate::wire::fields::Fields;

pub(super) fn check(view: &View, fields: &mut Fields) {
    ends(view, fields);
    pairs(view, fields);
}

fn ends(view: &View, fields: &mut Fields) {
    let mut spoken = view.messages.iter().filter(|message| message.role != Role::System);
    let Some(first) = spoken.next() else {
        fields.say("no-messages", "Invalid 'messages': no message of the user.");
        return;
    };
    // A result without a call has its own rule.
    if first.role == Role::Assistant {
        fields.say("first-message", "rehearse: the first message must be one of the user.");
    }
    if spoken.next_back().unwrap_or(first).role == Role::Assistant {
        fields.say("last-message", "rehearse: the last message must be one of the user or a tool.");
    }
}

/// The messages right after calls are their results, one each.
fn pairs(view: &View, fields: &mut Fields) {
    let mut open: Vec<&str> = Vec::new();
    let mut answered: Vec<&str> = Vec::new();
    for (index, message) in view.messages.iter().enumerate() {
        if message.role == Role::Tool {
            for id in message.parts.iter().filter_map(Part::result).map(|result| result.id.as_str()) {
                take(id, &mut open, &mut answered, index, fields);
            }
            continue;
        }
        unanswered(&open, fields);
        answered.clear();
        open.clear();
        for part in &message.parts {
            let Part::Call { id, .. } = part else { continue };
            if open.contains(&id.as_str()) {
                let message = format!("Duplicate value for 'tool_call_id' of '{id}' in message[{index}].");
                fields.say("duplicate-call", message);
            }
            open.push(id);
        }
    }
    unanswered(&open, fields);
}

fn take<'a>(
    id: &'a str,
    open: &mut Vec<&'a str>,
    answered: &mut Vec<&'a str>,
    index: usize,
    fields: &mut Fields,
) {
    if open.contains(&id) {
        open.retain(|call| *call != id);
        answered.push(id);
    } else if answered.contains(&id) {
        let message = format!("Duplicate value for 'tool_call_id' of '{id}' in message[{index}].");
        fields.say("duplicate-result", message);
    } else if open.is_empty() && answered.is_empty() {
        let message = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message \
                       with 'tool_calls'.";
        fields.say("orphan-result", message);
    } else {
        let message = format!(
            "Invalid parameter: 'tool_call_id' of '{id}' not found in 'tool_calls' of previous message."
        );
        fields.say("orphan-result", message);
    }
}

fn unanswered(open: &[&str], fields: &mut Fields) {
    if !open.is_empty() {
        let message = format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
             'tool_call_id'. The following tool_call_ids did not have response messages: {}",
            open.join(", ")
        );
        fields.say("missing-result", message);
    }
}
