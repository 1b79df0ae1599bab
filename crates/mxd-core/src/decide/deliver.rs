//! Messages: who may write to whom, and what a message sets in motion.

use super::notices::Urge;
use super::plan::Plan;
use super::{Actor, Effect, Post, Refusal, text};
use crate::event::body::MessagePosted;
use crate::id::{MessageId, TaskId};
use crate::message::{Message, TaskMessage, UserMessage, UserMessageForwarded};
use crate::tree::{Node, Status, TaskFields};

pub(super) fn send(plan: &mut Plan<'_>, id: MessageId, to: TaskId, post: Post) -> Result<(), Refusal> {
    let (node, task) = plan.task(to, "take messages")?;
    // Asked first, so that a repeated request gets the same answer whatever has become of the task since.
    if plan.state.inbox(to).knows(id) {
        return Err(Refusal::DuplicateMessage { id, task: to });
    }
    check_reach(plan, to)?;
    if task.status == Status::Draft {
        return Err(Refusal::DraftTarget { task: to });
    }
    check_post(plan, &post)?;
    let (inbox, limit) = (plan.state.inbox(to), plan.limits.inbox_per_task);
    if inbox.waking() >= limit || inbox.len() >= 2 * limit + plan.limits.notices_per_inbox {
        return Err(Refusal::InboxFull { task: to, limit });
    }
    let content = post.content.clone();
    let body = message(plan, post)?;
    plan.emit(to, MessagePosted { id, body, wake: true });
    let resumed = set_to_work(plan, to, task)? == Start::Resumed;
    match plan.actor {
        Actor::User => forward(plan, (node, task), &content, resumed),
        Actor::Agent(_) | Actor::Daemon => {}
    }
    Ok(())
}

/// What a message did to the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// It works now, for the first time or still.
    Working,
    /// It had ended and works again.
    Resumed,
    /// It waits for other tasks, and the message with it.
    Waiting,
}

pub(super) fn set_to_work(plan: &mut Plan<'_>, to: TaskId, task: &TaskFields) -> Result<Start, Refusal> {
    if task.status == Status::InProgress {
        plan.effect(Effect::Wake { task: to });
        return Ok(Start::Working);
    }
    if !plan.blocked_by(to).is_empty() {
        return Ok(Start::Waiting);
    }
    plan.start(to, task.status, "a message")?;
    Ok(if task.status.is_ended() { Start::Resumed } else { Start::Working })
}

/// An agent writes to the tasks above it and to those it owns.
fn check_reach(plan: &Plan<'_>, to: TaskId) -> Result<(), Refusal> {
    let Actor::Agent(agent) = plan.actor else {
        return Ok(());
    };
    let tree = plan.tree();
    let above = tree.tasks_above(agent).any(|node| node.id == to);
    let below = tree.task_above(to).is_some_and(|owner| owner.id == agent);
    if above || below { Ok(()) } else { Err(Refusal::OutOfReach { agent, task: to }) }
}

fn check_post(plan: &Plan<'_>, post: &Post) -> Result<(), Refusal> {
    if post.content.trim().is_empty() {
        return Err(Refusal::Empty { field: "the message" });
    }
    let size = post.content.len() + post.header.as_ref().map_or(0, String::len);
    text::bytes("the message", size, plan.limits.message_bytes)?;
    let limit = match plan.actor {
        Actor::User => plan.limits.images_per_message,
        Actor::Agent(_) | Actor::Daemon => 0,
    };
    let given = post.images.len();
    if given > limit {
        return Err(Refusal::TooManyImages { given, limit });
    }
    for image in &post.images {
        text::name(plan.limits, "the media type", &image.media_type)?;
        text::name(plan.limits, "the address of the image", &image.blob.0)?;
    }
    Ok(())
}

fn message(plan: &Plan<'_>, post: Post) -> Result<Message, Refusal> {
    let Post { content, images, header, title, request_reply } = post;
    match plan.actor {
        Actor::User => Ok(UserMessage { content, images, header }.into()),
        Actor::Daemon => Err(Refusal::NotAnAuthor),
        Actor::Agent(agent) => {
            let title = title.map(|title| text::title(plan.limits, &title)).transpose()?;
            let from_title = plan.node(agent)?.title.clone();
            Ok(TaskMessage { from_task_id: agent, from_title, content, title, request_reply, header }.into())
        }
    }
}

/// The tasks above hear what the user told the one below.
fn forward(plan: &mut Plan<'_>, (node, task): (&Node, &TaskFields), content: &str, resumed: bool) {
    let content = text::cut(content, plan.limits.forwarded_bytes);
    let (from_task_id, from_title) = (node.id, node.title.clone());
    let copy: Message = if resumed {
        let content = resumption(task, &content);
        TaskMessage { from_task_id, from_title, content, title: None, request_reply: false, header: None }
            .into()
    } else {
        UserMessageForwarded { from_task_id, from_title, content, resumed }.into()
    };
    for above in plan.tree().tasks_above(node.id) {
        plan.inform(above.id, node.id, copy.clone(), Urge::Quiet);
    }
}

fn resumption(task: &TaskFields, content: &str) -> String {
    let branch = task.branch.as_deref().unwrap_or("none yet");
    let worktree = task.worktree_path.as_deref().unwrap_or("none yet");
    let was = task.status;
    format!(
        "The user resumed this task, which was {was} (branch: {branch}, worktree: {worktree}):\n{content}"
    )
}
