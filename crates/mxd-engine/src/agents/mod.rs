//! The agents of a project: everything that happens outside of the loop, and comes back into it.
//!
//! `Agents::perform` begins what the loop decided; each kind of work has its file. What a task needs while it works
//! (its conversation, its sandbox, its running calls) is at its desk, which is made when it is first needed: a task
//! that waits has none.

pub(crate) mod base_branch;
mod checks;
mod conflict;
mod depot;
mod desk;
mod elicit;
mod errand;
mod hosts;
mod launch;
mod leftovers;
mod merge;
mod model;
mod neighbours;
mod network;
mod once;
mod remove;
mod room;
mod sample;
mod search;
mod situation;
mod summary;
mod talk;
mod task_files;
mod tool;
mod toolbox;
mod user;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use mxd_core::commit::Seq;
use mxd_core::decide::{Actor, Alarm, Effect, Op, SessionOp};
use mxd_core::event::{Delta, Event, EventBody};
use mxd_core::id::{ProjectId, TaskId};
use mxd_core::time::Millis;
use mxd_llm::Provider;
use mxd_store::Log;
use mxd_tools::plane::Plane;
use mxd_tools::proxy::Proxy;
use mxd_tools::sandbox::{Sandbox, User};
use tokio::sync::{broadcast, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use self::base_branch::BaseBranchError;
use self::depot::Depot;
pub use self::depot::SupplyError;
use self::desk::Desk;
pub(crate) use self::leftovers::Unwanted;
pub use self::neighbours::{Neighbour, Neighbours};
pub use self::task_files::TaskFileReport;
pub use self::user::{Merge, MergeRequest};
use crate::clock;
use crate::config::{Config, CurrentConfig};
use crate::git::Repository;
use crate::keyring::Keyring;
use crate::project::{Shown, Wish, WishError};

/// What the agents of a project work with.
#[derive(Debug)]
pub struct Surroundings {
    /// The settings.
    pub config: Config,
    /// The repository.
    pub repository: Repository,
    /// The program's own tools; those of servers come to them.
    pub plane: Plane,
    /// Where commands run.
    pub sandbox: Sandbox,
    /// Whose tools they use.
    pub user: User,
    /// Where credentials come from.
    pub keyring: Keyring,
    /// The other projects.
    pub neighbours: Neighbours,
}

/// Why nobody knows what the settings say now.
#[derive(Debug, thiserror::Error)]
#[error("the settings cannot be read: {0}")]
struct SettingsError(String);

/// What agents are made of.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) project: ProjectId,
    pub(crate) data: PathBuf,
    pub(crate) surroundings: Surroundings,
    pub(crate) log: Arc<Log>,
    pub(crate) shown: Arc<Shown>,
    pub(crate) wishes: mpsc::Sender<Wish>,
    pub(crate) deltas: broadcast::Sender<Delta>,
    pub(crate) unwanted: Unwanted,
}

/// The agents. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Agents {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    parts: Parts,
    desks: Mutex<HashMap<TaskId, Arc<Desk>>>,
    providers: Mutex<HashMap<String, Provider>>,
    depot: Depot,
    /// Servers that wait for the user's answer.
    waiting: Mutex<elicit::Waiting>,
    /// The settings as their files are now.
    current_config: Arc<CurrentConfig>,
    /// Connections that wait for the user's word about a host.
    waiting_hosts: Mutex<hosts::WaitingHosts>,
    /// The way of servers to allowed hosts, once one of them needs it.
    proxy: tokio::sync::Mutex<Option<Arc<Proxy>>>,
    /// All proxies that run, those of tasks too.
    proxies: Mutex<Vec<Weak<Proxy>>>,
    proxies_started: AtomicU64,
    /// Tasks in whose worktrees somebody has worked since the start.
    visited: Mutex<HashSet<TaskId>>,
    /// What is to be gone, also when that is done: whether it is, nobody writes down.
    unwanted: Mutex<Unwanted>,
    /// Persistent tasks and their files in the repository.
    task_files: task_files::TaskFiles,
    work: TaskTracker,
    closing: CancellationToken,
    /// Cancelled when everything begins again.
    era: Mutex<CancellationToken>,
}

impl Agents {
    pub(crate) fn new(mut parts: Parts) -> Self {
        let closing = CancellationToken::new();
        let unwanted = Mutex::new(std::mem::take(&mut parts.unwanted));
        let inner = Inner {
            depot: Depot::new(&parts.data),
            waiting: Mutex::default(),
            current_config: Arc::new(CurrentConfig::new(parts.surroundings.config.places.clone())),
            waiting_hosts: Mutex::default(),
            proxy: tokio::sync::Mutex::default(),
            proxies: Mutex::default(),
            proxies_started: AtomicU64::new(0),
            parts,
            desks: Mutex::default(),
            providers: Mutex::default(),
            visited: Mutex::default(),
            unwanted,
            task_files: task_files::TaskFiles::default(),
            work: TaskTracker::new(),
            era: Mutex::new(closing.child_token()),
            closing,
        };
        Self { inner: Arc::new(inner) }
    }

    fn parts(&self) -> &Parts {
        &self.inner.parts
    }

    pub(crate) fn surroundings(&self) -> &Surroundings {
        &self.inner.parts.surroundings
    }

    /// The settings as their files are now.
    async fn current_config(&self) -> Result<Arc<Config>, SettingsError> {
        let current = Arc::clone(&self.inner.current_config);
        let loaded = tokio::task::spawn_blocking(move || current.load()).await;
        loaded
            .map_err(|error| SettingsError(error.to_string()))?
            .map_err(|error| SettingsError(error.to_string()))
    }

