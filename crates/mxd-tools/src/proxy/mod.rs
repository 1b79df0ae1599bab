//! The way to the network: a proxy that lets an agent's processes reach allowed hosts and nobody else.
//!
//! Processes in a sandbox have no network of their own. What they find is this proxy, one per agent, which runs
//! in the daemon: it knows HTTP and `CONNECT`, asks the [`HostPolicy`] (rules, and the user where they say nothing),
//! resolves names itself, refuses addresses that are not of the public internet, and remembers every [`Visit`]. It
//! opens no TLS: of a tunnel it knows the host, the port and the number of bytes.
//!
//! In a sandbox without network, [`forward()`] passes the bytes of a loopback port to the proxy's socket file.

mod address;
mod dial;
mod error;
mod forward;
mod host;
mod limits;
mod listen;
mod meter;
mod policy;
mod refusal;
mod relay;
mod resolve;
mod rules;
mod serve;
mod target;
mod token;
mod tunnel;
mod visit;

use std::fs;
use std::sync::Arc;

use mxd_core::time::Millis;
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

pub use error::ProxyError;
pub use forward::forward;
pub use host::{Destination, Host, HostError};
pub use limits::Limits;
pub use listen::{Address, Listen};
pub use policy::{HostDecision, HostPolicy};
pub use resolve::{Answers, Resolver};
pub use rules::{Denial, HostRules, Pattern, RuleError};
pub use visit::{Method, Verdict, Visit};

use crate::sandbox::Network;
use dial::Dialer;
use listen::Listener;
use resolve::Lookups;
use serve::{Room, Service};
use token::Token;
use visit::Visits;

/// What a proxy is to do.
#[derive(Debug)]
pub struct Options {
    /// Whom its clients may talk to. [`HostRules`] are a policy that stays as it is.
    pub policy: Arc<dyn HostPolicy>,
    /// Where they find it.
    pub listen: Listen,
    /// How much it serves.
    pub limits: Limits,
    /// Who knows the addresses of names.
    pub resolver: Resolver,
    /// What time it is.
    pub clock: fn() -> Millis,
    /// Where visits are told, besides being remembered. When it is full they are only counted.
    pub reports: Option<mpsc::Sender<Visit>>,
}

/// A running proxy. Dropping it closes the listener, ends every connection and removes the socket file.
#[derive(Debug)]
pub struct Proxy {
    address: Address,
    /// The port at which clients find it.
    port: u16,
    service: Arc<Service>,
    _end: DropGuard,
}

impl Proxy {
    /// Starts a proxy on the runtime this is called on.
    pub async fn start(options: Options) -> Result<Self, ProxyError> {
        let (listener, address, port, token) = match options.listen {
            Listen::Unix { socket, port } => (Listener::unix(&socket)?, Address::Unix(socket), port, None),
            Listen::Loopback => {
                let token = Token::random()?;
                let (listener, address) = Listener::loopback().await?;
                (listener, Address::Loopback(address), address.port(), Some(token))
            }
        };
        let end = CancellationToken::new();
        let service = Arc::new(Service {
            policy: options.policy,
            dialer: Dialer { lookups: Lookups::new(options.resolver), patience: options.limits.connect },
            room: Room::new(&options.limits),
            visits: Arc::new(Visits::new(options.clock, options.limits.visits, options.reports)),
            limits: options.limits,
            token,
            end: end.clone(),
        });
        tokio::spawn(Arc::clone(&service).accept(listener));
        Ok(Self { address, port, service, _end: end.drop_guard() })
    }

    /// Where it listens.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The same, as what a sandbox lets its processes reach.
    pub fn network(&self) -> Network {
        let socket = match &self.address {
            Address::Unix(socket) => Some(socket.clone()),
            Address::Loopback(_) => None,
        };
        Network::Proxy { socket, port: self.port }
    }

    /// The environment that makes programs use it. It holds the token, where there is one.
    pub fn env(&self) -> Vec<(String, String)> {
        let credentials = self.service.token.as_ref().map(|token| format!("{}@", token.credentials()));
        let url = format!("http://{}127.0.0.1:{}", credentials.unwrap_or_default(), self.port);
        // What listens in the sandbox itself is reached without us.
        let own = "localhost,127.0.0.1,::1";
        let proxied = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
        let proxied = proxied.map(|name| (name, url.as_str()));
        // Node looks at the others only when it is told to.
        let others = [("NO_PROXY", own), ("no_proxy", own), ("NODE_USE_ENV_PROXY", "1")];
        let all = proxied.into_iter().chain(others);
        all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    /// The latest visits that are over, oldest first.
    pub fn visits(&self) -> Vec<Visit> {
        self.service.visits.latest()
    }

    /// How many visits [`Options::reports`] had no room for.
    pub fn unreported(&self) -> u64 {
        self.service.visits.unreported()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Address::Unix(socket) = &self.address {
            // One that is gone already needs no removal, and a proxy that starts here later clears a forgotten one.
            let _ = fs::remove_file(socket);
        }
    }
}
