//! A project: one repository, one tree, one log, one loop.
//!
//! [`Project::open`] folds the log and starts the loop; everything that wants something of the project goes through
//! [`Project::wish`], which answers when it is durable. What others read is the state after the last durable commit
//! ([`Project::look`]) and the log itself ([`Project::log`]).

mod fold;
mod hub;
mod intake;
mod keep;
mod limits;
mod user;
mod wish;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use mxd_core::commit::Seq;
use mxd_core::decide::{Actor, Op};
use mxd_core::event::Delta;
use mxd_core::id::ProjectId;
use mxd_core::state::State;
use mxd_core::tool::{ServerName, SideEffect, ToolName};
use mxd_store::Log;
use mxd_tools::proxy::Visit;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use self::fold::Fold;
use self::hub::Hub;
pub(crate) use self::hub::Shown;
use self::intake::Intake;
pub use self::user::{LookError, SetBaseBranchError, SetUpScriptError};
pub(crate) use self::wish::Wish;
pub use self::wish::{Receipt, WishError};
use crate::agents::{Agents, SupplyError, Surroundings};
use crate::provision::{ManifestReport, ServerReport};

/// Wishes that wait for the loop. Whoever wishes more waits.
const WAITING_WISHES: usize = 1_024;
/// Live deltas kept for slow listeners. They are for the eye; what is lost of them comes with the finished item.
const DELTAS: usize = 4_096;

/// What a project is opened with.
#[derive(Debug)]
pub struct Opening {
    /// Its id.
    pub id: ProjectId,
    /// Where its log and everything else of ours is kept.
    pub data: PathBuf,
    /// What the agents work with.
    pub surroundings: Surroundings,
}

