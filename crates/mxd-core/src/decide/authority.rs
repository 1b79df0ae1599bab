//! Who may do what: the user everything, an agent what is in its own subtree.

use super::plan::Plan;
use super::{Actor, Refusal};
use crate::id::TaskId;
use crate::tree::{Node, Persistence};

impl Plan<'_> {
    /// An agent whose task is gone decides nothing any more.
    pub(super) fn check_actor(&self) -> Result<(), Refusal> {
        match self.actor {
            Actor::User | Actor::Daemon => Ok(()),
            Actor::Agent(agent) => match self.tree().get(agent).and_then(Node::task) {
                Some(_) => Ok(()),
                None => Err(Refusal::UnknownActor { task: agent }),
            },
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
