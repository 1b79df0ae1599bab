//! What is going on between us and one server, for all who take part in it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use mxd_core::tool::{CleanText, Quoted};
use rmcp::model::{NumberOrString, ProgressToken, RequestId};
use serde_json::Value;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::connection::Progress;
use super::error::{Cause, Loss};
use super::limits::Limits;
use crate::secrets::Secrets;

/// Questions that were withdrawn and may still be answered, at most.
const WITHDRAWN: usize = 1_024;

/// What is going on between us and one server.
#[derive(Debug)]
pub(super) struct Traffic {
    pub(super) limits: Limits,
    pub(super) secrets: Secrets,
    /// Raised when the server says that its tools have changed, however often.
    pub(super) tools_changed: Notify,
    state: Mutex<State>,
    cause: OnceLock<Cause>,
    ended: CancellationToken,
}

#[derive(Debug, Default)]
struct State {
    /// Questions that wait for their answer.
    waiting: HashSet<i64>,
    /// Questions whose answer nobody wants any more.
    withdrawn: HashSet<i64>,
    /// Questions that failed on the way, and why.
    failed: HashMap<i64, Cause>,
    /// Who is told about the progress of which question.
    progress: HashMap<i64, mpsc::Sender<Progress>>,
    odd: usize,
    last_odd: String,
    complaint: String,
    /// Requests of the server that are being answered.
    open: usize,
    /// Requests of the server that were answered.
    answered: usize,
    /// Questions of the server that a person or a model has yet to answer.
    asking: usize,
}

/// Somebody is being asked something for a server.
#[derive(Debug)]
pub(super) struct Asking(Arc<Traffic>);

impl Drop for Asking {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.asking = state.asking.saturating_sub(1);
    }
}

/// Whether a request of the server is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    /// It is.
    Admitted,
    /// There are too many at once; it is refused.
    Crowded,
    /// There were too many; the server is given up.
    Exhausted,
}

