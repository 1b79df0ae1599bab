//! Hosts that the commands of a task want to reach and that no rule speaks of: the user is asked, as about a call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, WeakShared};
use mxd_core::decide::SessionOp;
use mxd_core::event::body::Verdict;
use mxd_core::event::{Event, EventBody};
use mxd_core::id::{ApprovalId, TaskId};
use mxd_tools::proxy::{Destination, HostDecision, HostPolicy, HostRules};
use tokio::sync::oneshot;

use super::{Agents, Inner};
use crate::clock;
use crate::config::CurrentConfig;

/// How long a connection waits for the user's word. A proxy bears a silent client for longer than this.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(240);

/// Who waits for which word.
pub(super) type WaitingHosts = HashMap<ApprovalId, oneshot::Sender<HostDecision>>;

/// What the commands of one task may reach: the rules of the settings as they are now, and the user's word for the rest.
/// It does not keep the project open.
#[derive(Debug)]
pub(super) struct TaskHosts {
    task: TaskId,
    agents: Weak<Inner>,
    config: Arc<CurrentConfig>,
    /// The question about each host that is open: connections to the same host wait for one answer.
    open: Mutex<HashMap<String, WeakShared<BoxFuture<'static, HostDecision>>>>,
}

impl HostPolicy for TaskHosts {
    fn rules(&self) -> Arc<HostRules> {
        // Settings that cannot be read allow nobody, and nobody is asked then.
        let config = self.config.load();
        Arc::new(config.map(|config| config.sandbox.hosts.clone()).unwrap_or_default())
    }

    fn decide(&self, to: &Destination) -> BoxFuture<'static, HostDecision> {
        let host = to.as_rule();
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, question| question.upgrade().is_some());
        if let Some(question) = open.get(&host).and_then(WeakShared::upgrade) {
            return question.boxed();
        }
        let question = Agents::decide_host(self.agents.clone(), self.task, host.clone()).boxed().shared();
        if let Some(question) = question.downgrade() {
            open.insert(host, question);
        }
        question.boxed()
    }
}

impl Agents {
    /// What decides which hosts the commands of a task reach.
    pub(super) fn hosts_of(&self, task: TaskId) -> TaskHosts {
        TaskHosts {
            task,
            agents: Arc::downgrade(&self.inner),
            config: Arc::clone(&self.inner.current_config),
            open: Mutex::default(),
        }
    }

    async fn decide_host(inner: Weak<Inner>, task: TaskId, host: String) -> HostDecision {
        let Some(inner) = inner.upgrade() else { return HostDecision::NotAsked };
        let agents = Self { inner };
        let asks = agents.current_config().await.is_ok_and(|config| config.sandbox.ask_about_hosts);
        if !asks {
            return HostDecision::NotAsked;
        }
        if agents.parts().shown.look(|state| state.session(task).allows_host(&host)) {
            return HostDecision::Allowed;
        }
        agents.ask_about_host(task, host).await
    }

    /// Asks the user and waits. When nobody waits any more the question is withdrawn.
    async fn ask_about_host(&self, task: TaskId, host: String) -> HostDecision {
        let id: ApprovalId = clock::fresh(clock::now()).issue();
        let (tell, told) = oneshot::channel();
        self.waiting_hosts().insert(id, tell);
        let withdrawal = Withdrawal { agents: self.clone(), task, id };
        if self.decided(task, SessionOp::AskAboutHost { id, host }).await.is_err() {
            // Nobody was asked, so there is nothing to withdraw.
            self.waiting_hosts().remove(&id);
            return HostDecision::NotAsked;
        }
        let answer = tokio::time::timeout(ANSWER_TIMEOUT, told).await;
        drop(withdrawal);
        answer.map_or(HostDecision::Unanswered, |told| told.unwrap_or(HostDecision::Unanswered))
    }

    fn waiting_hosts(&self) -> std::sync::MutexGuard<'_, WaitingHosts> {
        self.inner.waiting_hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hears the words that connections wait for.
    pub(super) fn hear_about_host(&self, event: &Event) {
        let (id, decision) = match &event.body {
            EventBody::HostApprovalGiven(body) if body.verdict == Verdict::Allow => {
                (body.id, HostDecision::Allowed)
            }
            EventBody::HostApprovalGiven(body) => (body.id, HostDecision::Refused),
            EventBody::HostApprovalExpired(body) => (body.id, HostDecision::Unanswered),
            _ => return,
        };
        if let Some(waiting) = self.waiting_hosts().remove(&id) {
            // Whoever waited may be gone.
            let _gone = waiting.send(decision);
        }
    }
}

/// Takes a question about a host back when nobody waits for its answer any more.
struct Withdrawal {
    agents: Agents,
    task: TaskId,
    id: ApprovalId,
}

impl Drop for Withdrawal {
    fn drop(&mut self) {
        if self.agents.waiting_hosts().remove(&self.id).is_some() {
            let (agents, task, id) = (self.agents.clone(), self.task, self.id);
            self.agents.spawn(async move { agents.report(task, SessionOp::WithdrawHost { id }).await });
        }
    }
}
