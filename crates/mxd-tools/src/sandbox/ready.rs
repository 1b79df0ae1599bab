//! The supervisor that waits for the next command of an agent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::launch::{Child, Outlets};

/// Room for one.
#[derive(Debug, Default)]
pub(super) struct Ready(Mutex<Room>);

#[derive(Debug, Default)]
struct Room {
    waiting: Option<(Child, Outlets)>,
    /// How many have waited.
    count: u64,
}

impl Ready {
    pub(super) fn is_empty(&self) -> bool {
        self.room().waiting.is_none()
    }

    /// Lets one wait. Returns its number.
    pub(super) fn put(&self, outlets: Outlets, child: Child) -> u64 {
        let mut room = self.room();
        room.waiting = Some((child, outlets));
        room.count += 1;
        room.count
    }

    /// The one that waits, if it lives, is with this anchor and writes where the command is to write.
    pub(super) fn take(&self, anchor: &Arc<Child>, outlets: Outlets) -> Option<Child> {
        let (child, its) =
            self.room().waiting.take_if(|(child, its)| *its == outlets || !child.is_running())?;
        (its == outlets && child.lives_with(anchor) && child.is_running()).then_some(child)
    }

    /// Ends the one of this number, if it still waits.
    pub(super) fn let_go(&self, number: u64) {
        let mut room = self.room();
        if room.count == number {
            drop(room.waiting.take());
        }
    }

    fn room(&self) -> MutexGuard<'_, Room> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
