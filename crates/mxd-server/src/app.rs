//! What every handler has: the projects, their feeds, who is logged in, and how the daemon is.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use axum::http::{HeaderValue, Method};
use mxd_core::id::{ProjectId, TaskId};
use mxd_core::time::Millis;
use mxd_engine::home::{Home, Registered, Standing};
use mxd_engine::project::Project;
use serde_json::Value;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

use crate::auth::Auth;
use crate::clock;
use crate::fault::{Answer, Fault};
use crate::feed::{Feed, Feeds};
use crate::guard::Doorway;
use crate::limits;
use crate::mcp::endpoint::Mcp;
use crate::telemetry::Telemetry;

/// The daemon, as handlers see it. Cheap to clone.
#[derive(Clone)]
pub(crate) struct App {
    inner: Arc<Inner>,
}

/// The same for whoever must not keep it alive.
#[derive(Clone)]
pub(crate) struct WeakApp(Weak<Inner>);

impl WeakApp {
    /// The daemon, unless it has ended.
    pub(crate) fn upgrade(&self) -> Option<App> {
        self.0.upgrade().map(|inner| App { inner })
    }
}

pub(crate) struct Inner {
    pub(crate) home: Home,
    pub(crate) feeds: Feeds,
    pub(crate) auth: Auth,
    pub(crate) doorway: Doorway,
    pub(crate) epoch: Arc<str>,
    pub(crate) started: Millis,
    /// Whether what was going on was taken up.
    pub(crate) ready: watch::Sender<bool>,
    pub(crate) requests: AtomicU64,
    pub(crate) streams: Arc<Semaphore>,
    /// Cancelled when somebody wants the daemon to end.
    pub(crate) end: CancellationToken,
    pub(crate) document: Value,
    pub(crate) open_routes: HashSet<(Method, &'static str)>,
    pub(crate) mcp: Mcp,
    /// Who is told what agents do.
    pub(crate) telemetry: Option<Telemetry>,
    pub(crate) build: Build,
}

/// Which program this is.
#[derive(Debug, Clone)]
pub struct Build {
    /// Its version.
    pub version: String,
    /// The commit it was built from, where that is known.
    pub git_hash: Option<String>,
}

impl Default for Build {
    fn default() -> Self {
        Self { version: env!("CARGO_PKG_VERSION").to_owned(), git_hash: None }
    }
}

impl std::ops::Deref for App {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.inner
    }
}

impl App {
    pub(crate) fn new(inner: Inner) -> Self {
        Self { inner: Arc::new(inner) }
    }

    pub(crate) fn downgrade(&self) -> WeakApp {
        WeakApp(Arc::downgrade(&self.inner))
    }

    pub(crate) fn is_ready(&self) -> bool {
        *self.ready.borrow()
    }

    pub(crate) fn uptime_ms(&self) -> u64 {
        clock::now().0.saturating_sub(self.started.0)
    }

    pub(crate) fn count_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// A registered project, whether it is open or not.
    pub(crate) fn registered(&self, id: &str) -> Answer<Registered> {
        Ok(self.home.project(parse(id)?)?)
    }

    /// An open project. One that is being restarted is waited for.
    pub(crate) async fn project(&self, id: &str) -> Answer<Project> {
        match self.home.open_project(parse(id)?) {
            Some(project) => Ok(project),
            None => open(&mut self.registered(id)?).await,
        }
    }

    /// An open project with its feed, which has counted everything.
    pub(crate) async fn fed(&self, id: &str) -> Answer<(Project, Arc<Feed>)> {
        let project = self.project(id).await?;
        let feed = self.feed(&project).await?;
        Ok((project, feed))
    }

    /// The feed of an open project. It has counted everything.
    pub(crate) async fn feed(&self, project: &Project) -> Answer<Arc<Feed>> {
        let feed = match self.feeds.find(project.id()) {
            Some(feed) => feed,
            None => self.feeds.of(&self.home.project(project.id())?),
        };
        feed.caught_up(project).await;
        Ok(feed)
    }

    /// Where a client that knows everything up to this commit goes on.
    pub(crate) fn cursor(&self, seq: u64) -> String {
        format!("{}-{seq}", self.epoch)
    }

    /// A new limit on streams is a seat that is free.
    pub(crate) fn seat(&self) -> Answer<tokio::sync::OwnedSemaphorePermit> {
        Arc::clone(&self.streams).try_acquire_owned().map_err(|_| {
            let message = format!("there are {} live streams already", limits::STREAMS);
            Fault::new(axum::http::StatusCode::TOO_MANY_REQUESTS, "too_many_streams", message)
                .hint("Close a page or a watcher.")
                .retry_after(5)
        })
    }
}

fn parse(id: &str) -> Answer<ProjectId> {
    id.parse().map_err(|error: mxd_core::id::ParseIdError| {
        Fault::not_found("unknown_project", format!("there is no such project: {error}"))
            .hint("List the projects and copy the id.")
    })
}

async fn open(registered: &mut Registered) -> Answer<Project> {
    let settled = registered.standing.wait_for(|standing| !matches!(standing, Standing::Opening));
    let settled = tokio::time::timeout(limits::RESTART_PATIENCE, settled).await;
    match settled.map(|settled| settled.map(|standing| standing.clone())) {
        Ok(Ok(Standing::Open(project))) => Ok(project),
        Ok(Ok(Standing::Broken { problem })) => Err(Fault::broken(problem)),
        Ok(Ok(Standing::Opening)) | Err(_) => Err(Fault::starting()),
        Ok(Err(_)) => Err(Fault::not_found("unknown_project", "the project was taken out")),
    }
}

/// The node that a client names, by its id or the beginning of it.
pub(crate) fn find(project: &Project, given: &str) -> Answer<TaskId> {
    project.look(|state| state.tree().resolve(given).map(|node| node.id)).map_err(Fault::from)
}

/// A header that is always the same.
pub(crate) const fn fixed(value: &'static str) -> HeaderValue {
    HeaderValue::from_static(value)
}
