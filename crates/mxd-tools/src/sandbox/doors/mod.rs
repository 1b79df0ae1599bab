//! Locking the door from inside: from here on, nothing the process starts gets more than it has.

mod files;
mod limits;
mod privileges;
mod syscalls;

use super::level::Level;
use super::policy::Policy;

pub(super) use files::fence_off;

/// Applies the limits, and what the level holds, to this process and all it will start.
pub(super) fn lock(level: Level, policy: &Policy) -> Result<(), String> {
    limits::apply(level, &policy.limits)?;
    if level == Level::Off {
        return Ok(());
    }
    privileges::give_up_new()?;
    files::restrict(level, policy)?;
    privileges::give_up_own()?;
    syscalls::filter(level, &policy.network)
}
