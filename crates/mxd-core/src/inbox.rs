//! The inbox of a task: which messages wait, in order, and which ids were already delivered.
//!
//! An inbox is not stored anywhere; it is what the `message` events say and no `messages_consumed` has named.
//! It holds the shape of messages only. Their text is read from the log when it is needed.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use crate::event::body::MessagePosted;
use crate::id::{MessageId, TaskId};
use crate::limits::Limits;
use crate::message::{Message, MessageKind, TreeChange};
use crate::session::Load;

/// What waits for a task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Inbox {
    pending: VecDeque<Pending>,
    consumed: VecDeque<MessageId>,
}

/// A message that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pending {
    /// Its id.
    pub id: MessageId,
    /// Its kind.
    pub kind: MessageKind,
    /// Whether it starts or wakes the agent.
    pub wake: bool,
    /// The task that wrote it, to be told if nobody ever reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<TaskId>,
    /// What a `tree_change` says, to recognise a second one that says the same. It is a title long at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<TreeChange>,
    /// The bytes of its texts, about.
    #[serde(default)]
    pub bytes: usize,
    /// The pictures that come with it.
    #[serde(default)]
    pub pictures: usize,
}

impl Pending {
    /// What there is to read of it.
    pub fn load(&self) -> Load {
        Load::text(self.bytes).with_pictures(self.pictures)
    }
}

impl Inbox {
    /// The inbox of a task that never got a message.
    pub const EMPTY: Self = Self { pending: VecDeque::new(), consumed: VecDeque::new() };

    /// What waits, oldest first.
    pub fn pending(&self) -> impl ExactSizeIterator<Item = &Pending> {
        self.pending.iter()
    }

    /// How many messages wait.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// How many of them start or wake the agent.
    pub fn waking(&self) -> usize {
        self.pending.iter().filter(|message| message.wake).count()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Whether something waits that starts or wakes the agent.
    pub fn wants_agent(&self) -> bool {
        self.pending.iter().any(|message| message.wake)
    }

    /// Whether this message waits.
    pub fn is_pending(&self, id: MessageId) -> bool {
        self.pending.iter().any(|message| message.id == id)
    }

    /// Whether this message waits or was consumed not too long ago.
    pub fn knows(&self, id: MessageId) -> bool {
        self.is_pending(id) || self.consumed.contains(&id)
    }

    /// Whether the last `tree_change` about the same node that waits says the same. An older one does not count: the
    /// reader believes the last.
    pub fn has_notice(&self, change: &TreeChange) -> bool {
        let notices = self.pending.iter().rev().filter_map(|message| message.notice.as_ref());
        latest_about(change, notices).is_some_and(|latest| latest == change)
    }

    /// Puts a message in; `false` when it had been in before.
    pub(crate) fn post(&mut self, message: &MessagePosted) -> bool {
        if self.knows(message.id) {
            return false;
        }
        let notice =
            if let Message::TreeChange(change) = &message.body { Some(change.clone()) } else { None };
        let (kind, bytes, pictures) = (message.body.kind(), message.body.bytes(), message.body.pictures());
        let from =
            if let Message::TaskMessage(from) = &message.body { Some(from.from_task_id) } else { None };
        let (id, wake) = (message.id, message.wake);
        self.pending.push_back(Pending { id, kind, wake, from, notice, bytes, pictures });
        true
    }

    /// Takes messages out; tells how many of the ids were not waiting.
    pub(crate) fn consume(&mut self, ids: &[MessageId]) -> u64 {
        let mut wanted: BTreeSet<MessageId> = ids.iter().copied().collect();
        let mut missing = ids.len() - wanted.len();
        let consumed = &mut self.consumed;
        self.pending.retain(|message| {
            let taken = wanted.remove(&message.id);
            if taken {
                consumed.push_back(message.id);
            }
            !taken
        });
        while self.consumed.len() > Limits::REMEMBERED_MESSAGE_IDS {
            self.consumed.pop_front();
        }
        missing += wanted.len();
        u64::try_from(missing).unwrap_or(u64::MAX)
    }

    /// Lets nothing that waits start the agent any more.
    pub(crate) fn quiet(&mut self) {
        for message in &mut self.pending {
            message.wake = false;
        }
    }
}

/// The first of these notices, newest first, that is about the same node.
pub(crate) fn latest_about<'a>(
    change: &TreeChange,
    mut newest_first: impl Iterator<Item = &'a TreeChange>,
) -> Option<&'a TreeChange> {
    newest_first.find(|notice| notice.node_id == change.node_id)
}
