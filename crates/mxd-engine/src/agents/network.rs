//! The way to hosts: those that the settings allow, and for the commands of a task those that the user allows when asked.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use mxd_core::id::TaskId;
use mxd_core::tool::{EffectSet, SideEffect};
use mxd_tools::proxy::{self, HostPolicy, Listen, Options, Proxy, ProxyError, Resolver, Visit};
use mxd_tools::sandbox::{Level, Network};

use super::Agents;
use crate::clock;

/// What processes of an agent reach, and the variables that lead them there.
#[derive(Debug, Clone)]
pub(super) struct Way {
    pub(super) network: Network,
    pub(super) env: Vec<(String, String)>,
    /// The proxy that is the way. It ends when nobody holds it.
    pub(super) proxy: Option<Arc<Proxy>>,
}

impl Way {
    const NONE: Self = Self { network: Network::None, env: Vec::new(), proxy: None };

    fn through(proxy: Arc<Proxy>) -> Self {
        Self { network: proxy.network(), env: proxy.env(), proxy: Some(proxy) }
    }
}

impl Agents {
    /// The way out for the servers of agents. Several agents may share a server, so nobody is asked in the name of one of
    /// them: there is no way unless the settings allow a host.
    pub(super) async fn way_of_servers(&self, effects: EffectSet) -> Result<Way, ProxyError> {
        let rules = &self.surroundings().config.sandbox.hosts;
        if rules.allows_nobody() || !effects.contains(SideEffect::Network) {
            return Ok(Way::NONE);
        }
        let mut slot = self.inner.proxy.lock().await;
        let proxy = match &*slot {
            Some(proxy) => Arc::clone(proxy),
            None => Arc::clone(slot.insert(self.start_proxy(Arc::new(rules.clone())).await?)),
        };
        Ok(Way::through(proxy))
    }

    /// The way out for the commands of a task. What no rule allows or denies is put to the user.
    pub(super) async fn way_of_commands(&self, task: TaskId, effects: EffectSet) -> Result<Way, ProxyError> {
        let settings = &self.surroundings().config.sandbox;
        let has_rules = !settings.hosts.allows_nobody();
        // Without a sandbox there is no wall in which the proxy would be the door.
        let asks = settings.ask_about_hosts && self.surroundings().sandbox.level() != Level::Off;
        if !effects.contains(SideEffect::Network) || !(has_rules || asks) {
            return Ok(Way::NONE);
        }
        match self.start_proxy(Arc::new(self.hosts_of(task))).await {
            Ok(proxy) => Ok(Way::through(proxy)),
            // Nobody has allowed a host yet: an agent without a network works, one without commands does not.
            Err(error) if !has_rules => {
                tracing::warn!(%task, %error, "its commands have no way to ask for a host");
                Ok(Way::NONE)
            }
            Err(error) => Err(error),
        }
    }

    async fn start_proxy(&self, policy: Arc<dyn HostPolicy>) -> Result<Arc<Proxy>, ProxyError> {
        let number = self.inner.proxies_started.fetch_add(1, Ordering::Relaxed);
        // The path of a socket is short on every system, so its name is a number and not the id of a task.
        let socket = self.parts().data.join("proxy").join(format!("{number}.sock"));
        let options = Options {
            policy,
            listen: Listen::for_level(self.surroundings().sandbox.level(), socket),
            limits: proxy::Limits::default(),
            resolver: Resolver::System,
            clock: clock::now,
            reports: None,
        };
        let proxy = Arc::new(Proxy::start(options).await?);
        let mut proxies = self.inner.proxies.lock().unwrap_or_else(PoisonError::into_inner);
        proxies.retain(|proxy| proxy.strong_count() > 0);
        proxies.push(Arc::downgrade(&proxy));
        Ok(proxy)
    }

    /// The latest visits to hosts of agents that are at work, oldest first.
    pub(crate) fn visits(&self) -> Vec<Visit> {
        let proxies = self.inner.proxies.lock().unwrap_or_else(PoisonError::into_inner);
        let running = proxies.iter().filter_map(std::sync::Weak::upgrade);
        let mut visits: Vec<Visit> = running.flat_map(|proxy| proxy.visits()).collect();
        visits.sort_by_key(|visit| visit.at);
        visits
    }
}
