//! The few devices that programs expect.

use std::os::unix::fs::symlink;

use nix::mount::{MsFlags, mount};

use super::place::{Kind, Place};
use super::{NEW, make_folder, under};

const NODES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

const LINKS: &[(&str, &str)] = &[
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
    ("/dev/ptmx", "pts/ptmx"),
];

/// The devices as places to be looked at: that keeps their mode and owner, and does not hinder their use.
pub(super) fn nodes() -> impl Iterator<Item = Place> {
    NODES.iter().map(|node| Place { at: node.into(), from: node.into(), kind: Kind::Read })
}

/// Fills the rest of `/dev`.
pub(super) fn populate() -> Result<(), String> {
    let failed = |what: &str, error: nix::Error| format!("mounting {what}: {error}");
    make_folder(&under(NEW, "/dev"))?;
    for (at, to) in LINKS {
        symlink(to, under(NEW, at)).map_err(|error| format!("linking {at}: {error}"))?;
    }
    let (terminals, shared) = (under(NEW, "/dev/pts"), under(NEW, "/dev/shm"));
    make_folder(&terminals)?;
    make_folder(&shared)?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
    mount(Some("devpts"), &terminals, Some("devpts"), flags, Some("newinstance,ptmxmode=0666,mode=620"))
        .map_err(|error| failed("/dev/pts", error))?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), &shared, Some("tmpfs"), flags, Some("mode=1777,size=1g"))
        .map_err(|error| failed("/dev/shm", error))?;
    Ok(())
}
