//! One connection to one server.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mxd_core::manifest::{DigestState, Discovered, LockedServer, Report, Resolved, ServerSpec, Transport};
use mxd_core::raw::RawJson;
use mxd_core::tool::{CleanText, ServerName};
use rmcp::RoleClient;
use rmcp::service::RunningService;
use secrecy::ExposeSecret as _;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::answer::Clerk;
use super::error::{CallError, Cause, ConnectError, Loss};
use super::handshake::{self, Greeting, Kind};
use super::http;
use super::list;
use super::offer::Offer;
use super::start::{Process, Start};
use super::surroundings::Surroundings;
use super::talk::{Ask, Talk};
use super::traffic::Traffic;
use super::wire::{Inlet, Outlet, Wire};
use crate::package;
use crate::secrets::Secrets;

/// A connection to a server. Dropping it ends the server's process with everything it started.
pub struct Connection {
    spec: Arc<ServerSpec>,
    locked: Mutex<Option<Arc<LockedServer>>>,
    introduction: Introduction,
    pub(super) talk: Arc<Talk>,
    pub(super) clerk: Clerk,
    offer: Mutex<Arc<Offer>>,
    line: Line,
    engine: tokio::sync::Mutex<Option<RunningService<RoleClient, ()>>>,
}

/// A program that came with this one is held to its definitions, where others are held to their files.
fn check_companion(spec: &ServerSpec, discovered: &Discovered) -> Result<(), ConnectError> {
    let (Transport::Stdio(program), Some(package)) = (&spec.transport, &spec.package) else { return Ok(()) };
    let (declared, found) = (package.digest.digest(), package::definitions_digest(discovered));
    // A placeholder has passed before the start, or the program would not run.
    let is_held = package::is_companion(program) && package.digest.state() == DigestState::Real;
    if is_held && declared != found {
        return Err(ConnectError::OtherDefinitions { server: spec.name.clone(), declared, found });
    }
    Ok(())
}

/// What carries the messages.
#[derive(Debug)]
enum Line {
    Process(Process),
    Remote(http::Remote),
}

/// What a call is allowed.
#[derive(Debug, Clone)]
pub struct CallOptions {
    /// How long it may take.
    pub deadline: Duration,
    /// When it is not wanted any more.
    pub cancel: CancellationToken,
    /// Who is told how far it is; what does not fit is dropped.
    pub progress: Option<mpsc::Sender<Progress>>,
}

impl CallOptions {
    /// So long, not to be cancelled, and nobody watches.
    pub fn within(deadline: Duration) -> Self {
        Self { deadline, cancel: CancellationToken::new(), progress: None }
    }
}

/// How far a call is.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// So far.
    pub done: f64,
    /// Of how much, when the server knows.
    pub of: Option<f64>,
    /// In words.
    pub message: Option<String>,
}

/// Which of the two kinds of protocol a server speaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Era {
    /// With a greeting at the beginning, in this version.
    Greeting(String),
    /// Without state between requests, in this version.
    Stateless(String),
}

/// What a server says about itself. None of it is to be relied on.
#[derive(Debug, Clone, PartialEq)]
pub struct Introduction {
    /// Which protocol it speaks.
    pub era: Era,
    /// Name and version, as it says.
    pub server_info: Option<Value>,
    /// What it can do, as it says.
    pub capabilities: Map<String, Value>,
    /// How it wants to be used, as it says, cleaned.
    pub instructions: Option<CleanText>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("server", &self.spec.name).finish_non_exhaustive()
    }
}

impl Connection {
    /// Starts or reaches a server, greets it, and asks what it offers.
    ///
    /// What it offers is held against what was declared and accepted; whether a difference matters is for the caller
    /// to say: see [`Connection::report`].
    ///
    /// # Errors
    ///
    /// When it cannot be started or reached, is too slow, or does not speak the protocol.
    pub async fn open(
        spec: &ServerSpec,
        locked: Option<&LockedServer>,
        around: &Arc<Surroundings>,
    ) -> Result<Self, ConnectError> {
        let server = || spec.name.clone();
        let resolved = spec
            .resolve(&*around.secrets)
            .map_err(|unresolved| ConnectError::Credentials { server: server(), unresolved })?;
        let secrets = Secrets::new(resolved.secrets().iter().map(|secret| secret.expose_secret()))
            .map_err(|error| ConnectError::Secrets { server: server(), why: error.to_string() })?;
        let traffic = Arc::new(Traffic::new(around.limits, secrets));
        let limit = around.limits.connect;
        let opening = Self::open_within((spec, locked), &resolved, around, &traffic);
        match tokio::time::timeout(limit, opening).await {
            Ok(opened) => opened,
            Err(_late) => {
                let loss = traffic.loss(Cause::Silent);
                traffic.end(Cause::Silent);
                Err(ConnectError::Slow { server: server(), what: "connect", limit, loss })
            }
        }
    }

