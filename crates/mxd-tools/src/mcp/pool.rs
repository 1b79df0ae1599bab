//! Servers that agents share, so that a hundred agents are not a hundred processes of each.
//!
//! Shared is only what cannot tell agents apart: the same server with the same credentials, that changes nothing, sees no
//! worktree, and asks nobody anything. It is closed a while after the last agent has left.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use mxd_core::manifest::{LockedServer, ServerSpec, Transport, effects_of_server};
use mxd_core::tool::SideEffect;
use secrecy::ExposeSecret as _;
use sha2::{Digest as _, Sha256};

use super::server::Server;
use super::servers::{Servers, Unaccepted, View, Wanted};
use super::surroundings::Surroundings;

/// Servers that agents share. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Pool {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    scratch: PathBuf,
    linger: Duration,
    /// Credentials go into keys, and keys into the names of folders: nobody else is to guess one from the other.
    salt: u128,
    entries: Mutex<HashMap<Key, Entry>>,
}

/// What has to be the same for two agents to share a server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key([u8; 32]);

#[derive(Debug)]
struct Entry {
    server: Server,
    leases: usize,
    /// How often it was left, so that only the latest farewell counts.
    farewells: u64,
}

/// The use of a server.
#[derive(Debug)]
pub(super) struct Lease {
    server: Server,
    place: Option<Place>,
}

#[derive(Debug)]
struct Place {
    pool: Weak<Shared>,
    key: Key,
}

impl Pool {
    /// A pool whose servers have their folders here, and stay so long after the last agent has left.
    pub fn new(scratch: PathBuf, linger: Duration) -> Self {
        Self {
            shared: Arc::new(Shared { scratch, linger, salt: fastrand::u128(..), entries: Mutex::default() }),
        }
    }

    /// Like [`Servers::connect`], with servers that other agents use already where that is safe. One that takes longer than
    /// [`Limits::begin`](super::Limits::begin) is not waited for: it goes on being connected.
    pub async fn connect(&self, wanted: Vec<Wanted>, around: Arc<Surroundings>) -> Servers {
        let leases = wanted.into_iter().map(|wanted| self.lease(wanted, &around));
        let servers = Servers::of(leases);
        // Those that are there are used now; the others are used when they come.
        let _late = tokio::time::timeout(around.limits.begin, servers.tried()).await;
        servers
    }

    /// Servers that are shared at the moment.
    pub fn len(&self) -> usize {
        self.shared.entries().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn alone(wanted: Wanted, around: &Arc<Surroundings>) -> Lease {
        Lease { server: Self::start(wanted, around), place: None }
    }

    fn start(wanted: Wanted, around: &Arc<Surroundings>) -> Server {
        let around = match wanted.view {
            View::Worktree => Arc::clone(around),
            View::Nothing => Arc::new(around.without_worktree()),
        };
        Server::start(wanted, around)
    }

    fn lease(&self, wanted: Wanted, around: &Arc<Surroundings>) -> Lease {
        let Some(key) = key(self.shared.salt, &wanted, around) else { return Self::alone(wanted, around) };
        let mut entries = self.shared.entries();
        let entry = entries.entry(key.clone()).or_insert_with(|| {
            let mut around = (**around).clone();
            around.agent.scratch = self.shared.scratch.join(hex::encode(&key.0[..8]));
            Entry { server: Self::start(wanted, &Arc::new(around)), leases: 0, farewells: 0 }
        });
        entry.leases += 1;
        let place = Place { pool: Arc::downgrade(&self.shared), key };
        Lease { server: entry.server.clone(), place: Some(place) }
    }
}

impl Shared {
    fn entries(&self) -> MutexGuard<'_, HashMap<Key, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave(&self, key: &Key) -> Option<u64> {
        let mut entries = self.entries();
        let entry = entries.get_mut(key)?;
        entry.leases -= 1;
        entry.farewells += 1;
        (entry.leases == 0).then_some(entry.farewells)
    }

