//! Where time and new ids come from.

use std::time::SystemTime;

use mxd_core::id::{Fresh, Id, Ulid};
use mxd_core::time::Millis;

/// The present moment.
#[expect(clippy::disallowed_methods, reason = "the edge, where time comes from")]
pub(crate) fn now() -> Millis {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// A new id that nobody can guess.
pub(crate) fn fresh_id<I: Id>() -> Result<I, getrandom::Error> {
    let mut random = [0; 16];
    getrandom::fill(&mut random)?;
    Ok(Fresh::from_seed(Ulid::from_parts(now().0, u128::from_le_bytes(random))).issue())
}
