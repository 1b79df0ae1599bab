//! The requests of one client that have no answer yet.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use tokio::sync::Notify;

use super::limits::{MAX_CANCELLED, MAX_UNANSWERED};

/// The requests of one client that have no answer yet.
#[derive(Debug, Default)]
pub(super) struct Flight {
    ids: Mutex<Ids>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Ids {
    unanswered: HashSet<RequestId>,
    /// Their answers do not come, or come too late to be told from those of another of the same number.
    cancelled: VecDeque<RequestId>,
}

/// Why a request is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// Its number is in use.
    Repeated,
    /// There are too many.
    TooMany,
}

impl Flight {
    /// Takes a request.
    pub(super) fn take(&self, id: &RequestId) -> Result<(), Refused> {
        let mut ids = self.ids();
        if ids.unanswered.contains(id) || ids.cancelled.contains(id) {
            return Err(Refused::Repeated);
        }
        if ids.unanswered.len() >= MAX_UNANSWERED {
            return Err(Refused::TooMany);
        }
        ids.unanswered.insert(id.clone());
        Ok(())
    }

    /// A request is answered.
    pub(super) fn answered(&self, id: &RequestId) {
        self.ids().unanswered.remove(id);
        self.changed.notify_waiters();
    }

    /// A request is no longer to be answered.
    pub(super) fn cancelled(&self, id: &RequestId) {
        let mut ids = self.ids();
        if ids.unanswered.remove(id) {
            ids.cancelled.push_back(id.clone());
            if ids.cancelled.len() > MAX_CANCELLED {
                ids.cancelled.pop_front();
            }
        }
        drop(ids);
        self.changed.notify_waiters();
    }

    /// Waits until every request is answered.
    pub(super) async fn landed(&self) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // From here on no news is missed.
            changed.as_mut().enable();
            if self.ids().unanswered.is_empty() {
                return;
            }
            changed.await;
        }
    }

    fn ids(&self) -> MutexGuard<'_, Ids> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: i64) -> RequestId {
        RequestId::Number(number)
    }

    #[test]
    fn a_number_in_use_is_refused_and_one_that_was_answered_is_not() {
        let flight = Flight::default();
        flight.take(&id(1)).unwrap();
        assert_eq!(flight.take(&id(1)), Err(Refused::Repeated));
        flight.answered(&id(1));
        flight.take(&id(1)).unwrap();
        flight.cancelled(&id(1));
        assert_eq!(flight.take(&id(1)), Err(Refused::Repeated));
    }

    #[test]
    fn there_is_an_end_to_what_is_remembered() {
        let flight = Flight::default();
        for number in 0..MAX_UNANSWERED as i64 {
            flight.take(&id(number)).unwrap();
        }
        assert_eq!(flight.take(&id(-1)), Err(Refused::TooMany));
        for round in 1..4 {
            for number in 0..MAX_CANCELLED as i64 {
                let number = id(number + round * 10_000);
                flight.cancelled(&number);
                flight.answered(&id(0));
                flight.take(&number).unwrap();
                flight.cancelled(&number);
            }
        }
        assert!(flight.ids().cancelled.len() <= MAX_CANCELLED);
    }
}
