//! The life of a task: status, closing, beginning again, deletion.

use std::collections::BTreeSet;

use super::notices::{Concern, change};
use super::plan::Plan;
use super::{Actor, Effect, Reach, Refusal, session, text};
use crate::event::body::{ConversationCleared, TaskDeleted, TaskReset};
use crate::id::TaskId;
use crate::message::TreeAction;
use crate::tree::{Node, Persistence, Status, TaskFields};

pub(super) fn set_status(
    plan: &mut Plan<'_>,
    id: TaskId,
    to: Status,
    reason: Option<String>,
) -> Result<(), Refusal> {
    text::reason(plan.limits, reason.as_deref())?;
    match to {
        Status::Closed => close(plan, id, reason),
        Status::Draft
        | Status::Pending
        | Status::InProgress
        | Status::Verify
        | Status::Passed
        | Status::Failed => step(plan, id, to, reason),
    }
}

fn step(plan: &mut Plan<'_>, id: TaskId, to: Status, reason: Option<String>) -> Result<(), Refusal> {
    let (node, task) = plan.task(id, "have a status")?;
    plan.check_subtree(id, "change the status of")?;
    plan.check_persistent_draft(task, "make a persistent draft ready")?;
    let by = plan.tree().blocked_by(id);
    if to == Status::InProgress && !by.is_empty() {
        return Err(Refusal::Blocked { task: id, by });
    }
    let ends_itself = plan.actor == Actor::Agent(id) && to.is_ended();
    let unread = plan.state.inbox(id).waking();
    if ends_itself && unread > 0 {
        return Err(Refusal::UnreadMessages { task: id, unread });
    }
    plan.change_status(id, (task.status, to), reason)?;
    if to == Status::InProgress {
        plan.effect(Effect::Wake { task: id });
    }
    // An agent that reports its own end is not to be shot for it.
    if !ends_itself {
        stop_if_running(plan, id, task);
    }
    plan.announce(id, &change(TreeAction::StatusChanged, id, &node.title), Concern::Surroundings);
    release_if_new(plan, id, (task.status, to))
}

/// Starts who waited for a task, when it is the first time that it releases them.
pub(super) fn release_if_new(
    plan: &mut Plan<'_>,
    id: TaskId,
    (from, to): (Status, Status),
) -> Result<(), Refusal> {
    if to.releases() && !from.releases() { plan.release(&BTreeSet::from([id])) } else { Ok(()) }
}

pub(super) fn close(plan: &mut Plan<'_>, id: TaskId, reason: Option<String>) -> Result<(), Refusal> {
    let (node, task) = plan.task(id, "be closed")?;
    plan.check_below(id, "close")?;
    match task.status {
        Status::InProgress => return Err(Refusal::Running { task: id }),
        // What comes back when it is closed would be made ready by it.
        Status::Draft if task.persistent.is_some() => return Err(Refusal::NothingToChange { task: id }),
        Status::Closed => return Err(Refusal::transition(id, Status::Closed, Status::Closed)),
        Status::Draft | Status::Pending | Status::Verify | Status::Passed | Status::Failed => {}
    }
    let to = if task.persistent.is_some() { Status::Pending } else { Status::Closed };
    // A persistent task that never started is where closing would put it; only its traces go.
    if task.status != to {
        plan.change_status(id, (task.status, to), reason)?;
    }
    let notice = change(TreeAction::Closed, id, &node.title);
    match task.persistent {
        Some(Persistence::Reset) => {
            forget(plan, id);
            plan.announce_above(id, &notice);
        }
        Some(Persistence::Continue) | None if task.status == to => {
            return Err(Refusal::NothingToChange { task: id });
        }
        Some(Persistence::Continue) | None => plan.announce(id, &notice, Concern::Surroundings),
    }
    dismiss_worktree(plan, id);
    if to == Status::Closed {
        keep_the_newest(plan, id);
    }
    release_if_new(plan, id, (task.status, to))
}

/// Conversations of closed tasks that one closing throws away at most; the next one goes on.
const THROWN_AWAY_AT_ONCE: usize = 100;

