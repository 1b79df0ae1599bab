//! What the commands of one agent share.

use std::sync::Arc;

use tokio::sync::Mutex;

use super::anchor;
use super::copies::Copies;
use super::error::SandboxError;
use super::groups::Groups;
use super::launch::{Child, Command, Output, Sandbox};
use super::level::Level;
use super::policy::Policy;
use super::wire::Report;

/// A sandbox for the commands of one agent. Cheap to clone; the last clone to go ends what it holds.
///
/// At the top level the commands share a network, so one can talk to a server another has started, and a view of the
/// machine; each has process numbers of its own. Nothing is started before the first command.
#[derive(Debug, Clone)]
pub struct Cell {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    sandbox: Sandbox,
    policy: Policy,
    groups: Arc<Groups>,
    copies: Copies,
    anchor: Mutex<Option<Child>>,
}

impl Sandbox {
    /// A cell whose commands may touch what the policy names.
    pub fn cell(&self, policy: Policy) -> Cell {
        let groups = Arc::new(Groups::make(&policy.limits));
        let shared = Shared {
            sandbox: self.clone(),
            policy,
            groups,
            copies: Copies::default(),
            anchor: Mutex::new(None),
        };
        Cell { shared: Arc::new(shared) }
    }
}

impl Cell {
    /// How far the kernel holds what is started.
    pub fn level(&self) -> Level {
        self.shared.sandbox.level()
    }

    /// What its commands may touch.
    pub fn policy(&self) -> &Policy {
        &self.shared.policy
    }

    /// Limits that hold for each process only, not for all of them together, and why.
    pub fn shortfalls(&self) -> &[String] {
        self.shared.groups.missing()
    }

    /// Starts a command. When this returns, it runs.
    ///
    /// # Errors
    ///
    /// When the sandbox cannot be set up or the program cannot be run; nothing of it is left then.
    pub async fn spawn(&self, command: Command) -> Result<Child, SandboxError> {
        let program = command.program.clone();
        let Shared { sandbox, policy, groups, copies, .. } = &*self.shared;
        copies
            .freshen(&policy.copies)
            .map_err(|error| SandboxError::SetUp { what: format!("copying shared files: {error}") })?;
        let anchor = self.anchor().await?;
        let mut child = sandbox.launch_command(policy, groups, anchor, command)?;
        match child.hear().await? {
            Report::Started { missing } => {
                child.missing = missing;
                Ok(child)
            }
            Report::SetUpFailed { what } => Err(SandboxError::SetUp { what }),
            Report::ExecFailed { why } => Err(SandboxError::Exec { program, why }),
            Report::Ended { .. } => Err(SandboxError::Lost),
        }
    }

    /// The process that holds the namespaces, started when there is none.
    async fn anchor(&self) -> Result<Option<u32>, SandboxError> {
        if self.level() < Level::Full {
            return Ok(None);
        }
        let mut anchor = self.shared.anchor.lock().await;
        if let Some(running) = anchor.as_ref().filter(|child| child.is_running()) {
            return Ok(Some(running.supervisor()));
        }
        let Shared { sandbox, policy, groups, .. } = &*self.shared;
        let silent = Command { stdout: Output::Null, stderr: Output::Null, ..Command::default() };
        let mut child = sandbox.launch(anchor::STAGE, (policy, groups, None), silent)?;
        match child.hear().await? {
            Report::Started { .. } => Ok(Some(anchor.insert(child).supervisor())),
            Report::SetUpFailed { what } | Report::ExecFailed { why: what } => {
                Err(SandboxError::SetUp { what })
            }
            Report::Ended { .. } => Err(SandboxError::Lost),
        }
    }
}
