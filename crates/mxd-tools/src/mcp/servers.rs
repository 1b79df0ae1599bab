//! The servers of one agent.

use std::sync::Arc;

use mxd_core::manifest::{LockedServer, Report, ServerSpec};
use mxd_core::tool::{ServerName, ToolId};
use serde_json::Value;
use tokio::sync::broadcast;

use super::connection::CallOptions;
use super::error::CallError;
use super::surroundings::Surroundings;
use crate::plane::{Registry, RegistryError};

/// A server that an agent wants.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Which one.
    pub spec: ServerSpec,
    /// What was accepted of it.
    pub locked: Option<LockedServer>,
    /// What its process sees.
    pub view: View,
    /// What happens when nobody has accepted what it offers.
    pub unaccepted: Unaccepted,
}

/// What the process of a server sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum View {
    /// The agent's worktree, which it may change when its classes say so.
    #[default]
    Worktree,
    /// An empty folder. Agents can share such a server.
    Nothing,
}

/// What happens when nobody has accepted the definitions of a server's tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Unaccepted {
    /// The server is not used.
    #[default]
    Refuse,
    /// It is, as long as it offers exactly what is declared, if anything is.
    Use,
}

/// How a server is.
#[derive(Debug, Clone, PartialEq)]
pub enum Status {
    /// It is being connected for the first time, or again.
    Connecting {
        /// How many attempts have failed.
        failed: u64,
        /// Why the last one did.
        why: Option<String>,
    },
    /// It can be used.
    Ready,
    /// It offers something else than was declared and accepted; it is not used until a person accepts that.
    Drifted(Arc<Report>),
    /// It offers what was declared, but nobody has accepted the definitions.
    Unaccepted(Arc<Report>),
    /// It does not come back by itself.
    Down {
        /// Why.
        why: String,
    },
    /// It was closed.
    Closed,
}

/// A server that became something else.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Which one.
    pub server: ServerName,
    /// What it is now.
    pub status: Status,
}

/// The servers of one agent. Cheap to clone; the last clone to go ends what no other agent uses.
#[derive(Debug, Clone)]
pub struct Servers {
    _todo: (),
}

impl Servers {
    /// Connects all at once, each with its own time, and returns when each is connected or has failed once.
    pub async fn connect(wanted: Vec<Wanted>, around: Arc<Surroundings>) -> Self {
        todo!()
    }

    /// How each of them is, by name.
    pub fn statuses(&self) -> Vec<Change> {
        todo!()
    }

    /// How one of them is.
    pub fn status(&self, server: &ServerName) -> Option<Status> {
        todo!()
    }

    /// What becomes of them from now on.
    pub fn changes(&self) -> broadcast::Receiver<Change> {
        todo!()
    }

    /// Adds the tools of all servers that can be used; returns what could not be added.
    pub fn register(&self, registry: &mut Registry) -> Vec<RegistryError> {
        todo!()
    }

    /// Calls a tool.
    ///
    /// # Errors
    ///
    /// When there is no result; a tool that failed is one.
    pub async fn call(&self, tool: &ToolId, args: &Value, options: CallOptions) -> Result<Value, CallError> {
        todo!()
    }

    /// Looks for a server again that does not come back by itself.
    pub fn retry(&self, server: &ServerName) {
        todo!()
    }

    /// Closes all.
    pub async fn close(&self) {
        todo!()
    }
}
