//! Asking a server something, with a limit on everything.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use mxd_core::tool::{Quoted, ServerName};
use rmcp::RoleClient;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientNotification, ClientRequest, CustomRequest,
    InitializedNotification, JsonObject, RequestId, RequestMetaObject, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, ServiceError};
use serde_json::Value;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::connection::Progress;
use super::error::{CallError, Cause};
use super::traffic::Traffic;

/// How long it may take to tell a server that a question is withdrawn.
const WITHDRAWING: Duration = Duration::from_millis(500);

/// The question that is answered only when there is nothing to hear any more.
pub(super) const SUBSCRIBE: &str = "subscriptions/listen";

/// Our side of the conversation.
#[derive(Debug)]
pub(super) struct Talk {
    pub(super) server: ServerName,
    pub(super) traffic: Arc<Traffic>,
    peer: Peer<RoleClient>,
    room: Semaphore,
    /// What every question to a server without state carries.
    meta: OnceLock<JsonObject>,
}

/// A question.
#[derive(Debug)]
pub(super) struct Ask<'a> {
    pub(super) method: &'static str,
    pub(super) params: Value,
    pub(super) deadline: Duration,
    pub(super) cancel: Option<&'a CancellationToken>,
    pub(super) progress: Option<mpsc::Sender<Progress>>,
}

impl Ask<'_> {
    pub(super) fn new(method: &'static str, params: Value, deadline: Duration) -> Self {
        Self { method, params, deadline, cancel: None, progress: None }
    }
}

/// Travels with a question to the transport, which knows the token that progress comes with.
#[derive(Debug, Clone)]
pub(super) struct Watch(pub(super) mpsc::Sender<Progress>);

/// Why a question has no answer, when the server was heard.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) code: i64,
    pub(super) message: String,
    pub(super) data: Option<Value>,
}

/// What a question came to.
pub(super) enum Reply {
    Result(String),
    Refused(Refused),
}

impl Talk {
    pub(super) fn new(server: ServerName, peer: Peer<RoleClient>, traffic: Arc<Traffic>) -> Self {
        let room = Semaphore::new(traffic.limits.pending);
        Self { server, traffic, peer, room, meta: OnceLock::new() }
    }

    /// From now on every question carries this.
    pub(super) fn always_send(&self, meta: JsonObject) {
        let _set_once = self.meta.set(meta);
    }

    /// Whether no question waits, other than to hear about changes.
    pub(super) fn is_idle(&self) -> bool {
        self.room.available_permits() == self.traffic.limits.pending
    }

    /// Asks, and returns the result as the server wrote it.
    pub(super) async fn ask(&self, ask: Ask<'_>) -> Result<String, CallError> {
        match self.ask_for_reply(ask).await? {
            Reply::Result(text) => Ok(text),
            Reply::Refused(refused) => Err(CallError::Refused {
                server: self.server.clone(),
                code: refused.code,
                message: Quoted::of(&self.traffic.secrets.redact(&refused.message)),
            }),
        }
    }

