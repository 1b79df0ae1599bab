//! Servers elsewhere: one call of HTTP per message, or the older stream of events with a place to send messages to.

mod caller;
mod headers;
mod sse;
mod stream;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use mxd_core::manifest::{Remote as Declared, Resolved, ServerSpec};
use mxd_core::tool::ServerName;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use secrecy::ExposeSecret as _;
use tokio::sync::mpsc;
use tokio_util::sync::DropGuard;

pub(super) use caller::Caller;

use super::connection::Era;
use super::error::ConnectError;
use super::offer::Offer;
use super::surroundings::Surroundings;
use super::traffic::Traffic;
use super::wire::{Inlet, Outlet};

/// Messages that wait to be read; each may be long.
const INBOX: usize = 8;
/// Answers that wait to be sent.
const REPLIES: usize = 64;
/// How long it may take to reach a server.
const REACH: Duration = Duration::from_secs(10);

/// A server elsewhere.
#[derive(Debug)]
pub(super) struct Remote {
    caller: Arc<Caller>,
    _end: DropGuard,
}

impl Remote {
    /// A server that is called for every message.
    pub(super) fn calls(
        (spec, declared): (&ServerSpec, &Declared),
        resolved: &Resolved,
        around: &Surroundings,
        traffic: &Arc<Traffic>,
    ) -> Result<(Self, Inlet, Outlet), ConnectError> {
        let url = endpoint(&spec.name, &declared.endpoint, around)?;
        let (inbox, messages) = mpsc::channel(INBOX);
        let caller = Caller::new((client(&spec.name)?, url), credentials(spec, resolved)?, inbox, traffic);
        Ok((Self::of(&caller), Inlet::Queue(messages), Outlet::Calls(caller)))
    }

    /// A server of the older kind: a stream of events says where messages go to.
    pub(super) async fn stream(
        (spec, declared): (&ServerSpec, &Declared),
        resolved: &Resolved,
        around: &Surroundings,
        traffic: &Arc<Traffic>,
    ) -> Result<(Self, Inlet, Outlet), ConnectError> {
        let url = endpoint(&spec.name, &declared.endpoint, around)?;
        let (inbox, messages) = mpsc::channel(INBOX);
        let caller = Caller::new((client(&spec.name)?, url), credentials(spec, resolved)?, inbox, traffic);
        let opened = stream::open(&caller).await;
        opened
            .map_err(|cause| ConnectError::Lost { server: spec.name.clone(), loss: traffic.loss(cause) })?;
        Ok((Self::of(&caller), Inlet::Queue(messages), Outlet::Calls(caller)))
    }

    fn of(caller: &Arc<Caller>) -> Self {
        Self { caller: Arc::clone(caller), _end: caller.end().clone().drop_guard() }
    }

    /// It is known how the server wants to be talked to.
    pub(super) fn agreed(&self, era: &Era) {
        self.caller.agreed(era);
    }

    /// Hears what the server says by itself, when it is of a kind that does.
    pub(super) fn listen(&self) {
        self.caller.listen();
    }

    /// It is known what the server offers.
    pub(super) fn offered(&self, offer: &Offer) {
        self.caller.offered(offer);
    }

    /// Ends the session, if there is one.
    pub(super) async fn close(&self) {
        self.caller.close().await;
    }
}

fn client(server: &ServerName) -> Result<Client, ConnectError> {
    let built = Client::builder()
        .user_agent(concat!("matrix/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(REACH)
        // Credentials are for the server they were declared for.
        .redirect(Policy::none())
        .no_proxy()
        .build();
    built.map_err(|error| ConnectError::Endpoint { server: server.clone(), why: error.to_string() })
}

/// Reads an endpoint: only TLS keeps credentials to oneself on the way to another machine.
fn endpoint(server: &ServerName, text: &str, around: &Surroundings) -> Result<Url, ConnectError> {
    let wrong = |why: String| ConnectError::Endpoint { server: server.clone(), why };
    let url = Url::parse(text).map_err(|error| wrong(format!("its endpoint is no URL: {error}")))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("its endpoint holds a user or a password; declare a header".to_owned()));
    }
    let place =
        format!("{}:{}", url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default());
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_this_machine(&url) || around.plain_http.contains(&place) => Ok(url),
        "http" => {
            Err(wrong(format!("{place} is on another machine and its endpoint is without TLS; use https")))
        }
        other => Err(wrong(format!("`{other}` is no way to reach a server; use https"))),
    }
}

fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.map_or(host == "localhost", |address| address.is_loopback())
}

fn credentials(spec: &ServerSpec, resolved: &Resolved) -> Result<HeaderMap, ConnectError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &resolved.headers {
        let header = HeaderName::try_from(name.to_string()).ok();
        let mut secret = HeaderValue::try_from(value.expose_secret()).ok();
        secret.iter_mut().for_each(|value| value.set_sensitive(true));
        match header.zip(secret) {
            Some((header, secret)) => drop(headers.append(header, secret)),
            None => {
                let why = format!("its header {name} cannot be sent as it is");
                return Err(ConnectError::Endpoint { server: spec.name.clone(), why });
            }
        }
    }
    Ok(headers)
}
