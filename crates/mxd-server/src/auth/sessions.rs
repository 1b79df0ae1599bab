//! Sessions of browsers: on disk as hashes, each with its end, each revocable.

use std::io;
use std::path::{Path, PathBuf};

use mxd_core::time::Millis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::file;
use super::token::Hashed;

/// Sessions at the same time; the oldest goes for a new one.
const MOST: usize = 100;

#[derive(Debug)]
pub(super) struct Sessions {
    path: PathBuf,
    all: Vec<Session>,
    /// Wakes whoever waits for the end of a session.
    changed: watch::Sender<()>,
}

#[derive(Debug, Clone)]
struct Session {
    id: String,
    hash: Hashed,
    label: Option<String>,
    created: Millis,
    expires: Millis,
}

/// A session as it is written down.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kept {
    id: String,
    hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    created_at: Millis,
    expires_at: Millis,
}

/// A session as its user sees it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionView {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    created_at: u64,
    expires_at: u64,
}

impl Sessions {
    /// Reads the sessions. A file that cannot be read opens no door: everybody has to log in again.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let kept: Vec<Kept> = match file::read_private(path) {
            Ok(Some(text)) => serde_json::from_str(&text).unwrap_or_default(),
            Ok(None) => Vec::new(),
            Err(error) => {
                tracing::warn!(%error, "the sessions cannot be used; everybody has to log in again");
                Vec::new()
            }
        };
        let all = kept.into_iter().filter_map(|kept| {
            let Kept { id, hash, label, created_at: created, expires_at: expires } = kept;
            Some(Session { id, hash: Hashed::from_hex(&hash)?, label, created, expires })
        });
        Ok(Self { path: path.to_owned(), all: all.collect(), changed: watch::Sender::new(()) })
    }

    pub(super) fn find(&self, shown: &Hashed, now: Millis) -> Option<String> {
        // All are looked at, so that the time it takes says nothing.
        let mut found = None;
        for session in &self.all {
            if session.hash.matches(shown) && session.expires > now {
                found = Some(session.id.clone());
            }
        }
        found
    }

    /// When a session ends by itself; none when there is no such session any more.
    pub(super) fn expires(&self, id: &str) -> Option<Millis> {
        self.all.iter().find(|session| session.id == id).map(|session| session.expires)
    }

    /// Changes whenever a session is added or removed.
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    pub(super) fn add(
        &mut self,
        hash: Hashed,
        label: Option<String>,
        (created, expires): (Millis, Millis),
    ) -> io::Result<()> {
        let mut all: Vec<Session> =
            self.all.iter().filter(|session| session.expires > created).cloned().collect();
        if all.len() >= MOST {
            all.remove(0);
        }
        let id = hash.to_hex().chars().take(16).collect();
        all.push(Session { id, hash, label, created, expires });
        self.replace(all)
    }

    pub(super) fn remove(&mut self, id: &str) -> io::Result<bool> {
        let left: Vec<Session> = self.all.iter().filter(|session| session.id != id).cloned().collect();
        if left.len() == self.all.len() {
            return Ok(false);
        }
        self.replace(left).map(|()| true)
    }

    pub(super) fn list(&self, now: Millis) -> Vec<SessionView> {
        let alive = self.all.iter().filter(|session| session.expires > now);
        alive
            .map(|session| SessionView {
                id: session.id.clone(),
                label: session.label.clone(),
                created_at: session.created.0,
                expires_at: session.expires.0,
            })
            .collect()
    }

    /// On disk first.
    fn replace(&mut self, all: Vec<Session>) -> io::Result<()> {
        let kept: Vec<Kept> = all
            .iter()
            .map(|session| Kept {
                id: session.id.clone(),
                hash: session.hash.to_hex(),
                label: session.label.clone(),
                created_at: session.created,
                expires_at: session.expires,
            })
            .collect();
        let text = serde_json::to_string_pretty(&kept).map_err(io::Error::other)?;
        file::publish(&self.path, &text)?;
        self.all = all;
        self.changed.send_replace(());
        Ok(())
    }
}
