//! Who is told about a change of the tree. Notices are quiet: they wait until the agent reads its inbox
//! anyway.
//!
//! A change by the user is told to every task above the node, and to the node itself when its text changed. A
//! change by an agent or by the daemon is told to the node alone. Nobody is told about their own change.

use super::Actor;
use super::plan::Plan;
use crate::event::body::{MessagePosted, NoticeSkipped};
use crate::id::TaskId;
use crate::message::{Message, TreeAction, TreeChange};

/// Whom a change concerns besides the tasks above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Concern {
    /// What the task itself is to do: the user's change is told to it too.
    Itself,
    /// Only how it stands among others.
    Surroundings,
}

impl Plan<'_> {
    /// Tells about a change of a node that was there before.
    pub(super) fn announce(&mut self, node: TaskId, change: &TreeChange, concern: Concern) {
        match (self.actor, concern) {
            (Actor::User, Concern::Itself) => {
                self.notify(node, change);
                self.notify_above(node, change);
            }
            (Actor::User, Concern::Surroundings) => self.notify_above(node, change),
            (Actor::Agent(_) | Actor::Daemon, Concern::Itself | Concern::Surroundings) => {
                self.notify(node, change);
            }
        }
    }

    /// Tells about a node that has nothing left to be told itself.
    pub(super) fn announce_above(&mut self, node: TaskId, change: &TreeChange) {
        match self.actor {
            Actor::User => self.notify_above(node, change),
            Actor::Agent(_) | Actor::Daemon => {}
        }
    }

    /// Tells the tasks from `owner` upwards about a node below, if the user changed it.
    pub(super) fn announce_below(&mut self, owner: TaskId, change: &TreeChange) {
        match self.actor {
            Actor::User => {
                self.notify(owner, change);
                self.notify_above(owner, change);
            }
            Actor::Agent(_) | Actor::Daemon => {}
        }
    }

    /// Gives a task a message that only informs. Into a full inbox it does not go, and that is recorded.
    pub(super) fn inform(&mut self, to: TaskId, about: TaskId, body: Message) {
        let notice = if let Message::TreeChange(change) = &body { Some(change.clone()) } else { None };
        let planned = self.notices.entry(to).or_default();
        if self.state.inbox(to).len() + planned.len() >= self.limits.inbox_per_task {
            self.emit(to, NoticeSkipped { source: body.kind(), node_id: about });
            return;
        }
        planned.push(notice);
        let id = self.new_id();
        self.emit(to, MessagePosted { id, body, wake: false });
    }

    fn notify_above(&mut self, node: TaskId, change: &TreeChange) {
        for above in self.tree().tasks_above(node) {
            self.notify(above.id, change);
        }
    }

    fn notify(&mut self, to: TaskId, change: &TreeChange) {
        let is_task = self.tree().get(to).is_some_and(|node| node.task().is_some());
        if !is_task || self.actor == Actor::Agent(to) || self.has_notice(to, change) {
            return;
        }
        self.inform(to, change.node_id, Message::TreeChange(change.clone()));
    }

    fn has_notice(&self, to: TaskId, change: &TreeChange) -> bool {
        let planned = self.notices.get(&to).map_or(&[][..], Vec::as_slice);
        self.state.inbox(to).has_notice(change) || planned.iter().flatten().any(|notice| notice == change)
    }
}

/// A notice about a node.
pub(super) fn change(action: TreeAction, node_id: TaskId, title: &str) -> TreeChange {
    TreeChange { action, node_id, title: Some(title.to_owned()) }
}
