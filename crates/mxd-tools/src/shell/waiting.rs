//! Agents that wait for the end of a background command, and can be let go by the user.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// How waiting for a command came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// The command has ended.
    Ended,
    /// It took too long; the command runs on.
    TooLong,
    /// The user wants the agent to go on; the command runs on.
    LetGo,
}

/// Everybody who waits.
#[derive(Debug, Default)]
pub(super) struct Waiting(Mutex<Seats>);

#[derive(Debug, Default)]
struct Seats {
    last: u64,
    taken: Vec<(u64, String, CancellationToken)>,
}

/// Somebody who waits; gone when dropped.
#[derive(Debug)]
pub(super) struct Seat<'w> {
    waiting: &'w Waiting,
    number: u64,
    pub(super) let_go: CancellationToken,
}

impl Waiting {
    fn seats(&self) -> MutexGuard<'_, Seats> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn sit_down(&self, id: &str) -> Seat<'_> {
        let let_go = CancellationToken::new();
        let mut seats = self.seats();
        seats.last += 1;
        let number = seats.last;
        seats.taken.push((number, id.to_owned(), let_go.clone()));
        Seat { waiting: self, number, let_go }
    }

    /// Lets everybody go who waits for this command; whether there was anybody.
    pub(super) fn let_go(&self, id: &str) -> bool {
        let mut anybody = false;
        for (_, _, token) in self.seats().taken.iter().filter(|(_, of, _)| of == id) {
            token.cancel();
            anybody = true;
        }
        anybody
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.waiting.seats().taken.retain(|(number, _, _)| *number != self.number);
    }
}
