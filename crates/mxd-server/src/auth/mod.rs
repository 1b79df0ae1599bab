//! Who may use the daemon. Closed by default.
//!
//! Three things open the door. The token in a file that only this user can read, for programs on this machine. A
//! session, which a browser gets by the log-in of [`challenge`]: it makes a key pair, the user has the command line
//! encrypt the answer to a challenge with it, and whoever can decrypt that answer is let in; or by a ticket, when the
//! command line opens the browser itself. And a stream token, for one live stream and one minute, because browsers
//! cannot send a header with those.
//!
//! Tokens are kept as hashes only and compared in constant time; nothing long-lived ever stands in a URL.

mod challenge;
mod file;
mod limiter;
mod sessions;
mod tickets;
mod token;

use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mxd_core::id::ProjectId;
use mxd_core::time::Millis;

use self::challenge::Challenges;
pub(crate) use self::challenge::{Challenged, PublicKey};
pub use self::file::{Contact, ContactError};
pub(crate) use self::limiter::Limiter;
pub(crate) use self::sessions::SessionView;
use self::sessions::Sessions;
use self::tickets::Tickets;
use self::token::Hashed;
pub(crate) use self::token::{TOKEN_SHAPE, fresh as fresh_token};
use crate::clock;
use crate::fault::{Answer, Fault};

/// How long a stream token holds.
const STREAM_MS: u64 = 60_000;
/// Stream tokens at the same time.
const MOST_STREAM_TOKENS: usize = 1_000;

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Who {
    /// A program of this user on this machine.
    Local,
    /// A browser that has logged in.
    Session(String),
    /// Somebody with a token for one stream.
    Stream,
    /// Anybody: the user said that nobody has to log in.
    Anybody,
}

/// Whether one has to log in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// Yes.
    Enforced,
    /// No: whoever reaches the address is let in.
    Open,
}

pub(crate) struct Auth {
    policy: Policy,
    local: Hashed,
    sessions: Mutex<Sessions>,
    challenges: Mutex<Challenges>,
    tickets: Mutex<Tickets>,
    streams: Mutex<Vec<StreamToken>>,
    session_ms: u64,
    pub(crate) limiter: Limiter,
}

struct StreamToken {
    hash: Hashed,
    project: ProjectId,
    expires: Millis,
}

/// A new token, and when it ends.
#[derive(Debug)]
pub(crate) struct Fresh {
    pub(crate) token: String,
    pub(crate) expires: Millis,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Auth {
    /// For the daemon with this data folder and this local token.
    pub(crate) fn open(data: &Path, policy: Policy, local: &str, session_days: u16) -> io::Result<Self> {
        Ok(Self {
            policy,
            local: Hashed::of(local),
            sessions: Mutex::new(Sessions::open(&data.join("sessions.json"))?),
            challenges: Mutex::default(),
            tickets: Mutex::default(),
            streams: Mutex::default(),
            session_ms: u64::from(session_days) * 86_400_000,
            limiter: Limiter::default(),
        })
    }

    pub(crate) fn policy(&self) -> Policy {
        self.policy
    }

    /// Who shows this token.
    pub(crate) fn who(&self, token: &str) -> Option<Who> {
        let shown = Hashed::of(token);
        if shown.matches(&self.local) {
            return Some(Who::Local);
        }
        lock(&self.sessions).find(&shown, clock::now()).map(Who::Session)
    }

    /// Whether this is a token for the stream of this project.
    pub(crate) fn opens_stream(&self, token: &str, project: &str) -> bool {
        let (shown, now) = (Hashed::of(token), clock::now());
        let streams = lock(&self.streams);
        let fits = |known: &StreamToken| known.expires > now && known.project.to_string() == project;
        streams.iter().filter(|known| known.hash.matches(&shown)).any(fits)
    }

    /// Whether somebody who was let in would be let in again. A stream goes on when its token has ended.
    pub(crate) fn still_holds(&self, who: &Who) -> bool {
        match who {
            Who::Local | Who::Stream | Who::Anybody => true,
            Who::Session(id) => lock(&self.sessions).holds(id, clock::now()),
        }
    }

    pub(crate) fn stream_token(&self, project: ProjectId) -> Answer<Fresh> {
        let now = clock::now();
        let token = token::fresh()?;
        let expires = Millis(now.0 + STREAM_MS);
        let mut streams = lock(&self.streams);
        streams.retain(|known| known.expires > now);
        if streams.len() >= MOST_STREAM_TOKENS {
            return Err(too_many("stream tokens"));
        }
        streams.push(StreamToken { hash: Hashed::of(&token), project, expires });
        Ok(Fresh { token, expires })
    }

    /// Begins a log-in.
    pub(crate) fn challenge(&self, key: PublicKey) -> Answer<Challenged> {
        lock(&self.challenges).begin(key, clock::now())
    }

    /// The answer to the challenge of this key, which only its owner can read.
    pub(crate) fn grant(&self, key: &PublicKey, label: Option<String>) -> Answer<String> {
        lock(&self.challenges).grant(key, label, clock::now())
    }

    /// Ends a log-in: a session, for the right answer.
    pub(crate) fn login(&self, challenge: &str, answer: &str) -> Answer<Fresh> {
        let now = clock::now();
        let label = lock(&self.challenges).settle(challenge, answer, now)?;
        self.begin_session(label, now)
    }

    /// A ticket for the browser that the command line opens itself.
    pub(crate) fn ticket(&self) -> Answer<Fresh> {
        lock(&self.tickets).issue(clock::now())
    }

    /// A session, for a ticket.
    pub(crate) fn redeem(&self, ticket: &str) -> Answer<Fresh> {
        let now = clock::now();
        lock(&self.tickets).redeem(ticket, now)?;
        self.begin_session(Some("opened by mxd".to_owned()), now)
    }

    fn begin_session(&self, label: Option<String>, now: Millis) -> Answer<Fresh> {
        let token = token::fresh()?;
        let expires = Millis(now.0.saturating_add(self.session_ms));
        let added = lock(&self.sessions).add(Hashed::of(&token), label, (now, expires));
        added.map_err(unwritten)?;
        Ok(Fresh { token, expires })
    }

    pub(crate) fn sessions(&self) -> Vec<SessionView> {
        lock(&self.sessions).list(clock::now())
    }

    /// Ends a session; whether there was one.
    pub(crate) fn revoke(&self, id: &str) -> Answer<bool> {
        lock(&self.sessions).remove(id).map_err(unwritten)
    }
}

fn unwritten(error: io::Error) -> Fault {
    let message = format!("the sessions cannot be written: {error}");
    Fault::new(axum::http::StatusCode::SERVICE_UNAVAILABLE, "disk", message)
        .hint("Free some space and try again.")
}

fn too_many(what: &str) -> Fault {
    let message = format!("there are too many {what} at the moment");
    Fault::new(axum::http::StatusCode::TOO_MANY_REQUESTS, "rate_limit", message)
        .hint("Wait a minute.")
        .retry_after(60)
}
