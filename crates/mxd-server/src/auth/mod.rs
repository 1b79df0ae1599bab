//! Who may use the daemon. Closed by default.
//!
//! Three things open the door. The token in a file that only this user can read, for programs on this machine. A
//! session, which a browser gets by the log-in of [`challenge`]: it makes a key pair, the user has the command line
//! encrypt the answer to a challenge with it, and whoever can decrypt that answer is let in; or by a ticket, when the
//! command line opens the browser itself. And a stream token, for one live stream and one minute, because browsers
//! cannot send a header with those. A stream token belongs to whoever asked for it: it opens nothing, and what it has
//! opened ends, as soon as that session ends.
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
use std::time::Duration;

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
/// How long the end of a session is slept for before the clock is read again.
const LONGEST_EXPIRY_SLEEP: Duration = Duration::from_secs(15);
/// Stream tokens at the same time.
const MOST_STREAM_TOKENS: usize = 1_000;

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Who {
    /// A program of this user on this machine.
    Local,
    /// A browser that has logged in.
    Session(String),
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
    /// Who asked for it, and in whose name the stream is opened.
    owner: Who,
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

    /// In whose name this token opens the stream of this project. Nobody's once the session that made it has ended.
    pub(crate) fn opens_stream(&self, token: &str, project: &str) -> Option<Who> {
        let (shown, now) = (Hashed::of(token), clock::now());
        let fits = |known: &&StreamToken| {
            known.hash.matches(&shown) && known.expires > now && known.project.to_string() == project
        };
        let owner = lock(&self.streams).iter().find(fits).map(|known| known.owner.clone())?;
        self.still_holds(&owner).then_some(owner)
    }

    /// Whether somebody who was let in would be let in again.
    fn still_holds(&self, who: &Who) -> bool {
        match who {
            Who::Local | Who::Anybody => true,
            Who::Session(id) => lock(&self.sessions).expires(id).is_some_and(|end| end > clock::now()),
        }
    }

    /// Returns when somebody who was let in would not be let in again: the session was revoked, logged out of, pushed
    /// out by newer ones, or its time is over. Whatever goes on for longer than a moment has to end then.
    pub(crate) async fn session_ended(&self, who: &Who) {
        let id = match who {
            Who::Local | Who::Anybody => return std::future::pending().await,
            Who::Session(id) => id,
        };
        let mut changes = lock(&self.sessions).changes();
        loop {
            let expires = lock(&self.sessions).expires(id).map_or(0, |end| end.0);
            let left = Duration::from_millis(expires.saturating_sub(clock::now().0));
            if left.is_zero() {
                return;
            }
            // Not longer at a time: the clock on the wall may be set, and goes on while the machine is suspended.
            let pause = tokio::time::sleep(left.min(LONGEST_EXPIRY_SLEEP));
            tokio::select! {
                () = pause => {}
                _changed = changes.changed() => {}
            }
        }
    }

    pub(crate) fn stream_token(&self, owner: Who, project: ProjectId) -> Answer<Fresh> {
        let now = clock::now();
        let token = token::fresh()?;
        let expires = Millis(now.0 + STREAM_MS);
        let mut streams = lock(&self.streams);
        streams.retain(|known| known.expires > now);
        if streams.len() >= MOST_STREAM_TOKENS {
            return Err(too_many("stream tokens"));
        }
        streams.push(StreamToken { hash: Hashed::of(&token), owner, project, expires });
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

#[cfg(test)]
mod tests {

    use super::*;

    #[tokio::test]
    async fn expired_session_ends_what_it_opened() {
        let data = tempfile::TempDir::new().unwrap();
        let auth = Auth { session_ms: 100, ..Auth::open(data.path(), Policy::Enforced, "local", 1).unwrap() };
        let project: ProjectId = clock::fresh_id().unwrap();
        let session = auth.begin_session(None, clock::now()).unwrap();
        let owner =
            Who::Session(auth.sessions.lock().unwrap().find(&Hashed::of(&session.token), Millis(0)).unwrap());
        let stream = auth.stream_token(owner.clone(), project).unwrap();
        auth.session_ended(&owner).await;
        assert!(clock::now() >= session.expires, "not before its time");
        assert_eq!(auth.who(&session.token), None);
        assert_eq!(auth.opens_stream(&stream.token, &project.to_string()), None);
        let local = auth.stream_token(Who::Local, project).unwrap();
        assert_eq!(auth.opens_stream(&local.token, &project.to_string()), Some(Who::Local));
    }
}
