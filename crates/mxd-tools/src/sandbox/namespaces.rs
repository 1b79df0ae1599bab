//! Leaving the daemon's namespaces: what is not in the new ones cannot be reached from them.

use std::fs::{self, File};
use std::path::Path;

use nix::sched::{CloneFlags, setns, unshare};
use rustix::process::{getegid, geteuid};
use rustix::thread::{CapabilitySet, capabilities, configure_capability_in_ambient_set, set_capabilities};

/// What the commands of an agent share: one view of the machine, one network, one user.
const SHARED: &[(&str, CloneFlags)] = &[
    ("user", CloneFlags::CLONE_NEWUSER),
    ("net", CloneFlags::CLONE_NEWNET),
    ("ipc", CloneFlags::CLONE_NEWIPC),
    ("uts", CloneFlags::CLONE_NEWUTS),
    ("mnt", CloneFlags::CLONE_NEWNS),
];

/// What every command gets anew. Process numbers begin with the next child, which needs its own `/proc` for them.
const OWN: CloneFlags =
    CloneFlags::CLONE_NEWNS.union(CloneFlags::CLONE_NEWPID).union(CloneFlags::CLONE_NEWCGROUP);

/// Joins the namespaces of an agent, whose founder is the process `anchor`, and leaves those of the daemon.
pub(super) fn join(anchor: u32) -> Result<(), String> {
    let mut opened = Vec::new();
    for (name, flag) in SHARED {
        let path = format!("/proc/{anchor}/ns/{name}");
        opened.push((File::open(&path).map_err(|error| format!("opening {path}: {error}"))?, *flag, name));
    }
    for (namespace, flag, name) in opened {
        setns(namespace, flag).map_err(|error| format!("joining the {name} namespace: {error}"))?;
    }
    unshare(OWN).map_err(|error| format!("entering new namespaces: {error}"))?;
    keep_capabilities()
}

/// Founds the namespaces of an agent.
pub(super) fn found() -> Result<(), String> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let shared = SHARED.iter().fold(CloneFlags::empty(), |all, (_, flag)| all | *flag);
    unshare(shared).map_err(|error| format!("entering a new user namespace: {error}"))?;
    // One user, mapped to itself: files keep their owner, and every other user is a stranger.
    tell("/proc/self/setgroups", "deny")?;
    tell("/proc/self/uid_map", &format!("{user} {user} 1"))?;
    tell("/proc/self/gid_map", &format!("{group} {group} 1"))
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
