//! How much a server may send, ask and take its time for, as data in one place.

use std::time::Duration;

/// The limits of one connection. The defaults are for servers that behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long connecting may take in all: starting, greeting and listing.
    pub connect: Duration,
    /// How long an agent waits for its servers before it begins without those that are not there yet.
    pub begin: Duration,
    /// How long a server may be silent about a question that only newer servers know, before the older
    /// greeting is tried.
    pub probe: Duration,
    /// How long one question other than a call may take.
    pub question: Duration,
    /// How long a server that is asked to end may take.
    pub end: Duration,
    /// How long an idle connection is left alone before its server is asked whether it is there.
    pub health: Duration,
    /// How long at least between two looks at the tools of a server that says they have changed.
    pub relist: Duration,
    /// Bytes of one line, one body, or one event of a stream.
    pub message_bytes: usize,
    /// Pages of one list.
    pub pages: usize,
    /// Entries of one list.
    pub entries: usize,
    /// Bytes of one list, all pages together.
    pub list_bytes: usize,
    /// Calls that wait at once.
    pub pending: usize,
    /// Requests of the server that wait for our answer at once.
    pub requests: usize,
    /// Requests of the server that may be answered in the course of one connection, pings apart.
    pub answers: usize,
    /// How often a call may ask for more input.
    pub rounds: usize,
    /// Messages that are none, or that nobody waits for, before the server is given up.
    pub odd_messages: usize,
    /// Notices of progress that wait to be shown; further ones are dropped.
    pub progress: usize,
    /// Bytes of what the server complains about that are kept.
    pub complaint_bytes: usize,
    /// How a lost server is looked for.
    pub backoff: Backoff,
}

/// How long is waited before a lost server is looked for again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// Before the first attempt, about.
    pub first: Duration,
    /// Before any attempt, at most.
    pub longest: Duration,
    /// How long a server has to stay before its earlier losses are forgotten.
    pub forgiven_after: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(60),
            begin: Duration::from_secs(5),
            probe: Duration::from_secs(2),
            question: Duration::from_secs(30),
            end: Duration::from_secs(3),
            health: Duration::from_secs(30),
            relist: Duration::from_secs(1),
            message_bytes: 16 << 20,
            pages: 64,
            entries: 1_024,
            list_bytes: 32 << 20,
            pending: 256,
            requests: 16,
            answers: 1_000,
            rounds: 10,
            odd_messages: 1_000,
            progress: 64,
            complaint_bytes: 4_096,
            backoff: Backoff::default(),
        }
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(500),
            longest: Duration::from_secs(30),
            forgiven_after: Duration::from_secs(60),
        }
    }
}

impl Backoff {
    /// The wait before an attempt, the first one being 0. `luck` is below 1 and spreads those who wait together.
    pub fn before(&self, attempt: u64, luck: f64) -> Duration {
        let doublings = u32::try_from(attempt.min(30)).unwrap_or(30);
        let full = self.first.saturating_mul(1 << doublings).min(self.longest);
        full.mul_f64(0.5 + luck.clamp(0.0, 1.0) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn waits_grow_to_their_limit_and_are_never_nothing(attempt in 0_u64.., luck in 0.0_f64..1.0) {
            let backoff = Backoff::default();
            let wait = backoff.before(attempt, luck);
            prop_assert!(wait >= backoff.first / 2 && wait <= backoff.longest);
            prop_assert!(backoff.before(attempt.saturating_add(1), luck) >= wait);
        }
    }
}
