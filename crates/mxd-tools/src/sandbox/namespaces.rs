//! Leaving the daemon's namespaces: what is not in the new ones cannot be reached from them.

use std::fs;
use std::path::Path;

use nix::sched::{CloneFlags, unshare};
use rustix::process::{getegid, geteuid};
use rustix::thread::{CapabilitySet, capabilities, configure_capability_in_ambient_set, set_capabilities};

/// What the commands of an agent share: one view of the machine, one network, one user.
const SHARED: CloneFlags = CloneFlags::CLONE_NEWUSER
    .union(CloneFlags::CLONE_NEWNET)
    .union(CloneFlags::CLONE_NEWIPC)
    .union(CloneFlags::CLONE_NEWUTS)
    .union(CloneFlags::CLONE_NEWNS);

/// What every command gets anew. Process numbers begin with the next child, which needs its own `/proc` for them.
const OWN: CloneFlags =
    CloneFlags::CLONE_NEWNS.union(CloneFlags::CLONE_NEWPID).union(CloneFlags::CLONE_NEWCGROUP);

/// Founds the namespaces of an agent.
pub(super) fn found() -> Result<(), String> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare(SHARED).map_err(|error| format!("entering a new user namespace: {error}"))?;
    // One user, mapped to itself: files keep their owner, and every other user is a stranger.
    tell("/proc/self/setgroups", "deny")?;
    tell("/proc/self/uid_map", &format!("{user} {user} 1"))?;
    tell("/proc/self/gid_map", &format!("{group} {group} 1"))
}

/// Gives this thread, and what it starts, what a command has for itself.
pub(super) fn part() -> Result<(), String> {
    unshare(OWN).map_err(|error| format!("entering new namespaces: {error}"))?;
    keep_capabilities()
}

/// Lets the next stage keep what it needs to build the view: a user other than root loses it on `exec`.
fn keep_capabilities() -> Result<(), String> {
    let failed = |error| format!("keeping capabilities: {error}");
    let mut sets = capabilities(None).map_err(failed)?;
    sets.inheritable = sets.permitted;
    set_capabilities(None, sets).map_err(failed)?;
    for capability in sets.permitted.iter().filter(|one| CapabilitySet::all().contains(*one)) {
        // The kernel may know more of them than we do, and refuses none that is inheritable.
        let _unknown = configure_capability_in_ambient_set(capability, true);
    }
    Ok(())
}

fn tell(path: impl AsRef<Path>, text: &str) -> Result<(), String> {
    let path = path.as_ref();
    fs::OpenOptions::new()
        .write(true)
        .open(path)
        .and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()))
        .map_err(|error| format!("writing {}: {error}", path.display()))
}
