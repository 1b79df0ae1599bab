//! Messages of an inbox as they stand in a conversation, the same when they arrive and when they are replayed.

use super::fence::Fence;
use super::stamp::stamp;
use crate::limits::Limits;
use crate::message::{
    BackgroundComplete, CrossProject, Message, TaskComplete, TaskMessage, TreeAction, TreeChange, UserMessage,
};
use crate::time::Millis;
use crate::tool::orchestrator::MESSAGE_BYTES;

/// Bytes of a report of finished work.
const REPORT_BYTES: usize = 24 * 1024;

/// Bytes of a command line.
const COMMAND_BYTES: usize = 2_000;

/// The text of a message: when it came, then what it says. The user's words stand as they are; all others are fenced
/// and say whose they are.
pub fn message(at: Millis, message: &Message) -> String {
    let body = match message {
        Message::User(user) => return from_user(at, user),
        Message::TaskMessage(from) => {
            return with_header(from.header.as_deref(), &stamped(at, &task_message(from)));
        }
        Message::TreeChange(change) => tree_change(change),
        Message::TaskComplete(complete) => task_complete(complete),
        Message::ClarifyResponse(response) => {
            let fence = Fence::new("clarify_response").with("from", "user");
            let fence = match &response.clarification_id {
                Some(id) => fence.with("id", &id.to_string()),
                None => fence,
            };
            fence.around(&response.answer, Limits::DEFAULT.message_bytes)
        }
        Message::UserMessageForwarded(copy) => {
            let fence = Fence::new("user_message_forwarded").with("to_task", &copy.from_task_id.to_string());
            let fence = fence.with("task_name", &copy.from_title);
            let fence = if copy.resumed { fence.with("resumed", "true") } else { fence };
            fence.around(&copy.content, Limits::DEFAULT.forwarded_bytes * 2)
        }
        Message::CrossProject(from) => cross_project(from),
        Message::BackgroundComplete(ended) => background_complete(ended),
        Message::Compact(_) => notice("The user asked to summarise the conversation now."),
        Message::WorkContext(context) => {
            Fence::new("work_context").around_own(&context.content, Limits::DEFAULT.message_bytes)
        }
        Message::Interrupt(_) => notice(
            "The user interrupted your turn. What was running was stopped. Wait for what the user says next.",
        ),
        Message::Notice(body) => notice(&body.content),
        Message::Unknown(_) => notice(
            "A message of a kind that this version of the program does not know has arrived and cannot be shown.",
        ),
    };
    stamped(at, &body)
}

fn stamped(at: Millis, body: &str) -> String {
    format!("[{}] {body}", stamp(at))
}

fn with_header(header: Option<&str>, body: &str) -> String {
    match header {
        Some(header) => format!("{}\n\n{body}", header.trim_end()),
        None => body.to_owned(),
    }
}

fn notice(text: &str) -> String {
    Fence::new("notice").around(text, usize::MAX)
}

fn from_user(at: Millis, user: &UserMessage) -> String {
    with_header(user.header.as_deref(), &stamped(at, &user.content))
}

fn task_message(from: &TaskMessage) -> String {
    let fence = Fence::new("task_message").with("from_task", &from.from_task_id.to_string());
    let fence = fence.with("task_name", &from.from_title);
    let fence = match &from.title {
        Some(title) => fence.with("title", title),
        None => fence,
    };
    let fence = if from.request_reply { fence.with("requestReply", "true") } else { fence };
    fence.around(&from.content, MESSAGE_BYTES)
}

fn task_complete(complete: &TaskComplete) -> String {
    let status = if complete.success { "passed" } else { "failed" };
    let fence = Fence::new("task_complete").with("from_task", &complete.task_id.to_string());
    let fence = fence.with("task_name", &complete.title).with("status", status);
    fence.around(&complete.output, REPORT_BYTES)
}

fn cross_project(from: &CrossProject) -> String {
    let fence = Fence::new("cross_project").with("from", &from.from_project_name);
    fence.with("projectId", &from.from_project_id.to_string()).around(&from.content, MESSAGE_BYTES)
}

fn background_complete(ended: &BackgroundComplete) -> String {
    let exit = ended.exit_code.map_or_else(|| "lost".to_owned(), |code| code.to_string());
    let fence = Fence::new("background_complete").with("id", &ended.command_id).with("exit", &exit);
    let fence = fence
        .with("duration", &format!("{}.{} s", ended.duration_ms / 1_000, ended.duration_ms % 1_000 / 100));
    let mut inside = super::fence::cut(&ended.command, COMMAND_BYTES);
    for (name, path) in [("output", &ended.stdout), ("error output", &ended.stderr)] {
        if let Some(path) = path {
            inside.push_str(&format!("\n{name}: {path}"));
        }
    }
    if ended.exit_code.is_none() {
        inside.push_str("\nHow it ended is unknown: look at what it left before you start it again.");
    }
    fence.around(&inside, 2 * COMMAND_BYTES)
}

fn tree_change(change: &TreeChange) -> String {
    let action = match &change.action {
        TreeAction::Created => "created",
        TreeAction::Updated => "updated",
        TreeAction::Moved => "moved",
        TreeAction::Reordered => "reordered",
        TreeAction::StatusChanged => "status_changed",
        TreeAction::Closed => "closed",
        TreeAction::Reset => "reset",
        TreeAction::Deleted => "deleted",
        TreeAction::Other(other) => other,
    };
    let fence = Fence::new("tree_change").with("action", action).with("nodeId", &change.node_id.to_string());
    match &change.title {
        Some(title) => fence.with("title", title).empty(),
        None => fence.empty(),
    }
}