    async fn open_within(
        (spec, locked): (&ServerSpec, Option<&LockedServer>),
        resolved: &Resolved,
        around: &Arc<Surroundings>,
        traffic: &Arc<Traffic>,
    ) -> Result<Self, ConnectError> {
        let clerk = Clerk::new(spec.name.clone(), around.answers.of_server(spec), Arc::clone(traffic));
        let (line, inlet, outlet) = match &spec.transport {
            Transport::Stdio(program) => {
                let start = Start { spec, locked, program, resolved, around };
                let (process, inlet, outlet) = start.run(traffic).await?;
                (Line::Process(process), inlet, outlet)
            }
            Transport::Http(remote) => {
                let opened = http::Remote::calls((spec, remote), resolved, around, traffic)?;
                (Line::Remote(opened.0), opened.1, opened.2)
            }
            Transport::Sse(remote) => {
                let opened = http::Remote::stream((spec, remote), resolved, around, traffic).await?;
                (Line::Remote(opened.0), opened.1, opened.2)
            }
        };
        Self::converse((spec, locked), (line, inlet, outlet), clerk, traffic).await
    }

    async fn converse(
        (spec, locked): (&ServerSpec, Option<&LockedServer>),
        (line, inlet, outlet): (Line, Inlet, Outlet),
        clerk: Clerk,
        traffic: &Arc<Traffic>,
    ) -> Result<Self, ConnectError> {
        let wire = Wire { inlet, outlet, traffic: Arc::clone(traffic), clerk: clerk.clone() };
        let engine: RunningService<RoleClient, ()> = rmcp::service::serve_directly((), wire, None);
        let talk = Talk::new(spec.name.clone(), engine.peer().clone(), Arc::clone(traffic));
        let kind = match &spec.transport {
            Transport::Sse(_) => Kind::Older,
            Transport::Stdio(_) | Transport::Http(_) => Kind::Any,
        };
        let agreed = |era: &Era| match &line {
            Line::Remote(remote) => remote.agreed(era),
            Line::Process(_) => {}
        };
        let greeting = Greeting { talk: &talk, clerk: &clerk, agreed: &agreed };
        let introduction = greeting.introduce(kind).await?;
        if let Line::Remote(remote) = &line {
            remote.listen().await;
        }
        let definitions = tools(&talk, &introduction).await;
        let definitions = definitions.map_err(|error| handshake::failed(&talk, "list its tools", error))?;
        let offer = Offer::new(spec, locked, definitions);
        check_companion(spec, &offer.discovered)?;
        if let Line::Remote(remote) = &line {
            remote.offered(&offer);
        }
        Ok(Self {
            spec: Arc::new(spec.clone()),
            locked: Mutex::new(locked.cloned().map(Arc::new)),
            introduction,
            talk: Arc::new(talk),
            clerk,
            offer: Mutex::new(Arc::new(offer)),
            line,
            engine: tokio::sync::Mutex::new(Some(engine)),
        })
    }

    /// The server's name.
    pub fn server(&self) -> &ServerName {
        &self.spec.name
    }

    /// What was wanted.
    pub fn spec(&self) -> &ServerSpec {
        &self.spec
    }

    /// What it said about itself.
    pub fn introduction(&self) -> &Introduction {
        &self.introduction
    }

    /// Whether it says that it has such a thing at all.
    pub(super) fn says_it_has(&self, what: &str) -> bool {
        self.introduction.capabilities.contains_key(what)
    }

    /// What was accepted.
    pub(super) fn locked(&self) -> Option<Arc<LockedServer>> {
        self.locked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on this is what it is held to.
    pub(super) fn hold_to(&self, accepted: &LockedServer) {
        *self.locked.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(accepted.clone()));
    }

