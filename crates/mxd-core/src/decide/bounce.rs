//! Messages that nobody will read any more go back to whoever wrote them.

use std::collections::BTreeMap;

use super::Actor;
use super::notices::Urge;
use super::plan::Plan;
use crate::id::TaskId;
use crate::message::{Notice, NoticeTopic};
use crate::prompt::text;

impl Plan<'_> {
    /// Tells the agents who wrote to a task that what it had not read is thrown away. Nobody is told about their own
    /// doing, and who goes with the task (`is_going`) is not told at all.
    pub(super) fn bounce(&mut self, task: TaskId, why: &str, is_going: impl Fn(TaskId) -> bool) {
        let mut unread: BTreeMap<TaskId, usize> = BTreeMap::new();
        for sender in self.state.inbox(task).pending().filter_map(|message| message.from) {
            *unread.entry(sender).or_default() += 1;
        }
        for (sender, count) in unread {
            let is_there = self.tree().get(sender).is_some() && !is_going(sender);
            if !is_there || self.actor == Actor::Agent(sender) {
                continue;
            }
            let which = if count == 1 { String::new() } else { format!(" ({count} messages)") };
            let why = format!("{why}{which}");
            let content = text::Notice::Undeliverable { to: task, why: &why }.sentence();
            let urge = if self.is_called(sender) { Urge::Wakes } else { Urge::Quiet };
            self.inform(sender, task, Notice { topic: NoticeTopic::Bounced, content }.into(), urge);
        }
    }
}
