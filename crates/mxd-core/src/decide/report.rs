//! Reports: messages that nobody wrote. Something a task waits for has happened, or something is wanted of its agent.

use super::deliver::set_to_work;
use super::plan::Plan;
use super::{Actor, Effect, Refusal, text};
use crate::event::body::MessagePosted;
use crate::id::{MessageId, TaskId};
use crate::message::{Message, MessageKind};
use crate::tree::{Status, TaskFields};

/// What a report sets in motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Urgency {
    /// The task works on it, also if it had ended.
    Starts,
    /// An agent at work reads it now; one that has ended reads it when it is next called.
    Wakes,
    /// It is read when the inbox is read anyway.
    Waits,
}

pub(super) fn report(
    plan: &mut Plan<'_>,
    id: MessageId,
    to: TaskId,
    message: Message,
) -> Result<(), Refusal> {
    let (_, task) = plan.task(to, "take messages")?;
    if plan.state.inbox(to).knows(id) {
        return Err(Refusal::DuplicateMessage { id, task: to });
    }
    if task.status == Status::Draft {
        return Err(Refusal::DraftTarget { task: to });
    }
    let urgency = urgency(plan, to, &message)?;
    check_room(plan, to, &message)?;
    let wake = wakes(urgency, task);
    plan.emit(to, MessagePosted { id, body: message, wake });
    match urgency {
        Urgency::Starts => set_to_work(plan, to, task).map(|_| ()),
        Urgency::Wakes if wake => {
            plan.effect(Effect::Wake { task: to });
            Ok(())
        }
        Urgency::Wakes | Urgency::Waits => Ok(()),
    }
}

fn wakes(urgency: Urgency, task: &TaskFields) -> bool {
    match urgency {
        Urgency::Starts => true,
        Urgency::Wakes => task.status == Status::InProgress,
        Urgency::Waits => false,
    }
}

/// Checks that this may be reported to this task by this actor.
fn urgency(plan: &Plan<'_>, to: TaskId, message: &Message) -> Result<Urgency, Refusal> {
    let size = |field, bytes| text::bytes(field, bytes, plan.limits.message_bytes);
    let refused = || Refusal::NotAReport { kind: message.kind(), by: name(plan.actor) };
    let daemon = || if plan.actor == Actor::Daemon { Ok(()) } else { Err(refused()) };
    let person = || if plan.actor == Actor::User { Ok(()) } else { Err(refused()) };
    match message {
        Message::TaskComplete(done) => {
            let above = plan.tree().task_above(done.task_id).map(|node| node.id);
            if above != Some(to) {
                return Err(Refusal::NotAbove { task: to, about: done.task_id });
            }
            if plan.actor != Actor::Agent(done.task_id) {
                daemon()?;
            }
            size("the report", done.output.len())?;
            Ok(Urgency::Starts)
        }
        Message::ClarifyResponse(response) => {
            person().or_else(|_| daemon())?;
            size("the answer", response.answer.len())?;
            Ok(Urgency::Starts)
        }
        Message::CrossProject(message) => {
            daemon()?;
            if plan.tree().root().is_none_or(|root| root.id != to) {
                return Err(Refusal::NotRoot { task: to });
            }
            size("the message", message.content.len())?;
            Ok(Urgency::Starts)
        }
        Message::BackgroundComplete(done) => {
            daemon()?;
            let output = [&done.stdout, &done.stderr].into_iter().flatten().map(String::len).sum::<usize>();
            size("the report", done.command.len() + output)?;
            Ok(Urgency::Wakes)
        }
        Message::Compact(_) => person().map(|()| Urgency::Wakes),
        Message::Interrupt(_) => person().map(|()| Urgency::Waits),
        Message::WorkContext(context) => {
            daemon()?;
            size("the context", context.content.len())?;
            Ok(Urgency::Waits)
        }
        Message::User(_)
        | Message::TaskMessage(_)
        | Message::TreeChange(_)
        | Message::UserMessageForwarded(_)
        | Message::Unknown(_) => Err(refused()),
    }
}

/// What the task itself set going has a reserve in the inbox, or whoever is flooded would wait for it for ever.
fn check_room(plan: &Plan<'_>, to: TaskId, message: &Message) -> Result<(), Refusal> {
    let reserve = match message.kind() {
        MessageKind::CrossProject => 0,
        MessageKind::User
        | MessageKind::TreeChange
        | MessageKind::TaskComplete
        | MessageKind::TaskMessage
        | MessageKind::ClarifyResponse
        | MessageKind::UserMessageForwarded
        | MessageKind::BackgroundComplete
        | MessageKind::Compact
        | MessageKind::WorkContext
        | MessageKind::Interrupt
        | MessageKind::Unknown => plan.limits.report_reserve,
    };
    let limit = plan.limits.inbox_per_task + reserve;
    if plan.state.inbox(to).len() >= limit { Err(Refusal::InboxFull { task: to, limit }) } else { Ok(()) }
}

fn name(actor: Actor) -> &'static str {
    match actor {
        Actor::User => "the user",
        Actor::Agent(_) => "an agent",
        Actor::Daemon => "the daemon",
    }
}
