//! Where the servers of a project come from: what it has, what was accepted of it, and the processes that agents share.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mxd_core::id::TaskId;
use mxd_core::manifest::{Finding, LockedServer, Placeholders, Report, ServerSpec, Tools};
use mxd_core::tool::{Digest, ServerName, SideEffect, ToolName};
use mxd_tools::mcp::{self, ConnectError, Connection, Pool, finding};
use mxd_tools::package::{PackageError, Packages, Places, Store};

use tokio::sync::oneshot;

use super::Agents;
use super::toolbox::{Toolbox, ToolboxError, with_classes};
use crate::provision::{
    Ledger, LedgerError, ManifestReport, Remit, ServerReport, ServerState, Stock, StockError, Supplied,
    accept_manifest, parse_manifest, read_manifest, tool_reports,
};

/// How long a shared server stays when no agent uses it.
const LINGER: Duration = Duration::from_secs(60);

/// What a project has and who shares it.
#[derive(Debug)]
pub(super) struct Depot {
    pub(super) pool: Pool,
    opened: tokio::sync::Mutex<Option<Arc<Opened>>>,
    /// Held while somebody looks at a server for the first time, so that others use what is accepted then.
    looking: Mutex<HashMap<ServerName, Arc<tokio::sync::Mutex<()>>>>,
    /// Servers that could not be looked at.
    failed: Mutex<HashMap<ServerName, ServerState>>,
}

/// What a project has, and what was accepted of it.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) ledger: Ledger,
    pub(super) stock: Stock,
}

/// Why a server is not used.
#[derive(Debug, thiserror::Error)]
pub enum SupplyError {
    /// It came with the repository.
    #[error("The server {server} came with the repository and is not used until the user accepts it.")]
    NotChosen {
        /// Which one.
        server: ServerName,
    },
    /// There is none.
    #[error("There is no server {server} in the manifest or the settings of this project.")]
    Unknown {
        /// Which one.
        server: ServerName,
    },
    /// It could not be looked at.
    #[error("The server {server} cannot be used: {why}. {hint}")]
    Connect {
        /// Which one.
        server: ServerName,
        /// Why.
        why: String,
        /// What to do about it.
        hint: String,
    },
    /// It takes its time, and nobody waits for it.
    #[error(
        "The server {server} has not come up yet, and nobody waits for it. You are told when it has, and have its tools from \
         your next summary on."
    )]
    Late {
        /// Which one.
        server: ServerName,
    },
    /// What it offers contradicts what was declared.
    #[error("The server {server} contradicts its manifest: {differences}")]
    Contradiction {
        /// Which one.
        server: ServerName,
        /// How, in words.
        differences: String,
        /// The same, difference by difference.
        report: Arc<Report>,
    },
    /// It has no such tool.
    #[error("The server {server} has no tool {tool} that could be given a class.")]
    NoTool {
        /// Which one.
        server: ServerName,
        /// What was named.
        tool: ToolName,
    },
    /// What the project has is not known.
    #[error("{0}")]
    Stock(String),
    /// The folder of verified packages cannot be used.
    #[error(transparent)]
    Packages(#[from] PackageError),
}

impl From<LedgerError> for SupplyError {
    fn from(error: LedgerError) -> Self {
        Self::Stock(error.to_string())
    }
}

impl From<StockError> for SupplyError {
    fn from(error: StockError) -> Self {
        Self::Stock(error.to_string())
    }
}

impl From<ToolboxError> for SupplyError {
    fn from(error: ToolboxError) -> Self {
        Self::Stock(error.to_string())
    }
}

impl Depot {
    pub(super) fn new(data: &Path) -> Self {
        Self {
            pool: Pool::new(data.join("servers"), LINGER),
            opened: tokio::sync::Mutex::default(),
            looking: Mutex::default(),
            failed: Mutex::default(),
        }
    }

    /// Lets one look at a server at a time.
    async fn look(&self, server: &ServerName) -> tokio::sync::OwnedMutexGuard<()> {
        let turn = {
            let mut looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(looking.entry(server.clone()).or_default())
        };
        turn.lock_owned().await
    }

