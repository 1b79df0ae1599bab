//! Reports: messages that nobody wrote. Something a task waits for has happened, or something is wanted of its agent.

use super::deliver::set_to_work;
use super::plan::Plan;
use super::{Actor, Effect, Refusal, text};
use crate::event::body::{MessagePosted, RestReason};
use crate::id::{MessageId, TaskId};
use crate::message::{Message, MessageKind, NoticeTopic, TaskComplete};
use crate::tree::Status;

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
    let message = in_its_own_name(plan, message)?;
    let mut urgency = urgency(plan, to, &message)?;
    if task.status == Status::Draft {
        // Nothing starts a draft, but what was done below it is not lost either.
        if message.kind() != MessageKind::TaskComplete {
            return Err(Refusal::DraftTarget { task: to });
        }
        urgency = Urgency::Waits;
    }
    check_room(plan, to, &message)?;
    let wake = match urgency {
        Urgency::Starts => true,
        // A wish of the user is a word to the agent; the rest happens by itself.
        Urgency::Wakes if message.kind() == MessageKind::Compact => task.status == Status::InProgress,
        Urgency::Wakes => plan.is_called(to),
        Urgency::Waits => false,
    };
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

/// The title in a report is that of the task, whatever its agent says.
fn in_its_own_name(plan: &Plan<'_>, message: Message) -> Result<Message, Refusal> {
    if let Message::TaskComplete(done) = message {
        let title = plan.node(done.task_id)?.title.clone();
        return Ok(TaskComplete { title, ..done }.into());
    }
    Ok(message)
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
            text::name(plan.limits, "the name of the project", &message.from_project_name)?;
            size("the message", message.content.len())?;
            Ok(Urgency::Starts)
        }
        Message::BackgroundComplete(done) => {
            daemon()?;
            text::name(plan.limits, "the name of the command", &done.command_id)?;
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
        Message::Notice(notice) => {
            daemon()?;
            size("the notice", notice.content.len())?;
            // Conflicts are resolved by the task whose work it is, also when it had ended. Who was stopped stays so.
            let stopped = plan.state.session(to).rest() == Some(&RestReason::Stopped);
            let starts = notice.topic == NoticeTopic::Conflict && !stopped;
            Ok(if starts { Urgency::Starts } else { Urgency::Wakes })
        }
        Message::User(_)
        | Message::TaskMessage(_)
        | Message::TreeChange(_)
        | Message::UserMessageForwarded(_)
        | Message::Unknown(_) => Err(refused()),
    }
}

/// Whether a report about a task below would be taken.
pub(super) fn has_room(plan: &Plan<'_>, to: TaskId) -> bool {
    plan.state.inbox(to).len() < plan.limits.inbox_in_all()
}

/// What the task itself set going has a reserve in the inbox, or whoever is flooded would wait for it for ever.
fn check_room(plan: &Plan<'_>, to: TaskId, message: &Message) -> Result<(), Refusal> {
    let outside = message.kind() == MessageKind::CrossProject;
    let limit = if outside { plan.limits.inbox_per_task } else { plan.limits.inbox_in_all() };
    let inbox = plan.state.inbox(to);
    let waiting = if outside { inbox.waking() } else { inbox.len() };
    if waiting >= limit { Err(Refusal::InboxFull { task: to, limit }) } else { Ok(()) }
}

fn name(actor: Actor) -> &'static str {
    match actor {
        Actor::User => "the user",
        Actor::Agent(_) => "an agent",
        Actor::Daemon => "the daemon",
    }
}
