//! No message is lost and none is read twice: each waits, was read once, or went with its conversation.

use std::collections::{BTreeMap, BTreeSet};

use mxd_core::event::{Event, EventBody};
use mxd_core::id::{MessageId, TaskId};
use mxd_core::state::State;
use mxd_core::tree::Status;

#[derive(Default)]
pub(super) struct Mail(BTreeMap<TaskId, Letters>);

#[derive(Default)]
struct Letters {
    waiting: BTreeSet<MessageId>,
    read: BTreeSet<MessageId>,
}

impl Mail {
    pub(super) fn event(&mut self, event: &Event) {
        match &event.body {
            EventBody::Message(posted) => {
                let inbox = self.0.entry(event.task).or_default();
                assert!(!inbox.read.contains(&posted.id), "posted again after it was read: {}", posted.id);
                assert!(inbox.waiting.insert(posted.id), "posted twice: {}", posted.id);
            }
            EventBody::MessagesConsumed(consumed) => {
                let inbox = self.0.entry(event.task).or_default();
                for id in &consumed.message_ids {
                    assert!(inbox.waiting.remove(id), "read, but it did not wait: {id}");
                    assert!(inbox.read.insert(*id), "read twice: {id}");
                }
            }
            EventBody::TaskReset(_) | EventBody::ConversationCleared(_) | EventBody::TaskDeleted(_) => {
                self.0.remove(&event.task);
            }
            _ => {}
        }
    }

    pub(super) fn check(&self, state: &State, task: TaskId) {
        let inbox = state.inbox(task);
        let waiting: BTreeSet<MessageId> = inbox.pending().map(|message| message.id).collect();
        let expected = self.0.get(&task).map(|inbox| inbox.waiting.clone()).unwrap_or_default();
        assert_eq!(waiting, expected, "what waits for {task}");
        let status = state.tree().get(task).and_then(|node| node.status());
        let ended = !matches!(status, Some(Status::Draft | Status::InProgress));
        let free = state.tree().blocked_by(task).is_empty();
        assert!(!(ended && free && inbox.wants_agent()), "a task that is called and free works: {task}");
    }
}
