//! The daemon: begun, found by others, ended.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use axum::middleware;
use axum::routing::any;
use mxd_engine::home::{Home, HomeError, Setup};
use mxd_tools::serve::PATH as MCP_PATH;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::app::{App, Build, Inner};
use crate::auth::{Auth, Contact, Policy};
use crate::feed::Feeds;
use crate::guard::{Doorway, guard};
use crate::listen::listen;
use crate::mcp::endpoint::{self, Mcp};
use crate::telemetry::{Carrier, Collector, Telemetry};
use crate::{clock, limits, page, routes};

/// What a daemon is begun with.
#[derive(Debug)]
pub struct Options {
    /// The projects.
    pub home: Setup,
    /// Where it listens; with port 0 wherever there is room.
    pub bind: SocketAddr,
    /// Names besides its own by which it may be called, such as `workstation:7433`.
    pub names: Vec<String>,
    /// Whether one has to log in.
    pub policy: Policy,
    /// Days after which a browser has to log in again.
    pub session_days: u16,
    /// Who is told what agents do, if anybody.
    pub collector: Option<Collector>,
    /// Which program this is.
    pub build: Build,
}

/// Why a daemon did not begin.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Its data folder cannot be used.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// It cannot listen.
    #[error("cannot listen at {address}: {source}")]
    Bind {
        /// Where.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// Everybody who reaches the address could use it.
    #[error("{address} can be reached by others, and nobody would have to log in")]
    OpenToAll {
        /// Where it was to listen.
        address: SocketAddr,
    },
    /// Its own files cannot be written.
    #[error("cannot write into {folder}: {source}", folder = folder.display())]
    Files {
        /// The data folder.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system has no randomness.
    #[error("the system has no randomness: {0}")]
    Randomness(#[from] getrandom::Error),
}

impl StartError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Home(error) => error.hint(),
            Self::Bind { .. } => "Stop whoever listens there, or choose another port.",
            Self::OpenToAll { .. } => "Listen at 127.0.0.1, or leave the log-in on.",
            Self::Files { .. } => "See to the folder and the disk.",
            Self::Randomness(_) => "See to the system.",
        }
    }
}

/// A daemon that runs. Dropped, it ends without waiting for anything; [`Running::shutdown`] ends it properly.
#[derive(Debug)]
pub struct Running {
    contact: Contact,
    data: PathBuf,
    home: Home,
    ready: watch::Receiver<bool>,
    end: CancellationToken,
    stop: CancellationToken,
    app: App,
    carrier: Option<Carrier>,
    serving: JoinHandle<()>,
    resuming: JoinHandle<()>,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").field("epoch", &self.epoch).finish_non_exhaustive()
    }
}

/// Begins a daemon. It answers from now on; what was going on is taken up meanwhile.
///
/// # Errors
///
/// When its folder is taken, or it cannot listen.
pub async fn serve(options: Options) -> Result<Running, StartError> {
    let bind = options.bind;
    if options.policy == Policy::Open && !bind.ip().is_loopback() {
        return Err(StartError::OpenToAll { address: bind });
    }
    let home = Home::open(options.home)?;
    let refused = |source| StartError::Bind { address: bind, source };
    let listener = TcpListener::bind(bind).await.map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    let data = home.data().to_owned();
    let failed = |source| StartError::Files { folder: data.clone(), source };
    let started = clock::now();
    let epoch: Arc<str> = format!("{:x}", started.0).into();
    let token = crate::auth::fresh_token()?;
    let auth = Auth::open(&data, options.policy, &token, options.session_days).map_err(failed)?;
    let (router, document, open_routes) = routes::api().finish();
    let (ready, watched) = watch::channel(false);
    let end = CancellationToken::new();
    let (telemetry, carrier) = options.collector.and_then(Telemetry::begin).unzip();
    let app = App::new(Inner {
        home: home.clone(),
        feeds: Feeds::new(Arc::clone(&epoch), telemetry.clone()),
        auth,
        doorway: Doorway::new(address, &options.names),
        epoch: Arc::clone(&epoch),
        started,
        ready,
        requests: AtomicU64::new(0),
        streams: Arc::new(Semaphore::new(limits::STREAMS)),
        end: end.clone(),
        document,
        open_routes: open_routes.into_iter().collect(),
        mcp: Mcp::default(),
        telemetry,
        build: options.build,
    });
    let contact = Contact { address, token, pid: std::process::id(), epoch: epoch.to_string() };
    contact.write(&data).map_err(failed)?;
    app.mcp
        .open(&app, router.clone(), &data.join("mcp"))
        .await
        .map_err(|error| failed(io::Error::other(error)))?;
    let router = router.route(MCP_PATH, any(endpoint::answer)).fallback(page::answer);
    let router = router.method_not_allowed_fallback(page::wrong_method);
    let router = router.layer(middleware::from_fn_with_state(app.clone(), guard)).with_state(app.clone());
    let stop = CancellationToken::new();
    let serving = tokio::spawn(listen(listener, router, stop.clone()));
    let resuming = tokio::spawn(resume(app.clone()));
    tracing::info!(%address, %epoch, "the daemon listens");
    if !address.ip().is_loopback() {
        tracing::warn!(%address, "others can reach this address; HTTP is not encrypted, so put TLS in front");
    }
    Ok(Running { contact, data, home, ready: watched, end, stop, app, carrier, serving, resuming })
}

/// Takes up what was going on, then lets everybody in.
async fn resume(app: App) {
    app.home.open_all().await;
    for registered in app.home.projects() {
        app.feeds.of(&registered);
    }
    app.ready.send_replace(true);
    tracing::info!("the daemon is ready");
}

impl Running {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.contact.address
    }

    /// How programs on this machine talk to it.
    pub fn contact(&self) -> &Contact {
        &self.contact
    }

    /// Waits until what was going on was taken up.
    pub async fn ready(&self) {
        let mut ready = self.ready.clone();
        // Should it end before, there is nothing to wait for.
        let _ended = ready.wait_for(|ready| *ready).await;
    }

    /// Waits until somebody asked it to end.
    pub async fn asked_to_end(&self) {
        self.end.cancelled().await;
    }

    /// Ends it: streams first, then requests, then agents. What was going on is taken up by the next one.
    pub async fn shutdown(self) {
        self.end.cancel();
        self.stop.cancel();
        self.resuming.abort();
        self.app.mcp.close().await;
        self.app.feeds.close().await;
        let _ended = self.serving.await;
        self.home.close().await;
        if let Some(carrier) = self.carrier {
            carrier.end().await;
        }
        self.contact.remove(&self.data);
        tracing::info!("the daemon has ended");
    }
}
