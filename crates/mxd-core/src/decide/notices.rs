//! Who is told about a change of the tree. Notices are quiet: they wait until the agent reads its inbox
//! anyway, unless the task right above may be waiting for the node in vain from now on.
//!
//! A change by the user is told to every task above the node, and to the node itself when its text changed. A
//! change by an agent or by the daemon is told to the node alone, and never to a task above that agent. Nobody is told
//! about their own change.

use super::plan::Plan;
use super::{Actor, Effect};
use crate::event::body::{MessagePosted, NoticeSkipped};
use crate::id::TaskId;
use crate::inbox::latest_about;
use crate::message::{Message, TreeAction, TreeChange};

/// Whom a change concerns besides the tasks above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Concern {
    /// What the task itself is to do: the user's change is told to it too.
    Itself,
    /// Only how it stands among others.
    Surroundings,
}

/// Whether a message that only informs calls the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Urge {
    /// It waits until the inbox is read anyway.
    Quiet,
    /// An agent at work reads it now.
    Wakes,
}

/// What one plan tells one task.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// The notices, or nothing for another kind of message, in order.
    sent: Vec<Option<TreeChange>>,
    skipped: bool,
}

/// Whether somebody who waits for the node waits in vain after this.
fn ends_waiting(action: &TreeAction) -> bool {
    match action {
        TreeAction::StatusChanged | TreeAction::Closed | TreeAction::Reset | TreeAction::Deleted => true,
        TreeAction::Created
        | TreeAction::Updated
        | TreeAction::Moved
        | TreeAction::Reordered
        | TreeAction::Other(_) => false,
    }
}

impl Plan<'_> {
    /// Tells about a change of a node that was there before.
    pub(super) fn announce(&mut self, node: TaskId, change: &TreeChange, concern: Concern) {
        match (self.actor, concern) {
            (Actor::User, Concern::Itself) => {
                self.notify(node, change, Urge::Quiet);
                self.notify_above(node, change);
            }
            (Actor::User, Concern::Surroundings) => self.notify_above(node, change),
            (Actor::Agent(agent), Concern::Itself | Concern::Surroundings) => {
                let is_above = self.tree().tasks_above(agent).any(|above| above.id == node);
                if !is_above {
                    self.notify(node, change, Urge::Quiet);
                }
            }
            (Actor::Daemon, Concern::Itself | Concern::Surroundings) => {
                self.notify(node, change, Urge::Quiet);
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
                self.notify(owner, change, Urge::Quiet);
                self.notify_above(owner, change);
            }
            Actor::Agent(_) | Actor::Daemon => {}
        }
    }

    /// Gives a task a message that only informs. Into a full inbox it does not go, and that is recorded once.
    pub(super) fn inform(&mut self, to: TaskId, about: TaskId, body: Message, urge: Urge) {
        let inbox = self.state.inbox(to);
        let waiting = inbox.len() - inbox.waking();
        let planned = self.notices.entry(to).or_default();
        if waiting + planned.sent.len() >= self.limits.notices_per_inbox {
            if !std::mem::replace(&mut planned.skipped, true) {
                let source = body.kind().name().to_owned();
                self.emit(to, NoticeSkipped { source, node_id: about });
            }
            return;
        }
        planned.sent.push(if let Message::TreeChange(change) = &body { Some(change.clone()) } else { None });
        let (id, wake) = (self.new_id(), urge == Urge::Wakes);
        self.emit(to, MessagePosted { id, body, wake });
        if wake {
            self.effect(Effect::Wake { task: to });
        }
    }

    fn notify_above(&mut self, node: TaskId, change: &TreeChange) {
        for (distance, above) in self.tree().tasks_above(node).enumerate() {
            // The task above may be waiting for just this one: it has to hear that the waiting is over.
            let called = self.is_called(above.id);
            let urge = if distance == 0 && called && ends_waiting(&change.action) {
                Urge::Wakes
            } else {
                Urge::Quiet
            };
            self.notify(above.id, change, urge);
        }
    }

    fn notify(&mut self, to: TaskId, change: &TreeChange, urge: Urge) {
        let is_task = self.tree().get(to).is_some_and(|node| node.task().is_some());
        if !is_task || self.actor == Actor::Agent(to) || self.has_notice(to, change) {
            return;
        }
        self.inform(to, change.node_id, Message::TreeChange(change.clone()), urge);
    }

    fn has_notice(&self, to: TaskId, change: &TreeChange) -> bool {
        let planned = self.notices.get(&to).map_or(&[][..], |planned| &planned.sent);
        match latest_about(change, planned.iter().rev().flatten()) {
            Some(latest) => latest == change,
            None => self.state.inbox(to).has_notice(change),
        }
    }
}

/// A notice about a node.
pub(super) fn change(action: TreeAction, node_id: TaskId, title: &str) -> TreeChange {
    TreeChange { action, node_id, title: Some(title.to_owned()) }
}
