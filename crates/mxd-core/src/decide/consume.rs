//! Taking messages out of an inbox: each once.

use std::collections::BTreeSet;

use super::plan::Plan;
use super::{Actor, Refusal};
use crate::event::body::MessagesConsumed;
use crate::id::{MessageId, TaskId};

pub(super) fn consume(plan: &mut Plan<'_>, task: TaskId, ids: Vec<MessageId>) -> Result<(), Refusal> {
    plan.task(task, "read messages")?;
    match plan.actor {
        Actor::Agent(agent) if agent != task => {
            return Err(Refusal::OutsideSubtree { agent, task, wanted: "read the messages of" });
        }
        Actor::User | Actor::Agent(_) | Actor::Daemon => {}
    }
    if ids.is_empty() {
        return Err(Refusal::Empty { field: "the list of messages" });
    }
    let mut waiting: BTreeSet<MessageId> =
        plan.state.inbox(task).pending().map(|message| message.id).collect();
    for id in &ids {
        if !waiting.remove(id) {
            return Err(Refusal::NotPending { id: *id, task });
        }
    }
    plan.emit(task, MessagesConsumed { message_ids: ids });
    Ok(())
}
