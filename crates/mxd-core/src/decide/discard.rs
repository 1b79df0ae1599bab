//! Conversations that are thrown away: what is removed from the log, and what stays because a fork begins with it.

use std::collections::BTreeSet;

use super::Effect;
use super::plan::Plan;
use crate::id::TaskId;

impl Plan<'_> {
    /// Has the conversations that this plan throws away removed from the log, and with them earlier ones that had been
    /// kept for their sake. One that somebody else's conversation begins with stays until that one goes, too.
    pub(super) fn prune_discarded(&mut self) {
        if self.discarded.is_empty() {
            return;
        }
        let sessions = self.state.sessions().iter();
        let (going, staying): (Vec<_>, Vec<_>) =
            sessions.partition(|(task, _)| self.discarded.contains(task));
        let needed: BTreeSet<TaskId> =
            staying.iter().flat_map(|(_, session)| session.lineage()).copied().collect();
        let before = going.iter().flat_map(|(_, session)| session.lineage()).copied();
        let unwanted: BTreeSet<TaskId> = before.chain(self.discarded.iter().copied()).collect();
        for task in unwanted.difference(&needed) {
            self.effect(Effect::PruneConversation { task: *task });
        }
    }
}
