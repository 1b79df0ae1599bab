//! What an agent has seen of files, and whose turn it is to edit them.

use std::collections::HashMap;
use std::ffi::OsString;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::Stat;

use super::file::{Opened, Replaced, Standing, Target};
use super::ground::Id;

/// How many files an agent remembers. The one not touched for longest is forgotten first.
const REMEMBERED: usize = 1_024;

/// How many edits can be under way at once. Two files may share a turn; that costs a moment and nothing else.
const TURNS: usize = 64;

/// A file by its name in a folder. Replacing it does not change that.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) folder: Id,
    pub(super) name: OsString,
}

/// What the system says about a version of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    id: Id,
    size: i64,
    modified: (i128, i128),
}

impl Stamp {
    pub(super) fn of(stat: &Stat) -> Self {
        let modified = (i128::from(stat.st_mtime), i128::from(stat.st_mtime_nsec));
        Self { id: Id::of(stat), size: stat.st_size, modified }
    }

    pub(super) fn size(&self) -> u64 {
        u64::try_from(self.size).unwrap_or(0)
    }
}

/// A version of a file that an agent has seen. Equal when the content is, as far as that is known.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    stamp: Stamp,
    content: Option<u64>,
}

impl Seen {
    fn is(&self, other: &Self) -> bool {
        match (self.content, other.content) {
            (Some(one), Some(another)) => one == another,
            _ => self.stamp == other.stamp,
        }
    }
}

/// The files of one agent. Cheap to clone; clones share everything.
#[derive(Debug, Clone, Default)]
pub struct Files {
    turns: Arc<Turns>,
    seen: Arc<Mutex<Memory>>,
}

#[derive(Debug)]
struct Turns([Mutex<()>; TURNS]);

impl Default for Turns {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

#[derive(Debug, Default)]
struct Memory {
    seen: HashMap<Key, (u64, Seen)>,
    clock: u64,
}

impl Files {
    /// The files of another agent on the same machine: what it has seen is its own, but they take turns.
    #[must_use]
    pub fn of_another_agent(&self) -> Self {
        Self { turns: Arc::clone(&self.turns), seen: Arc::default() }
    }

    /// Waits until nobody else edits this file.
    pub fn take_turn(&self, target: &Target) -> MutexGuard<'_, ()> {
        let at = BuildHasherDefault::<DefaultHasher>::default().hash_one(&target.key) as usize % TURNS;
        // Who panicked with a turn left the file as it was or replaced it.
        self.turns.0[at].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a file of which only a part was read.
    pub fn have_read_part(&self, opened: &Opened) {
        self.memory().remember(opened.key.clone(), Seen { stamp: opened.stamp, content: None });
    }

    /// Remembers a file that was read, with all it contains.
    pub fn have_read(&self, opened: &Opened, content: &[u8]) {
        let seen = Seen { stamp: opened.stamp, content: Some(digest(content)) };
        self.memory().remember(opened.key.clone(), seen);
    }

    /// Remembers what was written.
    pub fn have_written(&self, target: &Target, replaced: &Replaced, content: &[u8]) {
        let seen = Seen { stamp: replaced.stamp, content: Some(digest(content)) };
        self.memory().remember(target.key.clone(), seen);
    }

    /// Whether somebody else changed a file that this agent has seen.
    pub fn changed_since(&self, target: &Target, standing: &Standing, content: Option<&[u8]>) -> bool {
        let now = Seen { stamp: standing.stamp, content: content.map(digest) };
        self.memory().seen.get(&target.key).is_some_and(|(_, seen)| !seen.is(&now))
    }

    /// Forgets what was seen of a file.
    pub fn forget(&self, target: &Target) {
        self.memory().seen.remove(&target.key);
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory {
    fn remember(&mut self, key: Key, seen: Seen) {
        self.clock += 1;
        self.seen.insert(key, (self.clock, seen));
        if self.seen.len() > REMEMBERED {
            let oldest =
                self.seen.iter().min_by_key(|(_, (touched, _))| *touched).map(|(key, _)| key.clone());
            if let Some(oldest) = oldest {
                self.seen.remove(&oldest);
            }
        }
    }
}

/// A fingerprint of some content. Nobody gains by forging one: it only decides about a warning.
fn digest(content: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    hasher.finish()
}