    /// The same, where a refusal says something.
    pub(super) async fn ask_for_reply(&self, ask: Ask<'_>) -> Result<Reply, CallError> {
        let limit = self.traffic.limits.pending;
        let _place = self
            .room
            .try_acquire()
            .map_err(|_full| CallError::Busy { server: self.server.clone(), limit })?;
        let mut request = CustomRequest::new(ask.method, Some(ask.params));
        let is_watched = ask.progress.is_some();
        if let Some(progress) = ask.progress {
            // The token is known only to the engine and the transport.
            request.extensions.insert(Watch(progress));
        }
        let mut options = PeerRequestOptions::no_options();
        if let Some(meta) = self.meta.get() {
            options = options.with_meta(RequestMetaObject::from(meta.clone()));
        }
        let deadline = tokio::time::sleep(ask.deadline);
        tokio::pin!(deadline);
        let sent = self.peer.send_cancellable_request(ClientRequest::CustomRequest(request), options);
        let handle = tokio::select! {
            biased;
            handle = sent => handle.map_err(|_closed| self.lost(None))?,
            () = &mut deadline => return Err(self.timed_out(ask.deadline)),
        };
        let mut waiting = Waiting { talk: self, handle: Some(handle), is_watched };
        let cancelled = async {
            match ask.cancel {
                Some(cancel) => cancel.cancelled().await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(cancelled);
        loop {
            tokio::select! {
                biased;
                reply = waiting.reply() => return reply,
                () = self.traffic.ended().cancelled() => return Err(self.lost(None)),
                () = &mut cancelled => {
                    waiting.withdraw("the caller does not want it any more").await;
                    return Err(CallError::Cancelled { server: self.server.clone() });
                }
                () = &mut deadline => {}
            }
            if !self.traffic.is_asking() {
                waiting.withdraw("it took too long").await;
                return Err(self.timed_out(ask.deadline));
            }
            // It is not the server who takes so long.
            deadline.as_mut().reset(Instant::now() + ask.deadline);
        }
    }

    /// Tells the server that it was understood.
    pub(super) async fn tell_initialized(&self) -> Result<(), CallError> {
        let notification = ClientNotification::InitializedNotification(InitializedNotification::default());
        let sent =
            tokio::time::timeout(self.traffic.limits.question, self.peer.send_notification(notification));
        match sent.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(self.lost(cause_of(&error))),
            Err(_late) => Err(self.timed_out(self.traffic.limits.question)),
        }
    }

    /// The end of the connection, as the error of a question.
    fn lost(&self, cause: Option<Cause>) -> CallError {
        let known = self.traffic.cause().cloned();
        let loss = self.traffic.loss(known.or(cause).unwrap_or_default());
        CallError::Lost { server: self.server.clone(), loss }
    }

    fn timed_out(&self, after: Duration) -> CallError {
        let loss = self.traffic.loss(Cause::Silent);
        CallError::TimedOut { server: self.server.clone(), after, loss }
    }
}

/// What the transport said about a message that it could not send.
fn cause_of(error: &ServiceError) -> Option<Cause> {
    match error {
        ServiceError::TransportSend(error) => error.error.downcast_ref::<Cause>().cloned(),
        _ => None,
    }
}

/// A question on its way. Dropped before its answer, it is withdrawn.
struct Waiting<'a> {
    talk: &'a Talk,
    handle: Option<RequestHandle<RoleClient>>,
    is_watched: bool,
}

impl Waiting<'_> {
    async fn reply(&mut self) -> Result<Reply, CallError> {
        let Some(handle) = &mut self.handle else { return Err(self.talk.lost(None)) };
        let answer = (&mut handle.rx).await;
        let id = handle.id.clone();
        self.leave();
        match answer {
            Ok(Ok(ServerResult::CustomResult(result))) => match result.0 {
                Value::String(text) => Ok(Reply::Result(text)),
                other => Ok(Reply::Result(other.to_string())),
            },
            Ok(Err(ServiceError::McpError(error))) => match self.talk.traffic.failure(&id) {
                Some(cause) => Err(self.failed(cause)),
                None => Ok(Reply::Refused(Refused {
                    code: i64::from(error.code.0),
                    message: error.message.into_owned(),
                    data: error.data,
                })),
            },
            Ok(Err(error)) => {
                self.talk.traffic.withdraw(&id);
                Err(match cause_of(&error) {
                    Some(cause) => self.failed(cause),
                    None => self.talk.lost(None),
                })
            }
            Ok(Ok(_)) | Err(_) => Err(self.talk.lost(None)),
        }
    }

    /// One question failed, the connection may live on.
    fn failed(&self, cause: Cause) -> CallError {
        let loss = self.talk.traffic.loss(cause);
        CallError::Lost { server: self.talk.server.clone(), loss }
    }

    fn leave(&mut self) -> Option<RequestHandle<RoleClient>> {
        let handle = self.handle.take()?;
        if self.is_watched {
            self.talk.traffic.unwatch(&handle.progress_token);
        }
        Some(handle)
    }

    async fn withdraw(&mut self, reason: &str) {
        let Some(handle) = self.leave() else { return };
        self.talk.traffic.withdraw(&handle.id);
        let told = handle.peer.send_notification(withdrawal(handle.id, reason));
        // A server that reads nothing does not hold us up.
        let _late = tokio::time::timeout(WITHDRAWING, told).await;
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let Some(handle) = self.leave() else { return };
        self.talk.traffic.withdraw(&handle.id);
        if self.talk.traffic.cause().is_some() {
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let told =
                    handle.peer.send_notification(withdrawal(handle.id, "nobody waits for it any more"));
                let _late = tokio::time::timeout(WITHDRAWING, told).await;
            });
        }
    }
}

fn withdrawal(id: RequestId, reason: &str) -> ClientNotification {
    ClientNotification::CancelledNotification(CancelledNotification::new(CancelledNotificationParam::new(
        Some(id),
        Some(reason.to_owned()),
    )))
}
