//! The transport under the protocol engine: bytes of a server become messages, whatever carries them.
//!
//! The engine numbers questions and pairs them with answers. It gets answers as text, so that whoever asked reads
//! exactly what was sent, and it gets nothing else: notices and requests of the server are dealt with here, where there
//! are limits for them.

use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{
    ClientNotification, ClientRequest, CustomResult, ErrorCode, ErrorData, GetMeta as _, JsonRpcMessage,
    NumberOrString, RequestId, ServerResult,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::mpsc;

use super::answer::Clerk;
use super::envelope::{self, Envelope};
use super::error::Cause;
use super::http::Caller;
use super::lines::Lines;
use super::pen::Pen;
use super::talk::Watch;
use super::traffic::{Claim, Traffic};

/// Messages read in a row before others have their turn.
const TURN: usize = 64;

/// A message on its way to the server.
#[derive(Debug)]
pub(super) struct Outgoing {
    /// The message as JSON.
    pub(super) bytes: Vec<u8>,
    /// The number of a question.
    pub(super) id: Option<i64>,
    /// The number of the question that this one withdraws.
    pub(super) withdraws: Option<i64>,
}

/// Something on its way from the server.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A message.
    Message(Vec<u8>),
    /// A question will have no answer.
    Failed(i64, Cause),
}

/// Where messages come from.
#[derive(Debug)]
pub(super) enum Inlet {
    /// The lines of a process.
    Lines(Lines),
    /// Whoever else reads them.
    Queue(mpsc::Receiver<Incoming>),
}

/// Where messages go to.
#[derive(Debug, Clone)]
pub(super) enum Outlet {
    /// The pipe to a process.
    Pen(Arc<Pen>),
    /// A service that is called for every message.
    Calls(Arc<Caller>),
}

impl Outlet {
    /// Sends a message. What can go now goes now, so that a question is there before it is withdrawn; for the rest there is
    /// somebody to be called.
    fn send(&self, message: Outgoing) -> Result<Option<(Arc<Caller>, Outgoing)>, Cause> {
        match self {
            Self::Pen(pen) => pen.write(message.bytes).map(|()| None),
            Self::Calls(caller) => Ok(Some((Arc::clone(caller), message))),
        }
    }

    /// Sends an answer to a request of the server if there is room for it.
    pub(super) fn reply(&self, bytes: Vec<u8>) -> bool {
        match self {
            Self::Pen(pen) => pen.reply(bytes).is_ok(),
            Self::Calls(caller) => caller.reply(Outgoing { bytes, id: None, withdraws: None }),
        }
    }
}

/// The transport of one connection.
pub(super) struct Wire {
    pub(super) inlet: Inlet,
    pub(super) outlet: Outlet,
    pub(super) traffic: Arc<Traffic>,
    pub(super) clerk: Clerk,
}

impl Wire {
    async fn next(&mut self) -> Option<Incoming> {
        match &mut self.inlet {
            Inlet::Lines(lines) => lines.next(&self.traffic).await.map(Incoming::Message),
            Inlet::Queue(queue) => queue.recv().await,
        }
    }

    /// What the engine has to know of a message.
    fn sort(&self, message: &[u8]) -> Option<RxJsonRpcMessage<RoleClient>> {
        match envelope::read(message) {
            Some(Envelope::Result { id, text }) => match self.traffic.claim(id) {
                Claim::Wanted => {
                    let result =
                        ServerResult::CustomResult(CustomResult::new(Value::String(text.to_owned())));
                    return Some(JsonRpcMessage::response(result, RequestId::Number(id)));
                }
                Claim::Withdrawn => {}
                Claim::Unknown => self.traffic.odd(message),
            },
            Some(Envelope::Refusal { id: Some(id), error }) => match self.traffic.claim(id) {
                Claim::Wanted => return Some(JsonRpcMessage::error(error, Some(RequestId::Number(id)))),
                Claim::Withdrawn => {}
                Claim::Unknown => self.traffic.odd(message),
            },
            Some(Envelope::Request { id, method, params }) => {
                self.clerk.receive(id, &method, params, &self.outlet);
            }
            Some(Envelope::Notice { method, params }) if method == "notifications/cancelled" => {
                self.clerk.withdraw(params);
            }
            Some(Envelope::Notice { method, params }) => self.traffic.notice(&method, params),
            Some(Envelope::Refusal { id: None, .. }) | None => self.traffic.odd(message),
        }
        None
    }

    /// Notes who wants to know how far a question is.
    fn watch(&self, request: &ClientRequest) {
        let ClientRequest::CustomRequest(request) = request else { return };
        let token = request.get_meta().get_progress_token();
        if let (Some(Watch(progress)), Some(token)) = (request.extensions.get::<Watch>(), token) {
            self.traffic.watch(&token, progress.clone());
        }
    }

    fn failed(&self, id: i64, cause: Cause) -> Option<RxJsonRpcMessage<RoleClient>> {
        if self.traffic.claim(id) != Claim::Wanted {
            return None;
        }
        self.traffic.fail(id, cause);
        let error = ErrorData::new(ErrorCode::INTERNAL_ERROR, "no answer", None);
        Some(JsonRpcMessage::error(error, Some(RequestId::Number(id))))
    }
}

impl Transport<RoleClient> for Wire {
    type Error = Cause;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let number = |id: &RequestId| match id {
            NumberOrString::Number(id) => Some(*id),
            NumberOrString::String(_) => None,
        };
        let id = match &message {
            JsonRpcMessage::Request(request) => {
                self.watch(&request.request);
                number(&request.id)
            }
            _ => None,
        };
        let withdraws = match &message {
            JsonRpcMessage::Notification(notification) => match &notification.notification {
                ClientNotification::CancelledNotification(cancelled) => {
                    cancelled.params.request_id.as_ref().and_then(number)
                }
                _ => None,
            },
            _ => None,
        };
        if let Some(id) = id {
            self.traffic.expect(&RequestId::Number(id));
        }
        let bytes = serde_json::to_vec(&message).unwrap_or_default();
        let sent = self.outlet.send(Outgoing { bytes, id, withdraws });
        async move {
            match sent? {
                Some((caller, message)) => caller.post(message).await,
                None => Ok(()),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let ended = self.traffic.ended().clone();
        loop {
            for _message in 0..TURN {
                let incoming = tokio::select! {
                    biased;
                    () = ended.cancelled() => return None,
                    incoming = self.next() => incoming,
                };
                let wanted = match incoming {
                    Some(Incoming::Message(message)) => self.sort(&message),
                    Some(Incoming::Failed(id, cause)) => self.failed(id, cause),
                    None => {
                        self.traffic.end(Cause::ClosedOutput);
                        return None;
                    }
                };
                if wanted.is_some() {
                    return wanted;
                }
            }
            tokio::task::yield_now().await;
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}