    fn depot(&self) -> &Depot {
        &self.inner.depot
    }

    fn desks(&self) -> MutexGuard<'_, HashMap<TaskId, Arc<Desk>>> {
        self.inner.desks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn era(&self) -> MutexGuard<'_, CancellationToken> {
        self.inner.era.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The desk of a task, made if there is none.
    fn desk(&self, task: TaskId) -> Arc<Desk> {
        let mut desks = self.desks();
        Arc::clone(desks.entry(task).or_insert_with(|| Arc::new(Desk::new(task))))
    }

    /// How many desks there are.
    pub(crate) fn at_desks(&self) -> usize {
        self.desks().len()
    }

    /// Tells the desks what has become durable.
    pub(crate) fn observe(&self, seq: Seq, at: Millis, events: &[Event]) {
        let desks = self.desks();
        let mut unwanted = self.inner.unwanted.lock().unwrap_or_else(PoisonError::into_inner);
        for event in events {
            unwanted.note(event);
            self.inner.task_files.note(seq, event);
            if let Some(desk) = desks.get(&event.task) {
                desk.hear((seq, at, event.clone()));
            }
            self.hear_answer(event);
            self.hear_about_host(event);
            // What a task may use depends on what is above it.
            if matches!(event.body, EventBody::TaskMoved(_)) {
                let agents = self.clone();
                self.spawn(async move { agents.forget_toolboxes().await });
            }
        }
    }

    /// Begins what was decided by a commit.
    pub(crate) fn perform(&self, effect: Effect, decided: Seq) {
        match effect {
            // The loop feeds these back by itself.
            Effect::Wake { .. } | Effect::DecideTool { .. } => {}
            Effect::Launch { task } => self.spawn(self.clone().launch(task)),
            Effect::CallModel { task, turn, purpose, max_output_tokens } => {
                let stop = self.desk(task).new_model_call();
                let call = model::Call { task, turn, purpose, max_output_tokens };
                self.spawn(self.clone().call_model(call, stop));
            }
            Effect::CancelModel { task } => self.desk(task).stop_model(),
            Effect::CountTokens { task } => self.spawn(self.clone().count_tokens(task)),
            Effect::RunTool { task, call, approved } => {
                let stop = self.desk(task).tools_stop();
                self.spawn(self.clone().run_tool(task, (call, approved), stop));
            }
            Effect::ResumeTool { task, call } => {
                let stop = self.desk(task).tools_stop();
                self.spawn(self.clone().resume_tool(task, call, stop));
            }
            Effect::CancelTools { task } => self.desk(task).stop_tools(),
            Effect::RunChecks { task } => {
                let stop = self.desk(task).tools_stop();
                self.spawn(self.clone().run_checks(task, stop));
            }
            Effect::StopAgent { task } => self.spawn(self.clone().stop_agent(task)),
            Effect::Alarm { task, at, what } => self.spawn(self.clone().ring(task, at, what)),
            Effect::RemoveWorktree { task, path, branch } => {
                self.spawn(self.clone().remove_worktree(task, (path, branch)));
            }
            Effect::PruneConversation { task } => {
                let log = self.parts().log.clone();
                self.inner.work.spawn_blocking(move || remove::prune(&log, task, decided));
            }
        }
    }

    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let over = self.era().clone();
        self.inner.work.spawn(async move {
            tokio::select! {
                biased;
                () = over.cancelled() => {}
                () = work => {}
            }
        });
    }

    /// Tells the loop what came of something.
    async fn report(&self, task: TaskId, op: SessionOp) {
        self.wish(Op::Session { task, op }).await;
    }

    /// Tells the loop the same, and waits until it is durable.
    async fn decided(&self, task: TaskId, op: SessionOp) -> Result<(), WishError> {
        let (wish, answer) = Wish::new(Actor::Daemon, Op::Session { task, op });
        self.parts().wishes.send(wish).await.map_err(|_| WishError::Closed)?;
        answer.await.map_err(|_| WishError::Closed)?.map(drop)
    }

    async fn wish(&self, op: Op) {
        // A closed loop wants no news: the next start finds out what is owed.
        let _closed = self.parts().wishes.send(Wish::of_daemon(op)).await;
    }

    async fn ring(self, task: TaskId, at: Millis, what: Alarm) {
        tokio::time::sleep(clock::until(at)).await;
        let op = match what {
            Alarm::Question(id) => SessionOp::ExpireQuestion { id },
            Alarm::Retry { turn } => SessionOp::Retry { turn },
        };
        self.report(task, op).await;
    }

    async fn stop_agent(self, task: TaskId) {
        let desk = self.desks().remove(&task);
        if let Some(desk) = desk {
            desk.clear().await;
        }
    }

    /// Ends everything that runs and forgets every desk. Nothing comes of what was going on: a call that is broken off
    /// here has no outcome, which is what its task is told when it is looked at again.
    pub(crate) async fn drop_everything(&self) {
        let next = self.inner.closing.child_token();
        std::mem::replace(&mut *self.era(), next).cancel();
        let desks: Vec<Arc<Desk>> = self.desks().drain().map(|(_, desk)| desk).collect();
        for desk in desks {
            desk.clear().await;
        }
    }

    /// Cancelled when the project is closed.
    pub(crate) fn closing(&self) -> CancellationToken {
        self.inner.closing.clone()
    }

    /// Ends everything and waits until it has ended.
    pub(crate) async fn close(&self) {
        self.inner.closing.cancel();
        self.inner.work.close();
        self.drop_everything().await;
        self.inner.work.wait().await;
        self.surroundings().repository.settled().await;
        self.inner.proxy.lock().await.take();
    }
}