    fn failed(&self) -> MutexGuard<'_, HashMap<ServerName, ServerState>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, server: &ServerName, error: &SupplyError) {
        let state = match error {
            SupplyError::Contradiction { report, .. } => ServerState::Drifted(Arc::clone(report)),
            SupplyError::NotChosen { .. } => ServerState::Unaccepted,
            SupplyError::Connect { why, hint, .. } => {
                ServerState::Down { why: why.clone(), hint: hint.clone() }
            }
            SupplyError::Late { .. } => ServerState::Connecting { why: None },
            SupplyError::Unknown { .. }
            | SupplyError::NoTool { .. }
            | SupplyError::Stock(_)
            | SupplyError::Packages(_) => ServerState::Down { why: error.to_string(), hint: String::new() },
        };
        self.failed().insert(server.clone(), state);
    }
}

impl Agents {
    pub(super) fn checkout(&self) -> PathBuf {
        let checkout = self.surroundings().repository.checkout();
        checkout.map(|checkout| checkout.folder.clone()).unwrap_or_default()
    }

    /// What the project has, read when it is first needed.
    pub(super) async fn opened(&self) -> Result<Arc<Opened>, StockError> {
        let mut slot = self.depot().opened.lock().await;
        if let Some(opened) = &*slot {
            return Ok(Arc::clone(opened));
        }
        let ledger = Ledger::open(&self.parts().data.join("tools"))?;
        let stock = Stock::open(&self.surroundings().config, &self.checkout(), &ledger)?;
        Ok(Arc::clone(slot.insert(Arc::new(Opened { ledger, stock }))))
    }

    /// Verified packages: looked for around the manifest first, then around the repository.
    pub(super) fn packages(&self) -> Result<Packages, SupplyError> {
        let (user, checkout) = (&self.surroundings().user, self.checkout());
        let manifest = self.surroundings().config.manifest.as_deref();
        let beside = manifest.and_then(|path| Path::new(path).parent()).map(|folder| checkout.join(folder));
        let program = std::env::current_exe().ok().and_then(|path| path.parent().map(Path::to_owned));
        let places = Places {
            near: beside.into_iter().chain([checkout]).collect(),
            path: user.path.clone(),
            home: user.home.clone(),
            beside: program.unwrap_or_default(),
        };
        let store = Store::open(&user.packages())?;
        Ok(Packages { store, places, placeholders: Placeholders::Refuse })
    }

    /// Looks at a server that nobody has accepted yet and accepts what it offers, unless that contradicts its manifest.
    pub(super) async fn first_look(
        &self,
        opened: &Opened,
        supplied: &Supplied,
        around: &Arc<mcp::Surroundings>,
    ) -> Result<LockedServer, SupplyError> {
        let name = &supplied.spec.name;
        let _looking = self.depot().look(name).await;
        if let Some(locked) = opened.ledger.locked(name) {
            return Ok(locked);
        }
        let looked = self.look_and_accept(opened, (&supplied.spec, &BTreeMap::new()), around).await;
        if let Err(error) = &looked {
            self.depot().note(name, error);
        }
        looked
    }

    /// The same, without waiting for a server that takes its time: it is looked at behind everything else, and the agent is
    /// told what came of it.
    pub(super) async fn first_look_in_time(
        &self,
        task: TaskId,
        (opened, supplied): (&Arc<Opened>, &Supplied),
        around: &Arc<mcp::Surroundings>,
    ) -> Result<LockedServer, SupplyError> {
        let (agents, name) = (self.clone(), supplied.spec.name.clone());
        let (opened, supplied, look_around) = (Arc::clone(opened), supplied.clone(), Arc::clone(around));
        let (tell, mut told) = oneshot::channel();
        self.spawn(async move {
            let looked = agents.first_look(&opened, &supplied, &look_around).await;
            if let Err(looked) = tell.send(looked) {
                agents.tell_of_late_server(task, &supplied.spec.name, looked).await;
            }
        });
        match tokio::time::timeout(around.limits.begin, &mut told).await {
            Ok(Ok(looked)) => looked,
            Ok(Err(_)) | Err(_) => {
                let late = SupplyError::Late { server: name.clone() };
                self.depot().note(&name, &late);
                told.close();
                // It may have come at the very last moment, between the end of the wait and the end of the listening.
                let looked = told.try_recv().unwrap_or(Err(late));
                self.remember_look(&name, &looked);
                looked
            }
        }
    }

