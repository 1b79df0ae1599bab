//! One call of HTTP per message.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mxd_core::tool::Quoted;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, Url};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::super::connection::Era;
use super::super::error::Cause;
use super::super::offer::Offer;
use super::super::traffic::Traffic;
use super::super::wire::{Incoming, Outgoing};
use super::headers::{self, Repeated};
use super::stream;

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
/// Characters of the name of a session.
const SESSION_CHARS: usize = 512;
/// Bytes of the body of an error that are looked at.
const ERROR_BYTES: usize = 64 << 10;
/// How long the end of a session may take.
const FAREWELL: Duration = Duration::from_secs(2);

/// Calls a server for every message.
#[derive(Debug)]
pub(in super::super) struct Caller {
    client: Client,
    pub(super) url: Url,
    credentials: HeaderMap,
    pub(super) inbox: mpsc::Sender<Incoming>,
    replies: mpsc::Sender<Outgoing>,
    pub(super) traffic: Arc<Traffic>,
    state: Mutex<State>,
    end: CancellationToken,
}

#[derive(Debug, Default)]
struct State {
    /// Where messages go to, when that is not where the stream is.
    place: Option<Url>,
    session: Option<HeaderValue>,
    version: Option<HeaderValue>,
    is_stateless: bool,
    tools: BTreeMap<String, Repeated>,
    /// Tools that cannot be called, and why.
    unfit: BTreeMap<String, String>,
    /// Questions that are under way.
    calls: HashMap<i64, CancellationToken>,
}

