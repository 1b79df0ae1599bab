//! The other projects of the same user, for agents that write to them.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use mxd_core::decide::{Actor, Op, Refusal};
use mxd_core::id::{MessageId, ProjectId};
use mxd_core::message::CrossProject;

use crate::project::{Project, WishError};

/// A project as others see it.
#[derive(Debug, Clone)]
pub struct Neighbour {
    /// Its name.
    pub name: String,
    /// The project.
    pub project: Project,
}

/// All projects that are open. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Neighbours(Arc<RwLock<BTreeMap<ProjectId, Neighbour>>>);

impl Neighbours {
    /// Adds a project.
    pub fn add(&self, neighbour: Neighbour) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(neighbour.project.id(), neighbour);
    }

    /// Takes a project out.
    pub fn remove(&self, id: ProjectId) -> Option<Neighbour> {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(&id)
    }

    /// All of them.
    pub fn all(&self) -> Vec<(ProjectId, Neighbour)> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.iter().map(|(id, neighbour)| (*id, neighbour.clone())).collect()
    }

    /// Delivers a message to the root task of another project, once however often it is asked to.
    pub(super) async fn write(
        &self,
        from: ProjectId,
        to: &str,
        (id, content): (MessageId, String),
    ) -> Result<String, String> {
        let all = self.all();
        let sender = all.iter().find(|(id, _)| *id == from).map(|(_, neighbour)| neighbour.name.clone());
        let target = all.iter().find(|(id, _)| id.to_string() == to && *id != from);
        let (_, target) = target.ok_or("there is no other project of this id; list_projects shows them")?;
        let root = target.project.look(|state| state.tree().root().map(|root| root.id));
        let root = root.ok_or("that project has no root task yet")?;
        let message = CrossProject {
            from_project_id: from,
            from_project_name: sender.unwrap_or_else(|| "another project".to_owned()),
            content,
        };
        let op = Op::Report { id, to: root, message: message.into() };
        match target.project.wish(Actor::Daemon, op).await {
            Ok(_) | Err(WishError::Refused(Refusal::DuplicateMessage { .. })) => {
                Ok(format!("Sent to {}.", target.name))
            }
            Err(error) => Err(error.to_string()),
        }
    }
}
