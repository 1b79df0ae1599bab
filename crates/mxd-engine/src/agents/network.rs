//! The way to the hosts that the settings allow, for agents whose manifest allows the network.

use std::sync::Arc;

use mxd_core::tool::{EffectSet, SideEffect};
use mxd_tools::proxy::{self, Listen, Options, Proxy, ProxyError, Resolver, Visit};
use mxd_tools::sandbox::Network;

use super::Agents;
use crate::clock;

/// What processes of an agent reach, and the variables that lead them there.
#[derive(Debug, Clone)]
pub(super) struct Way {
    pub(super) network: Network,
    pub(super) env: Vec<(String, String)>,
}

impl Agents {
    /// The way out for whoever may do these things to the world. There is none unless the settings allow a host.
    pub(super) async fn way_out(&self, effects: EffectSet) -> Result<Way, ProxyError> {
        let rules = &self.surroundings().config.sandbox.hosts;
        let none = Way { network: Network::None, env: Vec::new() };
        if rules.allows_nobody() || !effects.contains(SideEffect::Network) {
            return Ok(none);
        }
        let mut slot = self.inner.proxy.lock().await;
        let proxy = match &*slot {
            Some(proxy) => Arc::clone(proxy),
            None => {
                let folder = self.parts().data.join("proxy");
                let options = Options {
                    rules: rules.clone(),
                    listen: Listen::for_level(self.surroundings().sandbox.level(), &folder),
                    limits: proxy::Limits::default(),
                    resolver: Resolver::System,
                    clock: clock::now,
                    reports: None,
                };
                Arc::clone(slot.insert(Arc::new(Proxy::start(options).await?)))
            }
        };
        Ok(Way { network: proxy.network(), env: proxy.env() })
    }

    /// The latest visits to hosts, oldest first.
    pub(crate) async fn visits(&self) -> Vec<Visit> {
        self.inner.proxy.lock().await.as_ref().map(|proxy| proxy.visits()).unwrap_or_default()
    }
}
