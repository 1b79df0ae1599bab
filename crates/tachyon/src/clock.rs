//! The one place that asks for the time; everything else is given it.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Seconds since 1970.
#[expect(clippy::disallowed_methods, reason = "this is the edge of the program")]
pub(crate) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// A moment to measure from.
#[expect(clippy::disallowed_methods, reason = "a time limit is measured here and nowhere else")]
pub(crate) fn moment() -> Instant {
    Instant::now()
}