impl Traffic {
    pub(super) fn new(limits: Limits, secrets: Secrets) -> Self {
        Self {
            limits,
            secrets,
            tools_changed: Notify::new(),
            state: Mutex::default(),
            cause: OnceLock::new(),
            ended: CancellationToken::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the connection. The first cause counts.
    pub(super) fn end(&self, cause: Cause) {
        let _first_one_stays = self.cause.set(cause);
        self.ended.cancel();
    }

    /// Raised when the connection has ended.
    pub(super) fn ended(&self) -> &CancellationToken {
        &self.ended
    }

    /// Why the connection ended, once it has.
    pub(super) fn cause(&self) -> Option<&Cause> {
        self.cause.get()
    }

    /// What can be told about a failure.
    pub(super) fn loss(&self, cause: Cause) -> Box<Loss> {
        let state = self.state();
        let odd = (state.odd > 0).then(|| (state.odd, Quoted::of(&self.secrets.redact(&state.last_odd))));
        let complaint = CleanText::clean(state.complaint.trim(), self.limits.complaint_bytes);
        Box::new(Loss { cause, odd, complaint: complaint.text().to_owned() })
    }

    /// A question is on its way.
    pub(super) fn expect(&self, id: &RequestId) {
        if let NumberOrString::Number(id) = id {
            self.state().waiting.insert(*id);
        }
    }

    /// Whether somebody waits for this answer; from now on nobody does.
    pub(super) fn claim(&self, id: i64) -> Claim {
        let mut state = self.state();
        if state.waiting.remove(&id) {
            Claim::Wanted
        } else if state.withdrawn.remove(&id) {
            Claim::Withdrawn
        } else {
            Claim::Unknown
        }
    }

    /// Nobody waits for this answer any more.
    pub(super) fn withdraw(&self, id: &RequestId) {
        let NumberOrString::Number(id) = id else { return };
        let mut state = self.state();
        state.failed.remove(id);
        if state.waiting.remove(id) && state.withdrawn.len() < WITHDRAWN {
            state.withdrawn.insert(*id);
        }
    }

    /// A question failed on the way.
    pub(super) fn fail(&self, id: i64, cause: Cause) {
        self.state().failed.insert(id, cause);
    }

    /// Why a question failed on the way, if it did.
    pub(super) fn failure(&self, id: &RequestId) -> Option<Cause> {
        let NumberOrString::Number(id) = id else { return None };
        self.state().failed.remove(id)
    }

    /// Whether a question still waits.
    pub(super) fn is_waiting(&self, id: i64) -> bool {
        self.state().waiting.contains(&id)
    }

    /// Somebody wants to know how far a question is.
    pub(super) fn watch(&self, token: &ProgressToken, progress: mpsc::Sender<Progress>) {
        if let NumberOrString::Number(token) = token.0 {
            self.state().progress.insert(token, progress);
        }
    }

    pub(super) fn unwatch(&self, token: &ProgressToken) {
        if let NumberOrString::Number(token) = token.0 {
            self.state().progress.remove(&token);
        }
    }

    /// Notes a message that makes no sense. Too many of them end the connection.
    pub(super) fn odd(&self, sample: &[u8]) {
        let mut state = self.state();
        state.odd += 1;
        let sample = &sample[..sample.len().min(SAMPLE_BYTES)];
        state.last_odd = String::from_utf8_lossy(sample).into_owned();
        if state.odd > self.limits.odd_messages {
            drop(state);
            self.end(Cause::TooOdd { limit: self.limits.odd_messages });
        }
    }

    /// Keeps the end of what the server complains about.
    pub(super) fn complain(&self, text: &str) {
        let mut state = self.state();
        state.complaint.push_str(text);
        let excess = state.complaint.len().saturating_sub(self.limits.complaint_bytes);
        if excess > 0 {
            let cut = state.complaint.ceil_char_boundary(excess);
            state.complaint.drain(..cut);
        }
    }

    /// Asks whether a request of the server is answered.
    pub(super) fn admit(&self) -> Admission {
        let mut state = self.state();
        state.answered += 1;
        if state.answered > self.limits.answers {
            return Admission::Exhausted;
        }
        if state.open >= self.limits.requests {
            return Admission::Crowded;
        }
        state.open += 1;
        Admission::Admitted
    }

    /// A request of the server is answered.
    pub(super) fn dismiss(&self) {
        let mut state = self.state();
        state.open = state.open.saturating_sub(1);
    }

    /// Notes that somebody is being asked something for the server, until that is dropped.
    pub(super) fn ask(self: &Arc<Self>) -> Asking {
        self.state().asking += 1;
        Asking(Arc::clone(self))
    }

    /// Whether the server waits for an answer: its calls do not take too long meanwhile.
    pub(super) fn is_asking(&self) -> bool {
        self.state().asking > 0
    }

    /// Takes note of what the server says without being asked.
    pub(super) fn notice(&self, method: &str, params: Option<&str>) {
        match method {
            "notifications/progress" => self.progress(params),
            "notifications/tools/list_changed" => self.tools_changed.notify_one(),
            // Logs are the server's own business, and the other lists are asked for when they are wanted.
            _ => {}
        }
    }

    fn progress(&self, params: Option<&str>) {
        let Some(params) = params.and_then(|params| serde_json::from_str::<Value>(params).ok()) else {
            return;
        };
        let Some(token) = params.get("progressToken").and_then(Value::as_i64) else { return };
        let Some(watcher) = self.state().progress.get(&token).cloned() else { return };
        let number = |name: &str| params.get(name).and_then(Value::as_f64);
        let message = params.get("message").and_then(Value::as_str).map(|words| self.secrets.redact(words));
        // A watcher that is slow misses something; the server is not held up by it.
        let _full = watcher.try_send(Progress {
            done: number("progress").unwrap_or_default(),
            of: number("total"),
            message,
        });
    }
}

/// Bytes of a senseless message that are kept.
const SAMPLE_BYTES: usize = 400;

/// Whose answer it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// Somebody waits for it.
    Wanted,
    /// Somebody did.
    Withdrawn,
    /// Nobody asked.
    Unknown,
}