/// Why a project cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Its log.
    #[error(transparent)]
    Log(#[from] mxd_store::OpenError),
    /// A thread ended before its time.
    #[error("the log could not be read: {0}")]
    Thread(#[from] tokio::task::JoinError),
}

/// An open project. Clones share it; when the last one goes, its agents end.
#[derive(Debug, Clone)]
pub struct Project {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    id: ProjectId,
    data: PathBuf,
    log: Arc<Log>,
    shown: Arc<Shown>,
    intake: Arc<Intake>,
    deltas: broadcast::Sender<Delta>,
    agents: Agents,
    /// The loop, to be waited for.
    working: tokio::sync::Mutex<Option<JoinHandle<()>>>,
}

impl Project {
    /// Opens a project and takes up what is owed.
    ///
    /// # Errors
    ///
    /// When its log cannot be opened.
    pub async fn open(opening: Opening) -> Result<Self, OpenError> {
        let folder = opening.data.join("log");
        let (log, fold) = tokio::task::spawn_blocking(move || fold::open(&folder)).await??;
        let project = Self::begin(opening, Arc::new(log), fold).await;
        project.shared.agents.clear_up();
        Ok(project)
    }

    /// Ends all agents and goes on with other surroundings: other settings, another place. This one is closed then.
    #[must_use]
    pub async fn renew(&self, surroundings: Surroundings) -> Self {
        self.close().await;
        let Shared { id, data, log, shown, agents, .. } = &*self.shared;
        let opening = Opening { id: *id, data: data.clone(), surroundings };
        let fold = Fold { state: shown.look(State::clone), unwanted: agents.unwanted() };
        Self::begin(opening, Arc::clone(log), fold).await
    }

    async fn begin(opening: Opening, log: Arc<Log>, fold: Fold) -> Self {
        let Fold { state, unwanted } = fold;
        let limits = opening.surroundings.config.project_limits();
        let (wishes, inbox) = mpsc::channel(WAITING_WISHES);
        let deltas = broadcast::Sender::new(DELTAS);
        let head = Seq(*log.head().borrow());
        let shown = Arc::new(Shown::new(state.clone(), head));
        let data = opening.data.clone();
        let agents = Agents::new(crate::agents::Parts {
            project: opening.id,
            data: opening.data,
            surroundings: opening.surroundings,
            log: Arc::clone(&log),
            shown: Arc::clone(&shown),
            wishes: wishes.clone(),
            deltas: deltas.clone(),
            unwanted,
        });
        let (told, taken_up) = oneshot::channel();
        let hub = Hub::new(hub::Parts {
            log: Arc::clone(&log),
            state,
            shown: Arc::clone(&shown),
            limits,
            agents: agents.clone(),
        });
        let intake = Arc::new(Intake::new(hub, wishes));
        let working = Arc::clone(&intake);
        let working = tokio::spawn(async move { working.run(inbox, told).await });
        let working = tokio::sync::Mutex::new(Some(working));
        // A loop that broke answers every wish with that.
        let _broken = taken_up.await;
        agents.keep_task_files();
        let shared = Shared { id: opening.id, data, log, shown, intake, deltas, agents, working };
        Self { shared: Arc::new(shared) }
    }

    /// Its id.
    pub fn id(&self) -> ProjectId {
        self.shared.id
    }

    /// Has something decided. Answers when it is durable.
    ///
    /// # Errors
    ///
    /// When it is refused, or the disk cannot take it.
    pub async fn wish(&self, actor: Actor, op: Op) -> Result<Receipt, WishError> {
        let (wish, answer) = Wish::new(actor, op);
        match self.shared.intake.bring(wish).await {
            true => answer.await.unwrap_or(Err(WishError::Closed)),
            false => Err(WishError::Closed),
        }
    }

    /// Looks at the state after the last durable commit.
    pub fn look<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        self.shared.shown.look(look)
    }

    /// The last commit that [`Project::look`] knows.
    pub fn head(&self) -> Seq {
        self.shared.shown.head()
    }

    /// The same, as a value to watch.
    pub fn through(&self) -> watch::Receiver<Seq> {
        self.shared.shown.through()
    }

    /// The log, to be read by cursor.
    pub fn log(&self) -> &Log {
        &self.shared.log
    }

    /// What is being written right now, for the eye.
    pub fn deltas(&self) -> broadcast::Receiver<Delta> {
        self.shared.deltas.subscribe()
    }

    /// How many agents have something in memory: their conversation, their sandbox, their tools. Those that have waited
    /// since the start have nothing.
    pub fn agents_in_memory(&self) -> usize {
        self.shared.agents.at_desks()
    }

    /// How the servers of its agents are, by the order of the manifest or the settings.
    ///
    /// # Errors
    ///
    /// When the manifest or what was accepted cannot be read.
    pub async fn servers(&self) -> Result<Vec<ServerReport>, SupplyError> {
        self.shared.agents.servers().await
    }

    /// Accepts what a server offers now, on the user's word: its definitions, and the classes that are given for tools.
    /// Agents have it from their next call on; what they were told about tools they read when their conversation is next
    /// summarised.
    ///
    /// # Errors
    ///
    /// When it cannot be looked at, contradicts its manifest, or the disk cannot take it.
    pub async fn accept_server(
        &self,
        server: &ServerName,
        classes: &BTreeMap<ToolName, SideEffect>,
    ) -> Result<ServerReport, SupplyError> {
        self.shared.agents.accept_server(server, classes).await
    }

    /// Looks for a server again that does not come back by itself.
    pub async fn retry_server(&self, server: &ServerName) {
        self.shared.agents.retry_server(server).await;
    }

    /// The latest visits of its agents to hosts, those that were refused, too, oldest first.
    pub fn visits(&self) -> Vec<Visit> {
        self.shared.agents.visits()
    }

    /// The manifest of its agents, and whether the repository has another one now than what was accepted.
    pub async fn manifest(&self) -> Option<ManifestReport> {
        self.shared.agents.manifest().await
    }

    /// Accepts the manifest as it is in the repository now, on the user's word.
    ///
    /// # Errors
    ///
    /// When it has problems, or the disk cannot take it.
    pub async fn accept_manifest(&self) -> Result<ManifestReport, SupplyError> {
        self.shared.agents.accept_manifest().await
    }

    /// Ends all agents and waits until nothing of them runs. What was going on is taken up by the next opening.
    pub async fn close(&self) {
        let Shared { log, shown, agents, working, .. } = &*self.shared;
        agents.closing().cancel();
        let mut working = working.lock().await;
        // First the loop, which begins what agents do; one that broke has ended, too.
        let ended = match working.take() {
            Some(working) => Some(working.await),
            None => None,
        };
        agents.close().await;
        if ended.is_some() {
            keep::keep(log, shown, agents).await;
        }
    }
}
