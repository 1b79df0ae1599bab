//! Connecting to an allowed host, at an address that was checked.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use super::host::{Destination, Host};
use super::refusal::Refusal;
use super::resolve::Lookups;
use super::rules::{HostRules, Reach};

/// What it takes to reach a host.
#[derive(Debug)]
pub(super) struct Dialer {
    pub(super) lookups: Lookups,
    pub(super) patience: Duration,
}

/// What a destination was allowed by, to which its addresses are held.
#[derive(Debug)]
pub(super) struct Allowed {
    pub(super) rules: Arc<HostRules>,
    pub(super) reach: Reach,
}

impl Dialer {
    /// Resolves once, checks every address, and connects to one of those.
    ///
    /// A name is not looked up again after the check, so its owner cannot answer with another address then.
    /// One address that may not be reached refuses the host: an honest name does not mix them.
    pub(super) async fn reach(&self, to: &Destination, allowed: &Allowed) -> Result<TcpStream, Refusal> {
        let attempt = timeout(self.patience, async {
            let addresses = self.addresses(to).await?;
            for address in &addresses {
                allowed
                    .rules
                    .judge_address(allowed.reach, *address, to.port)
                    .map_err(|denial| Refusal::Denied { to: to.clone(), denial })?;
            }
            self.connect(to, &addresses).await
        });
        attempt.await.unwrap_or_else(|_| Err(Refusal::ConnectLate { to: to.clone() }))
    }

    async fn addresses(&self, to: &Destination) -> Result<Vec<IpAddr>, Refusal> {
        match &to.host {
            Host::Address(address) => Ok(vec![*address]),
            Host::Name(name) => {
                let found = self.lookups.addresses(name).await;
                found.map_err(|why| Refusal::Unresolved { to: to.clone(), why })
            }
        }
    }

    async fn connect(&self, to: &Destination, addresses: &[IpAddr]) -> Result<TcpStream, Refusal> {
        // Each address has its share of the time, so that a dead first one does not use it up.
        let share = self.patience / u32::try_from(addresses.len().max(1)).unwrap_or(u32::MAX);
        let mut refusal = Refusal::ConnectLate { to: to.clone() };
        for address in addresses {
            match timeout(share, TcpStream::connect(SocketAddr::new(*address, to.port))).await {
                Ok(Ok(stream)) => {
                    // Only a matter of speed: a stream without it works.
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Ok(Err(why)) => refusal = Refusal::Unreachable { to: to.clone(), why },
                Err(_) => refusal = Refusal::ConnectLate { to: to.clone() },
            }
        }
        Err(refusal)
    }
}

/// What the system says about a failed connection, without its number.
pub(super) fn told(error: &io::Error) -> String {
    let words = error.to_string();
    words.split(" (os error").next().unwrap_or_default().to_owned()
}
