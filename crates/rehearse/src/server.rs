//! The running server and the handle that tests hold.

use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::thread::JoinHandle;

use axum::serve::ListenerExt as _;
use tokio::sync::watch;

use crate::gates::{Gates, UnknownGate};
use crate::http::{House, routes};
use crate::limits::GRACE;
use crate::log::{Log, LoggedRequest, Report};
use crate::script::{Script, ScriptError};
use crate::stage::Stage;
use crate::violation::Violation;
use crate::wire::Wire;

/// How a rehearsal runs, beyond its script.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The port; 0 for any that is free.
    pub port: u16,
    /// Where requests are written as JSONL. The file is emptied first.
    pub log: Option<PathBuf>,
    /// Whether the log and [`Rehearsal::requests`] keep whole bodies.
    pub keep_bodies: bool,
}

/// Why a rehearsal could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The script is wrong.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The port could not be had.
    #[error("cannot listen on 127.0.0.1:{port}: {source}")]
    Port {
        /// The port that was asked for.
        port: u16,
        /// The system's word.
        source: io::Error,
    },
    /// The log file could not be made.
    #[error("cannot write {}: {source}", path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
    /// The thread of the server could not be made.
    #[error("cannot start the server: {0}")]
    Thread(io::Error),
}

/// A model that follows its script, until the handle is dropped.
///
/// It runs on a thread of its own, so that it answers whatever the test does, also from tests without a runtime.
#[derive(Debug)]
pub struct Rehearsal {
    address: SocketAddr,
    house: House,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Rehearsal {
    /// Starts a server for the script on a free port of this machine.
    pub fn start(script: Script) -> Result<Self, StartError> {
        Self::start_with(script, Options::default())
    }

    /// Starts a server with options.
    pub fn start_with(script: Script, options: Options) -> Result<Self, StartError> {
        let script = script.checked()?;
        let file = match &options.log {
            None => None,
            Some(path) => {
                Some(File::create(path).map_err(|source| StartError::Log { path: path.clone(), source })?)
            }
        };
        let port = options.port;
        let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let listener = bound.map_err(|source| StartError::Port { port, source })?;
        let address = listener.local_addr().map_err(|source| StartError::Port { port, source })?;
        listener.set_nonblocking(true).map_err(StartError::Thread)?;
        let gates = Gates::of(&script);
        let house = House::new(Stage::new(script, Log::new(file, options.keep_bodies)), gates);
        let (stop, stopped) = watch::channel(false);
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(StartError::Thread)?;
        let serve = run(listener, house.clone(), stopped);
        let named = std::thread::Builder::new().name("rehearse".to_owned());
        let thread = named.spawn(move || runtime.block_on(serve)).map_err(StartError::Thread)?;
        Ok(Self { address, house, stop, thread: Some(thread) })
    }

    /// Where the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What a client of this wire takes as its base URL.
    pub fn base_url(&self, wire: Wire) -> String {
        format!("http://{}{}", self.address, wire.base_path())
    }

    /// Opens a gate, for every reply that waits there or will.
    pub fn open_gate(&self, name: &str) -> Result<(), UnknownGate> {
        self.house.gates.open(name)
    }

    /// Waits until a reply has come to the gate.
    pub async fn gate_reached(&self, name: &str) -> Result<(), UnknownGate> {
        self.house.gates.reached(name, 1)?.await;
        Ok(())
    }

    /// Allows the next request of a conversation to change its prefix. Whether the script has that conversation.
    pub fn declare_break(&self, conversation: &str) -> bool {
        self.house.stage().declare_break(conversation)
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<LoggedRequest> {
        self.house.stage().log().requests().to_vec()
    }

    /// What was wrong with them, each with the number of its request.
    pub fn violations(&self) -> Vec<(u64, Violation)> {
        self.house.stage().report().violations
    }

    /// What went wrong so far, and what was not asked for yet.
    pub fn report(&self) -> Report {
        self.house.stage().report()
    }

    /// Stops the server. An error when a rule was broken, an expectation was not met or turns are left over.
    pub fn finish(mut self) -> Result<(), Report> {
        self.shut_down();
        let report = self.house.stage().report();
        if report.is_empty() { Ok(()) } else { Err(report) }
    }

    fn shut_down(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed; it must not become a second one here, in a drop.
            let _ = thread.join();
        }
    }
}

impl Drop for Rehearsal {
    fn drop(&mut self) {
        self.shut_down();
    }
}

/// Serves until told to stop; then open connections have a moment, and the runtime ends with what is left.
async fn run(listener: TcpListener, house: House, stopped: watch::Receiver<bool>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    // Small chunks leave at once, each for itself.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let told = |mut stopped: watch::Receiver<bool>| async move {
        let _ = stopped.wait_for(|stop| *stop).await;
    };
    let graceful = axum::serve(listener, routes(house)).with_graceful_shutdown(told(stopped.clone()));
    tokio::select! {
        _ = graceful.into_future() => {}
        () = async {
            told(stopped).await;
            tokio::time::sleep(GRACE).await;
        } => {}
    }
}
