//! From a name to addresses.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;

use super::limits::{ADDRESSES, LOOKUPS};

/// Who knows the addresses of names.
#[derive(Debug, Clone, Default)]
pub enum Resolver {
    /// The system.
    #[default]
    System,
    /// Nobody but these answers.
    Fixed(Answers),
}

/// Answers that were written down. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    names: Arc<Mutex<HashMap<String, Entry>>>,
}

#[derive(Debug, Default)]
struct Entry {
    answers: Vec<Vec<IpAddr>>,
    asked: usize,
}

impl Answers {
    /// Adds an answer for a name. Several are given one after the other, and then the last one again and again.
    #[must_use]
    pub fn then(self, name: &str, addresses: &[IpAddr]) -> Self {
        {
            let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
            names.entry(name.to_owned()).or_default().answers.push(addresses.to_vec());
        }
        self
    }

    /// How often a name was asked for.
    pub fn asked(&self, name: &str) -> usize {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.get(name).map_or(0, |entry| entry.asked)
    }

    fn answer(&self, name: &str) -> Vec<IpAddr> {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(entry) = names.get_mut(name) else { return Vec::new() };
        let answer = entry.answers.get(entry.asked).or_else(|| entry.answers.last());
        let addresses = answer.cloned().unwrap_or_default();
        entry.asked += 1;
        addresses
    }
}

/// The lookups of one proxy.
#[derive(Debug)]
pub(super) struct Lookups {
    resolver: Resolver,
    room: Arc<Semaphore>,
}

impl Lookups {
    pub(super) fn new(resolver: Resolver) -> Self {
        Self { resolver, room: Arc::new(Semaphore::new(LOOKUPS)) }
    }

    /// The addresses of a name, in the order in which to try them.
    pub(super) async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut addresses = match &self.resolver {
            Resolver::System => self.ask_system(name.to_owned()).await?,
            Resolver::Fixed(answers) => answers.answer(name),
        };
        if addresses.is_empty() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "no address is known"));
        }
        addresses.truncate(ADDRESSES);
        Ok(addresses)
    }

    async fn ask_system(&self, name: String) -> io::Result<Vec<IpAddr>> {
        let room = Arc::clone(&self.room).acquire_owned().await.map_err(io::Error::other)?;
        let lookup = move || {
            // Held by the thread: a lookup that is no longer waited for still takes its place.
            let _room = room;
            let found = (name.as_str(), 0).to_socket_addrs()?;
            Ok(found.map(|found| found.ip()).collect())
        };
        tokio::task::spawn_blocking(lookup).await.map_err(io::Error::other)?
    }
}
