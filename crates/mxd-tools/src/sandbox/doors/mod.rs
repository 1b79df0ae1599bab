//! Locking the door from inside: from here on, nothing the process starts gets more than it has.

mod allowed;
mod files;
mod limits;
mod privileges;
mod syscalls;

use super::level::Level;
use super::policy::Policy;

pub(super) use files::fence_off;

/// Applies the limits, and what the level holds, to this process and all it will start. Returns what is not held.
pub(super) fn lock(level: Level, policy: &Policy) -> Result<Vec<String>, String> {
    limits::apply(level, &policy.limits)?;
    if level == Level::Off {
        return Ok(Vec::new());
    }
    privileges::give_up_new()?;
    let missing = files::restrict(level, policy)?;
    privileges::give_up_own()?;
    syscalls::filter(level, &policy.network)?;
    Ok(missing)
}

/// For a supervisor that has done what needed privileges.
pub(super) fn give_up_own_privileges() -> Result<(), String> {
    privileges::give_up_own()
}
