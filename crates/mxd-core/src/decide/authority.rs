//! Who may do what: the user everything, an agent what is in its own subtree.

use super::plan::Plan;
use super::{Actor, Op, Refusal};
use crate::id::TaskId;
use crate::tree::{Node, Persistence, Status, TaskFields};

impl Plan<'_> {
    /// An agent whose task is gone or no longer in progress decides nothing any more: what it still says is late.
    /// Only the report of its end may follow that end.
    pub(super) fn check_actor(&self, op: &Op) -> Result<(), Refusal> {
        let Actor::Agent(agent) = self.actor else {
            return Ok(());
        };
        let Some(task) = self.tree().get(agent).and_then(Node::task) else {
            return Err(Refusal::UnknownActor { task: agent });
        };
        let reports_its_end = matches!(op, Op::Report { .. }) && task.status.is_ended();
        if task.status == Status::InProgress || reports_its_end {
            Ok(())
        } else {
            Err(Refusal::NotWorking { task: agent, status: task.status })
        }
    }

    /// Whether the actor may throw the node's work away: an agent only what is below its own task.
    pub(super) fn check_below(&self, node: TaskId, wanted: &'static str) -> Result<(), Refusal> {
        match self.actor {
            Actor::Agent(agent) if agent == node => Err(Refusal::OwnTask { task: node, wanted }),
            Actor::User | Actor::Daemon | Actor::Agent(_) => self.check_subtree(node, wanted),
        }
    }

    /// Whether the actor may shape the node: an agent its own task and what is below.
    pub(super) fn check_subtree(&self, node: TaskId, wanted: &'static str) -> Result<(), Refusal> {
        match self.actor {
            Actor::User | Actor::Daemon => Ok(()),
            Actor::Agent(agent) if self.tree().is_in_subtree(node, agent) => Ok(()),
            Actor::Agent(agent) => Err(Refusal::OutsideSubtree { agent, task: node, wanted }),
        }
    }

    /// What only a person may do.
    pub(super) fn check_user(&self, wanted: &'static str) -> Result<(), Refusal> {
        match self.actor {
            Actor::User => Ok(()),
            Actor::Agent(_) | Actor::Daemon => Err(Refusal::UserOnly { wanted }),
        }
    }

    /// A draft that is persistent may have come with a file of the repository, which anybody could have written and merged.
    /// Its words become somebody's instructions only when a person has read them.
    pub(super) fn check_persistent_draft(
        &self,
        task: &TaskFields,
        wanted: &'static str,
    ) -> Result<(), Refusal> {
        let is_draft = task.persistent.is_some() && task.status == Status::Draft;
        if is_draft { self.check_user(wanted) } else { Ok(()) }
    }

    /// Whether the actor may make a task at this depth (counted in tasks) come back each time it is closed.
    pub(super) fn check_persistent(&self, wanted: Option<Persistence>, depth: usize) -> Result<(), Refusal> {
        if wanted.is_none() {
            return Ok(());
        }
        let limit = self.limits.persistent_depth;
        if depth > limit {
            return Err(Refusal::PersistentTooDeep { depth, limit });
        }
        match self.actor {
            Actor::User => Ok(()),
            Actor::Daemon => Err(Refusal::UserOnly { wanted: "make a task persistent" }),
            Actor::Agent(agent) if self.tree().root().is_some_and(|root| root.id == agent) => Ok(()),
            Actor::Agent(agent) => Err(Refusal::PersistentNotAllowed { agent }),
        }
    }
}