    pub(super) fn offer(&self) -> Arc<Offer> {
        Arc::clone(&self.offer.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What it offered when it was last asked.
    pub fn discovered(&self) -> Arc<Discovered> {
        Arc::clone(&self.offer().discovered)
    }

    /// The definitions as they came, byte for byte.
    pub fn definitions(&self) -> Arc<[RawJson]> {
        Arc::clone(&self.offer().definitions)
    }

    /// What is different from what was declared and accepted.
    pub fn report(&self) -> Arc<Report> {
        Arc::clone(&self.offer().report)
    }

    /// Asks again what the server offers, and compares.
    ///
    /// # Errors
    ///
    /// When it does not say.
    pub async fn relist(&self) -> Result<Arc<Report>, CallError> {
        let definitions = tools(&self.talk, &self.introduction).await?;
        let offer = Arc::new(Offer::new(&self.spec, self.locked().as_deref(), definitions));
        if let Line::Remote(remote) = &self.line {
            remote.offered(&offer);
        }
        let report = Arc::clone(&offer.report);
        *self.offer.lock().unwrap_or_else(PoisonError::into_inner) = offer;
        Ok(report)
    }

    /// The resources it has.
    ///
    /// # Errors
    ///
    /// When it does not say.
    pub async fn resources(&self) -> Result<Vec<Value>, CallError> {
        self.listed("resources/list").await
    }

    /// The templates of resources it has.
    ///
    /// # Errors
    ///
    /// When it does not say.
    pub async fn templates(&self) -> Result<Vec<Value>, CallError> {
        self.listed("resources/templates/list").await
    }

    /// The prompts it has.
    ///
    /// # Errors
    ///
    /// When it does not say.
    pub async fn prompts(&self) -> Result<Vec<Value>, CallError> {
        self.listed("prompts/list").await
    }

    async fn listed(&self, method: &'static str) -> Result<Vec<Value>, CallError> {
        let entries = list::all(&self.talk, method).await?;
        let read = |entry: &RawJson| self.read(entry.get());
        entries.iter().map(read).collect()
    }

    /// A value as the server wrote it, without our secrets.
    pub(super) fn read(&self, text: &str) -> Result<Value, CallError> {
        let mut value: Value = serde_json::from_str(text).map_err(|error| CallError::BadResult {
            server: self.spec.name.clone(),
            why: error.to_string(),
        })?;
        self.talk.traffic.secrets.redact_value(&mut value);
        Ok(value)
    }

    /// Asks whether the server is there. One that is not is given up.
    ///
    /// # Errors
    ///
    /// When it is not.
    pub async fn check(&self) -> Result<(), CallError> {
        let method = match self.introduction.era {
            Era::Greeting(_) => "ping",
            Era::Stateless(_) => "server/discover",
        };
        match self.talk.ask(Ask::new(method, json!({}), self.talk.traffic.limits.question)).await {
            // A refusal is a sign of life, and so is a call that just went out.
            Ok(_) | Err(CallError::Refused { .. } | CallError::Busy { .. }) => Ok(()),
            Err(error) => {
                self.talk.traffic.end(Cause::Silent);
                Err(error)
            }
        }
    }

    /// How it ended, once it has.
    pub fn loss(&self) -> Option<Loss> {
        let traffic = &self.talk.traffic;
        traffic.cause().map(|cause| *traffic.loss(cause.clone()))
    }

    /// Waits until it has ended by itself.
    pub async fn lost(&self) -> Loss {
        self.talk.traffic.ended().cancelled().await;
        self.loss().unwrap_or_default()
    }

    /// Ends it: the server's input is closed, it has a moment, then its whole process tree is ended.
    pub async fn close(&self) {
        self.close_because(Cause::Closed).await;
    }

    pub(super) async fn close_because(&self, cause: Cause) {
        self.talk.traffic.end(cause);
        let engine = self.engine.lock().await.take();
        if let Some(engine) = engine {
            // What waits for its answer is told; the process sees the end of its input.
            let _ended = engine.cancel().await;
        }
        match &self.line {
            Line::Process(process) => process.close(&self.talk.traffic).await,
            Line::Remote(remote) => remote.close().await,
        }
    }
}

/// What a server offers. One that says it has no tools is not asked twice.
async fn tools(talk: &Talk, introduction: &Introduction) -> Result<Vec<RawJson>, CallError> {
    match list::all(talk, "tools/list").await {
        Err(CallError::Refused { .. }) if !introduction.capabilities.contains_key("tools") => Ok(Vec::new()),
        listed => listed,
    }
}
