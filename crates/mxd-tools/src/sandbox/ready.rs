//! The supervisor that waits for the next command of an agent.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::launch::{Child, Outlets};

/// Room for one.
#[derive(Debug, Default)]
pub(super) struct Ready(Mutex<Option<Waiting>>);

#[derive(Debug)]
struct Waiting {
    child: Child,
    /// Whose namespaces it is in.
    anchor: Option<u32>,
    outlets: Outlets,
}

impl Ready {
    pub(super) fn is_empty(&self) -> bool {
        self.room().is_none()
    }

    /// Lets one wait. Returns its process number.
    pub(super) fn put(&self, anchor: Option<u32>, outlets: Outlets, child: Child) -> u32 {
        let id = child.supervisor();
        *self.room() = Some(Waiting { child, anchor, outlets });
        id
    }

    /// The one that waits, if it lives, belongs to this anchor and writes where the command is to write.
    pub(super) fn take(&self, anchor: Option<u32>, outlets: Outlets) -> Option<Child> {
        let suits = |waiting: &Waiting| waiting.anchor == anchor && waiting.outlets == outlets;
        let waiting = self.room().take_if(|waiting| suits(waiting) || !waiting.child.is_running())?;
        (suits(&waiting) && waiting.child.is_running()).then_some(waiting.child)
    }

    /// Ends this one, if it still waits.
    pub(super) fn let_go(&self, id: u32) {
        drop(self.room().take_if(|waiting| waiting.child.supervisor() == id));
    }

    fn room(&self) -> MutexGuard<'_, Option<Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