/// Throws away the conversations of closed tasks beyond those that are kept, the oldest first.
fn keep_the_newest(plan: &mut Plan<'_>, closing: TaskId) {
    let has_conversation = |id: TaskId| plan.state.session(id).is_open();
    let closed = plan.tree().nodes().values().filter(|node| node.status() == Some(Status::Closed));
    let mut oldest: Vec<&Node> = closed.filter(|node| has_conversation(node.id)).collect();
    oldest.sort_by_key(|node| (node.updated_at, node.id));
    let mut oldest: Vec<TaskId> = oldest.into_iter().map(|node| node.id).collect();
    oldest.extend([closing].into_iter().filter(|id| has_conversation(*id)));
    let excess = oldest.len().saturating_sub(plan.limits.closed_conversations);
    for id in oldest.into_iter().take(excess.min(THROWN_AWAY_AT_ONCE)) {
        forget(plan, id);
    }
}

pub(super) fn reset(plan: &mut Plan<'_>, id: TaskId) -> Result<(), Refusal> {
    let (node, task) = plan.task(id, "be reset")?;
    plan.check_below(id, "reset")?;
    session::let_go(plan, id);
    plan.bounce(id, "the task was reset before it had read it", |sender| sender == id);
    let edited_by = plan.edited_by();
    plan.emit(id, TaskReset { edited_by });
    match task.status {
        // Making a draft ready is another wish than beginning again.
        Status::Draft | Status::Pending => {}
        Status::InProgress | Status::Verify | Status::Passed | Status::Failed | Status::Closed => {
            plan.change_status(id, (task.status, Status::Pending), Some("reset".to_owned()))?;
        }
    }
    stop_if_running(plan, id, task);
    dismiss_worktree(plan, id);
    plan.discarded.insert(id);
    plan.announce_above(id, &change(TreeAction::Reset, id, &node.title));
    Ok(())
}

pub(super) fn clear(plan: &mut Plan<'_>, id: TaskId) -> Result<(), Refusal> {
    let (_, task) = plan.task(id, "have a conversation")?;
    plan.check_below(id, "clear the conversation of")?;
    forget(plan, id);
    stop_if_running(plan, id, task);
    Ok(())
}

pub(super) fn delete(plan: &mut Plan<'_>, id: TaskId, reach: Reach) -> Result<(), Refusal> {
    let node = plan.node(id)?;
    plan.check_below(id, "delete")?;
    if node.parent_id.is_none() {
        return Err(Refusal::IsRoot { task: id, wanted: "deleted" });
    }
    let children = node.children.len();
    match reach {
        Reach::Only if children > 0 => return Err(Refusal::HasChildren { task: id, children }),
        Reach::Only | Reach::Recursive => {}
    }
    let mut leaves_first = vec![node];
    leaves_first.extend(plan.tree().descendants(id));
    leaves_first.reverse();
    let gone: BTreeSet<TaskId> = leaves_first.iter().map(|node| node.id).collect();
    plan.deleted.extend(&gone);
    let heir = plan.tree().task_above(id).and_then(|above| plan.state.budget_owner(above.id));
    for node in leaves_first {
        session::let_go(plan, node.id);
        if let Some(heir) = heir {
            session::hand_back(plan, node.id, heir.id);
        }
        plan.bounce(node.id, "the task was deleted before it had read it", |sender| gone.contains(&sender));
        delete_one(plan, node);
    }
    plan.announce_above(id, &change(TreeAction::Deleted, id, &node.title));
    plan.release(&gone)
}

fn delete_one(plan: &mut Plan<'_>, node: &Node) {
    let edited_by = plan.edited_by();
    plan.emit(node.id, TaskDeleted { edited_by });
    if let Some(task) = node.task() {
        stop_if_running(plan, node.id, task);
        session::remove_worktree(plan, node.id);
        plan.discarded.insert(node.id);
    }
}

fn forget(plan: &mut Plan<'_>, id: TaskId) {
    session::let_go(plan, id);
    plan.bounce(id, "its conversation was thrown away before it had read it", |sender| sender == id);
    let edited_by = plan.edited_by();
    plan.emit(id, ConversationCleared { edited_by });
    plan.discarded.insert(id);
}

fn stop_if_running(plan: &mut Plan<'_>, id: TaskId, task: &TaskFields) {
    if task.status == Status::InProgress {
        plan.effect(Effect::StopAgent { task: id });
    }
}

/// The root works in the user's own checkout, which is not ours to remove.
fn dismiss_worktree(plan: &mut Plan<'_>, id: TaskId) {
    if plan.tree().root().is_none_or(|root| root.id != id) {
        session::dismiss_worktree(plan, id);
    }
}