    fn forget(&self, key: &Key, farewell: u64) -> Option<Server> {
        let mut entries = self.entries();
        let is_left = entries.get(key).is_some_and(|entry| entry.leases == 0 && entry.farewells == farewell);
        if is_left { entries.remove(key).map(|entry| entry.server) } else { None }
    }
}

impl Lease {
    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    /// Closes a server that is not shared; a shared one closes when it is left.
    pub(super) async fn close(&self) {
        if self.place.is_none() {
            self.server.close().await;
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(Place { pool, key }) = self.place.take() else { return };
        let Some(shared) = pool.upgrade() else { return };
        let Some(farewell) = shared.leave(&key) else { return };
        let linger = shared.linger;
        drop(shared);
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move {
                tokio::time::sleep(linger).await;
                let server = pool.upgrade().and_then(|shared| shared.forget(&key, farewell));
                if let Some(server) = server {
                    server.close().await;
                }
            })),
            Err(_no_runtime) => drop(pool.upgrade().and_then(|shared| shared.forget(&key, farewell))),
        }
    }
}

/// What a server is shared by; nothing when sharing it is not safe.
fn key(salt: u128, wanted: &Wanted, around: &Surroundings) -> Option<Key> {
    let Wanted { spec, locked, view, unaccepted } = wanted;
    let effects = effects_of_server(spec, locked.as_ref());
    // A server that does not see the agent asks nobody anything, unless a model writes for it: somebody has to pay that.
    let answers = around.answers.of_server(spec);
    let asks = answers.sampling.is_some() || *view == View::Worktree && !answers.is_empty();
    let changes = [SideEffect::Write, SideEffect::Shell, SideEffect::Chain];
    if changes.into_iter().any(|effect| effects.contains(effect)) || asks {
        return None;
    }
    if matches!(spec.transport, Transport::Stdio(_))
        && (*view == View::Worktree || names_worktree(spec, around))
    {
        return None;
    }
    let facts = facts(spec, locked.as_ref(), *unaccepted, around)?;
    let mut hash = Sha256::new();
    hash.update(salt.to_le_bytes());
    for fact in facts {
        // With its length, so that no two lists of facts are the same bytes.
        hash.update(fact.len().to_le_bytes());
        hash.update(fact);
    }
    Some(Key(hash.finalize().into()))
}

/// Everything that two agents have to have in common, credentials included.
fn facts(
    spec: &ServerSpec,
    locked: Option<&LockedServer>,
    unaccepted: Unaccepted,
    around: &Surroundings,
) -> Option<Vec<Vec<u8>>> {
    let resolved = spec.resolve(&*around.secrets).ok()?;
    let env = resolved.env.iter().map(|(_, value)| value.expose_secret());
    let headers = resolved.headers.iter().map(|(_, value)| value.expose_secret());
    let credentials = env.chain(headers).map(|value| value.as_bytes().to_vec());
    let what = [
        format!("{spec:?}"),
        format!("{locked:?}"),
        format!("{unaccepted:?}"),
        format!("{:?}", around.agent.user),
        format!("{:?}", around.agent.network),
        format!("{:?}", around.agent.extra),
        format!("{:?}", around.agent.limits),
        format!("{:?}", around.proxy_env),
        format!("{:?}", around.plain_http),
        format!("{:?}", around.limits),
        format!("{:?}", around.sandbox.level()),
    ];
    Some(what.into_iter().map(String::into_bytes).chain(credentials).collect())
}

/// Whether a server is told about the worktree, or about a place relative to it.
fn names_worktree(spec: &ServerSpec, around: &Surroundings) -> bool {
    let Transport::Stdio(program) = &spec.transport else { return false };
    let worktree = around.agent.worktree.path.to_string_lossy();
    let env = program.env.iter().map(|(_, value)| value.to_string());
    let mut words = program.args.iter().cloned().chain(env).chain([program.command.clone()]);
    words.any(|word| {
        word.contains(&*worktree) || word == "." || word.starts_with("./") || word.starts_with("../")
    })
}