    fn remember_look(&self, server: &ServerName, looked: &Result<LockedServer, SupplyError>) {
        match looked {
            Ok(_) => drop(self.depot().failed().remove(server)),
            Err(error) => self.depot().note(server, error),
        }
    }

    async fn tell_of_late_server(
        &self,
        task: TaskId,
        server: &ServerName,
        looked: Result<LockedServer, SupplyError>,
    ) {
        self.remember_look(server, &looked);
        let words = match looked {
            Ok(_) => {
                self.forget_toolboxes().await;
                format!("The server {server} has come up. You have its tools from your next summary on.")
            }
            Err(error) => error.to_string(),
        };
        self.mention(task, words).await;
    }

    async fn look_and_accept(
        &self,
        opened: &Opened,
        (spec, classes): (&ServerSpec, &BTreeMap<ToolName, SideEffect>),
        around: &Arc<mcp::Surroundings>,
    ) -> Result<LockedServer, SupplyError> {
        let server = || spec.name.clone();
        let before = opened.ledger.locked(&spec.name);
        let connection = Connection::open(spec, before.as_ref(), around).await;
        let connection = connection.map_err(|error: ConnectError| SupplyError::Connect {
            server: server(),
            why: error.to_string(),
            hint: error.advice(spec, around),
        })?;
        let (discovered, report) = (connection.discovered(), connection.report());
        connection.close().await;
        contradictions(spec, &report)?;
        let mut locked = LockedServer::accept(spec, &discovered, before.as_ref());
        for (tool, class) in classes {
            let missing = || SupplyError::NoTool { server: server(), tool: tool.clone() };
            locked.tools.get_mut(tool).ok_or_else(missing)?.effect = Some(*class);
        }
        let locked = with_classes(locked, spec);
        opened.ledger.accept(server(), locked.clone())?;
        self.depot().failed().remove(&spec.name);
        Ok(locked)
    }

    /// Accepts what a server offers now, on the user's word. Agents have it from their next call on.
    pub(crate) async fn accept_server(
        &self,
        name: &ServerName,
        classes: &BTreeMap<ToolName, SideEffect>,
    ) -> Result<ServerReport, SupplyError> {
        let opened = self.opened().await?;
        let supplied = opened.stock.server(name);
        let supplied = supplied.ok_or_else(|| SupplyError::Unknown { server: name.clone() })?;
        let root = self.parts().shown.look(|state| state.tree().root().map(|root| root.id));
        let root = root.ok_or_else(|| SupplyError::Stock("the project has no root task yet".to_owned()))?;
        let everything = Remit::of(&opened.stock, &[], (Path::new(""), &crate::provision::Skills::default()));
        let everything = everything.map_err(|error| SupplyError::Stock(error.to_string()))?;
        let around = Arc::new(self.around(root, &everything).await?);
        let _looking = self.depot().look(name).await;
        self.look_and_accept(&opened, (&supplied.spec, classes), &around).await?;
        self.forget_toolboxes().await;
        let tasks: Vec<TaskId> = self.desks().keys().copied().collect();
        for task in tasks {
            let words = "Tools of it that you were not told about come with your next summary.";
            self.mention(task, format!("The user accepted what the server {name} offers now. {words}")).await;
        }
        Ok(report(supplied, &opened.ledger, &HashMap::new()))
    }

    /// Accepts the manifest of the project as it is in the repository now, on the user's word.
    pub(crate) async fn accept_manifest(&self) -> Result<ManifestReport, SupplyError> {
        let config = &self.surroundings().config;
        if let Some(path) = &config.manifest {
            // What was accepted before may be what cannot be used any more.
            let ledger = Ledger::open(&self.parts().data.join("tools"))?;
            accept_manifest((path, &config.manifest_signers), &self.checkout(), &ledger)?;
            *self.depot().opened.lock().await = None;
            self.forget_toolboxes().await;
        }
        self.manifest().await.ok_or_else(|| SupplyError::Stock("no manifest is set".to_owned()))
    }

