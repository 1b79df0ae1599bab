//! Where time and new ids come from: the edge at which the pure core is fed.

use std::time::{Duration, SystemTime};

use mxd_core::id::{Fresh, Ulid};
use mxd_core::time::Millis;

/// The present moment.
#[expect(clippy::disallowed_methods, reason = "the edge, where time comes from")]
pub(crate) fn now() -> Millis {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// How long it is until a moment.
pub(crate) fn until(at: Millis) -> Duration {
    Duration::from_millis(at.0.saturating_sub(now().0))
}

/// Ids for one decision.
pub(crate) fn fresh(at: Millis) -> Fresh {
    let random = (u128::from(fastrand::u64(..)) << 64) | u128::from(fastrand::u64(..));
    Fresh::from_seed(Ulid::from_parts(at.0, random))
}