impl Caller {
    pub(super) fn new(
        (client, url): (Client, Url),
        credentials: HeaderMap,
        inbox: mpsc::Sender<Incoming>,
        traffic: &Arc<Traffic>,
    ) -> Arc<Self> {
        let end = traffic.ended().child_token();
        let (replies, queue) = mpsc::channel(super::REPLIES);
        let caller = Arc::new(Self {
            client,
            url,
            credentials,
            inbox,
            replies,
            traffic: Arc::clone(traffic),
            state: Mutex::default(),
            end,
        });
        tokio::spawn(send_replies(Arc::downgrade(&caller), queue, caller.end.clone()));
        caller
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Raised when nothing is to be sent or read any more.
    pub(super) fn end(&self) -> &CancellationToken {
        &self.end
    }

    /// Messages go here from now on.
    pub(super) fn send_to(&self, place: Url) {
        self.state().place = Some(place);
    }

    pub(super) fn agreed(&self, era: &Era) {
        let mut state = self.state();
        let (Era::Greeting(version) | Era::Stateless(version)) = era;
        state.version = HeaderValue::try_from(version.as_str()).ok();
        state.is_stateless = matches!(era, Era::Stateless(_));
    }

    pub(super) async fn listen(self: &Arc<Self>) {
        let listens = {
            let state = self.state();
            !state.is_stateless && state.place.is_none()
        };
        if listens {
            let (opened, is_open) = oneshot::channel();
            tokio::spawn(stream::listen(Arc::downgrade(self), self.end.clone(), opened));
            // Some servers forget what they want to ask as long as nobody listens.
            let _opened_or_late = tokio::time::timeout(self.traffic.limits.probe, is_open).await;
        }
    }

    pub(super) fn offered(&self, offer: &Offer) {
        let mut state = self.state();
        (state.tools, state.unfit) = (BTreeMap::new(), BTreeMap::new());
        for (name, tool) in offer.tools() {
            match tool.input.as_ref().map(headers::repeated).unwrap_or_else(|| Ok(Repeated::default())) {
                Ok(repeated) => drop(state.tools.insert(name.to_string(), repeated)),
                Err(why) => drop(state.unfit.insert(name.to_string(), why)),
            }
        }
    }

    /// Sends an answer when there is room for it.
    pub(in super::super) fn reply(&self, message: Outgoing) -> bool {
        self.replies.try_send(message).is_ok()
    }

    /// Sends a message. What comes back goes to the inbox.
    pub(in super::super) async fn post(self: Arc<Self>, message: Outgoing) -> Result<(), Cause> {
        if let Some(withdrawn) = message.withdraws {
            let call = self.state().calls.remove(&withdrawn);
            call.iter().for_each(CancellationToken::cancel);
            // Without state, to stop listening is to withdraw.
            if self.state().is_stateless {
                return Ok(());
            }
        }
        let call = self.end.child_token();
        if let Some(id) = message.id {
            self.state().calls.insert(id, call.clone());
        }
        let id = message.id;
        let posted = tokio::select! {
            () = call.cancelled() => Err(Cause::Closed),
            posted = self.exchange(message, &call) => posted,
        };
        if let Some(id) = id
            && !matches!(posted, Ok(Posted::Streams))
        {
            self.leave(id);
        }
        posted.map(drop)
    }

    /// A question is not under way any more.
    pub(super) fn leave(&self, id: i64) {
        self.state().calls.remove(&id);
    }

    async fn exchange(
        self: &Arc<Self>,
        message: Outgoing,
        call: &CancellationToken,
    ) -> Result<Posted, Cause> {
        let id = message.id;
        let place = self.state().place.clone();
        let is_older = place.is_some();
        let request = self.request(Method::POST, place.unwrap_or_else(|| self.url.clone()));
        let request = request
            .headers(self.repeating(&message.bytes)?)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .body(message.bytes);
        let response = request.send().await.map_err(|error| self.unreachable(&error))?;
        self.note_session(&response)?;
        let response = self.judged(response, id).await?;
        let Some(response) = response else { return Ok(Posted::Done) };
        if is_older || id.is_none() || response.status() == StatusCode::ACCEPTED {
            return Ok(Posted::Done);
        }
        match kind(&response) {
            Content::Json => {
                let body = self.body(response, self.traffic.limits.message_bytes).await?;
                let _nobody_reads = self.inbox.send(Incoming::Message(body)).await;
                self.unanswered(id, "its answer is about something else").await;
                Ok(Posted::Done)
            }
            Content::Events => {
                tokio::spawn(stream::follow(Arc::clone(self), response, id, call.clone()));
                Ok(Posted::Streams)
            }
            Content::Other(kind) => {
                Err(Cause::BadStream(format!("it answered with `{}`", Quoted::of(&kind))))
            }
        }
    }

    /// Ends the wait for an answer that does not come any more. The reader has to have had its turn before.
    pub(super) async fn unanswered(&self, id: Option<i64>, why: &str) {
        if let Some(id) = id {
            let _nobody_reads = self.inbox.send(Incoming::Failed(id, Cause::BadStream(why.to_owned()))).await;
        }
    }

    /// A request with everything that each of them carries.
    pub(super) fn request(&self, method: Method, url: Url) -> RequestBuilder {
        let state = self.state();
        let mut headers = self.credentials.clone();
        for (name, value) in [(SESSION, &state.session), (VERSION, &state.version)] {
            if let Some(value) = value {
                headers.insert(name, value.clone());
            }
        }
        self.client.request(method, url).headers(headers)
    }

    fn repeating(&self, message: &[u8]) -> Result<HeaderMap, Cause> {
        let message: Value = serde_json::from_slice(message).unwrap_or_default();
        let state = self.state();
        let meta = message.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion");
        // What a message is about is said to every server; an older one does not look.
        let Some(version) = meta.and_then(Value::as_str) else {
            return Ok(headers::of(&message, &BTreeMap::new()));
        };
        let tool = message.pointer("/params/name").and_then(Value::as_str).unwrap_or_default();
        if let Some(why) = state.unfit.get(tool).filter(|_| message["method"] == "tools/call") {
            return Err(Cause::BadStream(format!("{tool} cannot be called over HTTP: {why}")));
        }
        let mut headers = headers::of(&message, &state.tools);
        if let Ok(version) = HeaderValue::try_from(version) {
            headers.insert(VERSION, version);
        }
        Ok(headers)
    }

    /// Takes the name of the session that a server gives.
    fn note_session(&self, response: &Response) -> Result<(), Cause> {
        let Some(session) = response.headers().get(SESSION) else { return Ok(()) };
        let is_plain = |bytes: &[u8]| !bytes.is_empty() && bytes.iter().all(u8::is_ascii_graphic);
        if session.len() > SESSION_CHARS || !is_plain(session.as_bytes()) {
            return Err(Cause::BadStream("the name of its session is none".to_owned()));
        }
        let mut state = self.state();
        if state.session.is_none() && !state.is_stateless {
            let mut session = session.clone();
            session.set_sensitive(true);
            state.session = Some(session);
        }
        Ok(())
    }

    /// What the status of a response means. A refusal in words goes to whoever asked.
    pub(super) async fn judged(
        &self,
        response: Response,
        id: Option<i64>,
    ) -> Result<Option<Response>, Cause> {
        let status = response.status();
        if status.is_success() {
            return Ok(Some(response));
        }
        if status.is_redirection() {
            let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or("nowhere");
            return Err(Cause::Redirected { to: Quoted::of(&self.traffic.secrets.redact(to)) });
        }
        if status == StatusCode::NOT_FOUND && self.state().session.is_some() {
            self.traffic.end(Cause::SessionForgotten);
            return Err(Cause::SessionForgotten);
        }
        let body = self.body(response, ERROR_BYTES).await.unwrap_or_default();
        let mut refusal: Value = serde_json::from_slice(&body).unwrap_or_default();
        if let Some(id) = id
            && refusal.get("error").is_some_and(Value::is_object)
        {
            // Who refuses early does not know yet which question it is.
            refusal["id"] = id.into();
            let message = serde_json::to_vec(&refusal).unwrap_or_default();
            let _nobody_reads = self.inbox.send(Incoming::Message(message)).await;
            return Ok(None);
        }
        let said = String::from_utf8_lossy(&body);
        let said = if said.trim().is_empty() { String::new() } else { format!(": {}", said.trim()) };
        Err(Cause::Status { status: status.as_u16(), said: Quoted::of(&self.traffic.secrets.redact(&said)) })
    }

    /// A body, if it is not too long.
    async fn body(&self, mut response: Response, limit: usize) -> Result<Vec<u8>, Cause> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.unreachable(&error))? {
            if body.len() + chunk.len() > limit {
                return Err(Cause::MessageTooLong { limit });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// What the library says, with all its reasons and without the URL.
    pub(super) fn unreachable(&self, error: &reqwest::Error) -> Cause {
        use std::error::Error as _;
        let mut words = Vec::new();
        let mut source = error.source();
        while let Some(error) = source {
            words.push(error.to_string());
            source = error.source();
        }
        if words.is_empty() {
            words.push("the connection failed".to_owned());
        }
        Cause::Unreachable(self.traffic.secrets.redact(&words.join(": ")))
    }

    /// Ends the session, if there is one.
    pub(super) async fn close(&self) {
        self.end.cancel();
        if self.state().session.is_some() {
            let farewell = self.request(Method::DELETE, self.url.clone()).send();
            let _late_or_refused = tokio::time::timeout(FAREWELL, farewell).await;
        }
    }
}

enum Posted {
    /// All that comes back has come.
    Done,
    /// A stream of events is being read.
    Streams,
}

/// What a response is.
pub(super) enum Content {
    Json,
    Events,
    Other(String),
}

pub(super) fn kind(response: &Response) -> Content {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    match kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
        "application/json" => Content::Json,
        "text/event-stream" => Content::Events,
        other => Content::Other(other.to_owned()),
    }
}

/// Sends answers one after the other.
async fn send_replies(
    caller: std::sync::Weak<Caller>,
    mut queue: mpsc::Receiver<Outgoing>,
    end: CancellationToken,
) {
    loop {
        let message = tokio::select! {
            () = end.cancelled() => return,
            message = queue.recv() => message,
        };
        let (Some(message), Some(caller)) = (message, caller.upgrade()) else { return };
        let limit = caller.traffic.limits.question;
        // A server that does not take an answer to its own question gets none.
        let _lost = tokio::time::timeout(limit, caller.post(message)).await;
    }
}