    /// The manifest of the project, when it has one.
    pub(crate) async fn manifest(&self) -> Option<ManifestReport> {
        let path = self.surroundings().config.manifest.clone()?;
        let address = |text: String| parse_manifest(&path, &text).ok().map(|manifest| manifest.address());
        let accepted = self.opened().await.ok().and_then(|opened| opened.ledger.manifest(&path));
        let accepted: Option<Digest> = accepted.and_then(|accepted| address(accepted.text));
        let now = read_manifest(&path, &self.checkout()).ok().and_then(address);
        Some(ManifestReport { accepted, changed: now.filter(|now| Some(*now) != accepted), path })
    }

    /// How the servers of the project are.
    pub(crate) async fn servers(&self) -> Result<Vec<ServerReport>, SupplyError> {
        let opened = self.opened().await?;
        let failed = self.depot().failed().clone();
        let mut states: HashMap<ServerName, Vec<ServerState>> =
            failed.into_iter().map(|(server, state)| (server, vec![state])).collect();
        for toolbox in self.toolboxes().await {
            for change in toolbox.servers.statuses() {
                states.entry(change.server).or_default().push(change.status.into());
            }
        }
        Ok(opened.stock.servers.iter().map(|supplied| report(supplied, &opened.ledger, &states)).collect())
    }

    /// Looks for a server again that does not come back by itself.
    pub(crate) async fn retry_server(&self, name: &ServerName) {
        if self.depot().failed().remove(name).is_some() {
            return self.forget_toolboxes().await;
        }
        for toolbox in self.toolboxes().await {
            toolbox.servers.retry(name);
        }
    }

    async fn toolboxes(&self) -> Vec<Arc<Toolbox>> {
        let desks: Vec<_> = self.desks().values().cloned().collect();
        let mut found = Vec::new();
        for desk in desks {
            // One that is being made is not waited for: whoever looks wants to know now.
            found.extend(desk.toolbox.try_lock().ok().and_then(|slot| slot.clone()));
        }
        found
    }

    /// Lets every agent take its tools anew when it next needs them. Calls that run are not disturbed.
    pub(super) async fn forget_toolboxes(&self) {
        let desks: Vec<_> = self.desks().values().cloned().collect();
        for desk in desks {
            desk.toolbox.lock().await.take();
        }
    }
}

/// What cannot be accepted: it contradicts the manifest, or is no list of tools at all.
fn contradictions(spec: &ServerSpec, report: &Arc<Report>) -> Result<(), SupplyError> {
    let is_declared = matches!(spec.tools, Tools::Declared(_));
    let contradicts = |one: &&Finding| match one {
        Finding::Missing { .. } | Finding::Unexpected { .. } => is_declared,
        Finding::Unreadable { .. } | Finding::TooMany { .. } | Finding::Repeated { .. } => true,
        Finding::ServerNotLocked
        | Finding::OtherIdentity { .. }
        | Finding::OtherPackage { .. }
        | Finding::ToolNotLocked { .. }
        | Finding::Drift { .. } => false,
    };
    let differences: Vec<String> = report.findings.iter().filter(contradicts).map(finding).collect();
    if differences.is_empty() {
        return Ok(());
    }
    let (server, differences) = (report.server.clone(), differences.join("; "));
    Err(SupplyError::Contradiction { server, differences, report: Arc::clone(report) })
}

/// A server with the worst that any of its agents sees of it.
fn report(
    supplied: &Supplied,
    ledger: &Ledger,
    states: &HashMap<ServerName, Vec<ServerState>>,
) -> ServerReport {
    let name = supplied.spec.name.clone();
    let locked = ledger.locked(&name);
    let seen = states.get(&name).map(Vec::as_slice).unwrap_or_default();
    let worst = seen.iter().max_by_key(|state| match state {
        ServerState::Idle => 0,
        ServerState::Ready => 1,
        ServerState::Connecting { .. } => 2,
        ServerState::Down { .. } => 3,
        ServerState::Unaccepted => 4,
        ServerState::Drifted(_) => 5,
    });
    let repository = supplied.source == crate::provision::Source::Settings(crate::config::Layer::Repository);
    let unseen = if locked.is_none() && repository { ServerState::Unaccepted } else { ServerState::Idle };
    ServerReport {
        state: worst.cloned().unwrap_or(unseen),
        tools: tool_reports(&supplied.spec, locked.as_ref()),
        agents: seen.len(),
        source: supplied.source,
        name,
    }
}
