//! Who decides which hosts the clients of a proxy may reach: rules, and somebody to be asked where no rule speaks.

use std::fmt;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::host::Destination;
use super::rules::HostRules;

/// Decides which hosts may be reached. It is asked for every request, so what it says may change while a proxy runs.
pub trait HostPolicy: fmt::Debug + Send + Sync + 'static {
    /// The rules as they are now.
    fn rules(&self) -> Arc<HostRules>;

    /// Whether a host may be reached that no rule allows or denies. The request waits for the answer, and nothing is looked
    /// up or sent before it. Dropping the future says that nobody waits any more.
    fn decide(&self, to: &Destination) -> BoxFuture<'static, HostDecision>;
}

/// What was decided about a host that no rule speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostDecision {
    /// It may be reached, at addresses of the public internet.
    Allowed,
    /// The user refused it.
    Refused,
    /// The user was asked and did not answer in time.
    Unanswered,
    /// Nobody was asked: what no rule allows is denied.
    NotAsked,
}

/// Rules that stay as they are. What they do not speak of is denied.
impl HostPolicy for HostRules {
    fn rules(&self) -> Arc<HostRules> {
        Arc::new(self.clone())
    }

    fn decide(&self, _: &Destination) -> BoxFuture<'static, HostDecision> {
        std::future::ready(HostDecision::NotAsked).boxed()
    }
}
