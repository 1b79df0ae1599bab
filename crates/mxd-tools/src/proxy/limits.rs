//! How much one proxy serves, and how long it waits.

use std::time::Duration;

/// The limits of one proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Connections of clients at once, tunnels included.
    pub connections: usize,
    /// Tunnels at once.
    pub tunnels: usize,
    /// Bytes of the head of a request or an answer; of less than 8 KiB, a whole head is read before it is refused.
    pub head_bytes: usize,
    /// From a connection, or from the end of an answer, to the end of the next head.
    pub head: Duration,
    /// For resolving a host and connecting to it.
    pub connect: Duration,
    /// Without a byte in either direction.
    pub idle: Duration,
    /// Bytes in both directions of one request or tunnel, where there is such a limit.
    pub bytes: Option<u64>,
    /// Visits that are remembered.
    pub visits: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            tunnels: 192,
            head_bytes: 64 << 10,
            head: Duration::from_secs(30),
            connect: Duration::from_secs(20),
            idle: Duration::from_secs(300),
            bytes: None,
            visits: 1024,
        }
    }
}

/// Clients beyond the limit that are told so at the same time; further ones are hung up on.
pub(super) const TURNED_AWAY: usize = 8;

/// Lookups at once. The system's resolver cannot be interrupted, so one that hangs goes on after its deadline.
pub(super) const LOOKUPS: usize = 16;

/// Addresses of one host that are tried.
pub(super) const ADDRESSES: usize = 8;

/// Header lines of one head.
pub(super) const HEADERS: usize = 128;

/// The smallest buffer hyper works with.
pub(super) const SMALLEST_BUFFER: usize = 8 << 10;

/// How much longer a client may be silent than its host, so that it hears of the host's silence.
pub(super) const HEARING: Duration = Duration::from_secs(1);

/// How long no connection is accepted after the system could not give one.
pub(super) const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
