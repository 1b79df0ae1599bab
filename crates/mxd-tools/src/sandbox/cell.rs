//! What the commands of one agent share.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::Mutex;

use super::anchor;
use super::disk::Disk;
use super::error::SandboxError;
use super::groups::{Groups, LimitHits};
use super::launch::{Child, Command, Outlets, Output, Sandbox};
use super::level::Level;
use super::outer;
use super::policy::{Limits, Policy};
use super::ready::Ready;
use super::wire::Report;

/// How long a supervisor waits for a command. Whoever runs one usually runs the next within this time.
const PATIENCE: Duration = Duration::from_secs(30);

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
    disk: Disk,
    anchor: Mutex<Option<Arc<Child>>>,
    ready: Ready,
}

impl Sandbox {
    /// A cell whose commands may touch what the policy names.
    pub fn cell(&self, policy: Policy) -> Cell {
        let groups = Arc::new(Groups::make(&policy.limits));
        let shared = Shared {
            sandbox: self.clone(),
            policy,
            groups,
            disk: Disk::default(),
            anchor: Mutex::new(None),
            ready: Ready::default(),
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

    /// How often the kernel held all its commands together to a limit so far.
    pub fn limit_hits(&self) -> LimitHits {
        self.shared.groups.hits()
    }

    /// Starts a command. When this returns, it runs.
    ///
    /// # Errors
    ///
    /// When the sandbox cannot be set up or the program cannot be run; nothing of it is left then.
    pub async fn spawn(&self, command: Command) -> Result<Child, SandboxError> {
        let Shared { sandbox, policy, disk, ready, .. } = &*self.shared;
        if disk.problem().is_some() && disk.check(policy).await.is_some() {
            return self.spawn_for_removal(&command).await;
        }
        if self.level() < Level::Full {
            return sandbox.start(self.launch((outer::STAGE, 2), command.outlets())?, &command).await;
        }
        let anchor = self.anchor().await?;
        if let Some(waiting) = ready.take(&anchor, command.outlets()) {
            match sandbox.start(waiting, &command).await {
                // It did not get so far as to start anything, so another one may.
                Err(SandboxError::SetUp { .. } | SandboxError::Launch { .. }) => {}
                started => return started,
            }
        }
        sandbox.start(self.lodge(&anchor, command.outlets())?, &command).await
    }

    /// Starts a command that may remove files, but neither make nor write any.
    async fn spawn_for_removal(&self, command: &Command) -> Result<Child, SandboxError> {
        let Shared { sandbox, policy, groups, .. } = &*self.shared;
        let limits = Limits { file_bytes: 0, ..policy.limits.clone() };
        let policy = Policy { only_removal: true, limits, ..policy.clone() };
        let (policy, outlets) = ((&policy, groups), command.outlets());
        let supervisor = if self.level() < Level::Full {
            sandbox.launch((outer::STAGE, 2), policy, outlets)?
        } else {
            sandbox.lodge(&self.anchor().await?, policy, outlets)?
        };
        let mut child = sandbox.start(supervisor, command).await?;
        child.only_removes = true;
        Ok(child)
    }

    /// Why nothing more may be written to the disk, as last measured.
    pub fn disk_problem(&self) -> Option<Arc<str>> {
        self.shared.disk.problem()
    }

    /// Measures the disk anew if nothing more could be written.
    pub(crate) async fn check_disk_again(&self) {
        if self.disk_problem().is_some() {
            self.shared.disk.check(&self.shared.policy).await;
        }
    }

    /// Returns when the agent holds more of the disk than it may. A command that can only remove files is not waited for.
    pub(crate) async fn disk_limit_reached(&self, only_removes: bool) {
        if only_removes {
            return std::future::pending().await;
        }
        self.shared.disk.limit_reached(&self.shared.policy).await;
    }

    /// Has a supervisor ready for a command like this one, which then starts sooner. Where commands share their process
    /// numbers nothing is made ready, because they could end what waits.
    pub fn expect_another(&self, like: &Command) {
        if self.level() < Level::Full {
            return;
        }
        let (shared, outlets) = (Arc::downgrade(&self.shared), like.outlets());
        tokio::spawn(async move {
            // When it cannot be made, the next command is told why.
            let Some(Some(made)) = in_cell(&shared, async |cell| cell.make_ready(outlets).await).await else {
                return;
            };
            tokio::time::sleep(PATIENCE).await;
            in_cell(&shared, async |cell| cell.shared.ready.let_go(made)).await;
        });
    }

    async fn make_ready(&self, outlets: Outlets) -> Option<u64> {
        if !self.shared.ready.is_empty() {
            return None;
        }
        let anchor = self.anchor().await.ok()?;
        let waiting = self.lodge(&anchor, outlets).ok()?;
        Some(self.shared.ready.put(outlets, waiting))
    }

    fn launch(&self, stage: (&'static str, usize), outlets: Outlets) -> Result<Child, SandboxError> {
        let Shared { sandbox, policy, groups, .. } = &*self.shared;
        sandbox.launch(stage, (policy, groups), outlets)
    }

    fn lodge(&self, anchor: &Arc<Child>, outlets: Outlets) -> Result<Child, SandboxError> {
        let Shared { sandbox, policy, groups, .. } = &*self.shared;
        sandbox.lodge(anchor, (policy, groups), outlets)
    }

    /// The process that holds the namespaces, started when there is none.
    async fn anchor(&self) -> Result<Arc<Child>, SandboxError> {
        let mut anchor = self.shared.anchor.lock().await;
        if let Some(running) = anchor.as_ref().filter(|child| child.is_running()) {
            return Ok(Arc::clone(running));
        }
        let silent = Outlets { stdout: Output::Null, stderr: Output::Null };
        let mut child = self.launch((anchor::STAGE, 1), silent)?;
        match child.hear().await? {
            Report::Started { .. } => Ok(Arc::clone(anchor.insert(Arc::new(child)))),
            Report::SetUpFailed { what } | Report::ExecFailed { why: what } => {
                Err(SandboxError::SetUp { what })
            }
            Report::Taken | Report::Ended { .. } => Err(SandboxError::Lost),
        }
    }
}

/// Does something in a cell that is still there, without keeping it.
async fn in_cell<T>(shared: &Weak<Shared>, work: impl AsyncFnOnce(&Cell) -> T) -> Option<T> {
    let cell = Cell { shared: shared.upgrade()? };
    Some(work(&cell).await)
}
