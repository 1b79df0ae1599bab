//! A limit on attempts to log in: so many in a minute, whoever makes them.

use std::sync::{Mutex, PoisonError};

use mxd_core::time::Millis;

use crate::clock;
use crate::fault::{Answer, Fault};

/// Attempts that are let through at once.
const BURST: u64 = 30;
/// How long it takes until one more is let through.
const REFILL_MS: u64 = 2_000;

/// A bucket of attempts.
#[derive(Debug)]
pub(crate) struct Limiter(Mutex<Bucket>);

#[derive(Debug)]
struct Bucket {
    left: u64,
    since: Millis,
}

impl Default for Limiter {
    fn default() -> Self {
        Self(Mutex::new(Bucket { left: BURST, since: clock::now() }))
    }
}

impl Limiter {
    /// Counts an attempt, and refuses one too many.
    pub(crate) fn attempt(&self) -> Answer<()> {
        self.attempt_at(clock::now())
    }

    fn attempt_at(&self, now: Millis) -> Answer<()> {
        let mut bucket = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let refilled = now.0.saturating_sub(bucket.since.0) / REFILL_MS;
        if refilled > 0 {
            bucket.left = (bucket.left + refilled).min(BURST);
            bucket.since = Millis(bucket.since.0 + refilled * REFILL_MS);
        }
        if bucket.left == 0 {
            let message = "too many attempts to log in";
            return Err(Fault::new(axum::http::StatusCode::TOO_MANY_REQUESTS, "rate_limit", message)
                .hint("Wait a few seconds.")
                .retry_after(REFILL_MS / 1_000));
        }
        bucket.left -= 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_run_out_and_come_back_with_time() {
        let start = Millis(1_000_000);
        let limiter = Limiter(Mutex::new(Bucket { left: BURST, since: start }));
        for _ in 0..BURST {
            limiter.attempt_at(start).unwrap();
        }
        assert_eq!(limiter.attempt_at(start).unwrap_err().code(), "rate_limit");
        let later = Millis(start.0 + REFILL_MS);
        limiter.attempt_at(later).unwrap();
        limiter.attempt_at(later).unwrap_err();
        let rested = Millis(start.0 + REFILL_MS * BURST * 10);
        for _ in 0..BURST {
            limiter.attempt_at(rested).unwrap();
        }
        limiter.attempt_at(rested).unwrap_err();
    }
}
