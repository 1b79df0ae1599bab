//! The servers of one agent.

use std::collections::BTreeMap;
use std::sync::Arc;

use mxd_core::manifest::{LockedServer, Report, ResourceAccess, ServerSpec};
use mxd_core::tool::{ServerName, ToolId};
use serde_json::Value;
use tokio::sync::broadcast;

use super::connection::{CallOptions, Connection};
use super::error::CallError;
use super::pool::{Lease, Pool};
use super::reading;
use super::shelf::{Prompts, Resources};
use super::surroundings::Surroundings;
use super::tools;
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
    /// It is, as long as it offers exactly what is declared, if anything is, and goes on offering just that.
    Use,
}

/// How a server is.
#[derive(Debug, Clone, PartialEq)]
pub enum Status {
    /// It is being connected for the first time, or again.
    Connecting {
        /// Which attempt comes next, when it was lost.
        failed: u64,
        /// Why it was lost.
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
        /// What to do about it.
        hint: String,
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

/// The servers of one agent. Cheap to clone; the last clone to go ends what no other agent uses, and tools in a registry
/// count as such.
#[derive(Debug, Clone)]
pub struct Servers {
    leases: Arc<BTreeMap<ServerName, Lease>>,
}

impl Servers {
    /// Connects all at once, each with its own time, and returns when each is connected or has failed once. Nothing is
    /// shared with other agents; see [`Pool::connect`] for that.
    pub async fn connect(wanted: Vec<Wanted>, around: Arc<Surroundings>) -> Self {
        let servers = Self::of(wanted.into_iter().map(|wanted| Pool::alone(wanted, &around)));
        servers.tried().await;
        servers
    }

    pub(super) fn of(leases: impl Iterator<Item = Lease>) -> Self {
        let leases = leases.map(|lease| (lease.server().name().clone(), lease)).collect();
        Self { leases: Arc::new(leases) }
    }

    /// Waits until each is connected or has failed once.
    pub(super) async fn tried(&self) {
        for lease in self.leases.values() {
            lease.server().tried().await;
        }
    }

    /// How each of them is, by name.
    pub fn statuses(&self) -> Vec<Change> {
        let status = |(name, lease): (&ServerName, &Lease)| Change {
            server: name.clone(),
            status: lease.server().status(),
        };
        self.leases.iter().map(status).collect()
    }

    /// How one of them is.
    pub fn status(&self, server: &ServerName) -> Option<Status> {
        self.leases.get(server).map(|lease| lease.server().status())
    }

    /// What becomes of one of them from now on.
    pub fn changes(&self, server: &ServerName) -> Option<broadcast::Receiver<Change>> {
        self.leases.get(server).map(|lease| lease.server().changes())
    }

    /// The connection to one of them, when it can be used.
    ///
    /// # Errors
    ///
    /// When it cannot.
    pub fn connection(&self, server: &ServerName) -> Result<Arc<Connection>, CallError> {
        self.lease(server)?.server().connection()
    }

    /// Adds the tools of all servers; those of one that cannot be used say why. When there are servers whose resources
    /// may be read, the tools for that are added, too. Returns what could not be added.
    pub fn register(&self, registry: &mut Registry) -> Vec<RegistryError> {
        let mut failed: Vec<RegistryError> =
            self.leases.values().flat_map(|lease| tools::register(lease, registry)).collect();
        let open =
            self.leases.iter().filter(|(_, lease)| lease.server().spec().resources == ResourceAccess::Open);
        let open = open.map(|(name, lease)| (name.clone(), lease.server().clone())).collect();
        failed.extend(reading::register(open, registry));
        failed
    }

    /// The resources of a server, and templates of them.
    ///
    /// # Errors
    ///
    /// When it does not say.
    pub async fn resources(&self, server: &ServerName) -> Result<Resources, CallError> {
        self.lease(server)?.server().resources().await
    }

    /// The prompts of a server.
    ///
    /// # Errors
    ///
    /// When it does not say.
    pub async fn prompts(&self, server: &ServerName) -> Result<Prompts, CallError> {
        self.lease(server)?.server().prompts().await
    }

    /// Reads a resource: the result as the server wrote it, without our secrets.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub async fn read_resource(
        &self,
        server: &ServerName,
        uri: &str,
        options: CallOptions,
    ) -> Result<Value, CallError> {
        self.lease(server)?.server().read_resource(uri, options).await
    }

    /// Calls a tool.
    ///
    /// # Errors
    ///
    /// When there is no result; a tool that failed is one.
    pub async fn call(&self, tool: &ToolId, args: &Value, options: CallOptions) -> Result<Value, CallError> {
        self.lease(&tool.server)?.server().call(&tool.tool, args, options).await
    }

    /// Looks for a server again that does not come back by itself.
    pub fn retry(&self, server: &ServerName) {
        if let Some(lease) = self.leases.get(server) {
            lease.server().retry();
        }
    }

    /// Closes all that no other agent uses.
    pub async fn close(&self) {
        let closing = self.leases.values().map(Lease::close);
        futures_util::future::join_all(closing).await;
    }

    fn lease(&self, server: &ServerName) -> Result<&Lease, CallError> {
        self.leases.get(server).ok_or_else(|| CallError::NoServer { server: server.clone() })
    }
}
