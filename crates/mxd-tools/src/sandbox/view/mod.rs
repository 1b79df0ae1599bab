//! What the commands of an agent see of the machine, at the top level: a new root in which only the named places
//! exist.

mod devices;
mod place;
mod remount;
mod site;

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::unistd::{chdir, pivot_root};

use super::policy::Policy;
use place::{Kind, Place};
use site::Site;

/// Where the two roots stand while one is built from the other.
const OLD: &str = "/old";
const NEW: &str = "/new";

/// The folder that is covered for a moment to have a place to build in. It is in every system.
const SITE: &str = "/tmp";

const PROCESSES: &str = "/proc";

/// Parts of `/proc` that speak of the whole machine, and that a root user could read.
const SECRETS_OF_THE_KERNEL: &[&str] = &[
    "/proc/acpi",
    "/proc/kallsyms",
    "/proc/kcore",
    "/proc/key-users",
    "/proc/keys",
    "/proc/kmsg",
    "/proc/kpagecgroup",
    "/proc/kpagecount",
    "/proc/kpageflags",
    "/proc/latency_stats",
    "/proc/sched_debug",
    "/proc/scsi",
    "/proc/slabinfo",
    "/proc/sysrq-trigger",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/proc/vmallocinfo",
];

const NOTHING: Option<&str> = None;

/// Replaces the root by one that holds what the policy names.
pub(super) fn build(policy: &Policy) -> Result<(), String> {
    lay_ground()?;
    let mut places = place::sorted(policy);
    places.extend(devices::nodes());
    for place in &places {
        put(place)?;
    }
    remount::read_only(&places)?;
    devices::populate()?;
    // The kernel shows processes anew only to those who see them all already; each command covers this.
    bind(&under(OLD, PROCESSES), &under(NEW, PROCESSES), true)?;
    for hidden in &policy.hide {
        cover(hidden, Path::new(NEW))?;
    }
    move_in()
}

/// From here on, nothing that is mounted reaches the daemon's namespace.
fn lay_ground() -> Result<(), String> {
    let failed = |what: &str, error: nix::Error| format!("{what}: {error}");
    mount(NOTHING, "/", NOTHING, MsFlags::MS_PRIVATE | MsFlags::MS_REC, NOTHING)
        .map_err(|error| failed("making mounts private", error))?;
    mount(
        Some("tmpfs"),
        SITE,
        Some("tmpfs"),
        MsFlags::MS_NOSUID | MsFlags::MS_NODEV,
        Some("mode=0755,size=16m"),
    )
    .map_err(|error| failed("mounting the building site", error))?;
    let (old, new) = (under(SITE, OLD), under(SITE, NEW));
    make_folder(&old)?;
    make_folder(&new)?;
    pivot_root(SITE, &old).map_err(|error| failed("leaving the old root", error))?;
    chdir("/").map_err(|error| failed("entering the building site", error))?;
    mount(Some(NEW), NEW, NOTHING, MsFlags::MS_BIND, NOTHING)
        .map_err(|error| failed("laying the new root", error))
}

fn put(place: &Place) -> Result<(), String> {
    let target = under(NEW, &place.at);
    match &place.kind {
        Kind::Read | Kind::Write => bind(&under(OLD, &place.from), &target, place.kind.must_exist()),
        Kind::Overlay { upper, work } => overlay(&under(OLD, &place.from), (upper, work), &target),
    }
}

/// Shows a file or folder of the old root in the new one, with all that is mounted in it. A link stays a link.
fn bind(source: &Path, target: &Path, must_exist: bool) -> Result<(), String> {
    if let Ok(to) = fs::read_link(source) {
        return Site::link(target, &to);
    }
    let what = match fs::metadata(source) {
        Ok(what) => what,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !must_exist => return Ok(()),
        Err(error) => return Err(format!("looking at {}: {error}", shown(source))),
    };
    let site = if what.is_dir() { Site::folder(target)? } else { Site::file(target)? };
    mount(Some(source), &site.path(), NOTHING, MsFlags::MS_BIND | MsFlags::MS_REC, NOTHING)
        .map_err(|error| format!("showing {}: {error}", shown(source)))
}

/// A folder under a layer of changes. Where the file system allows no layers, the folder is only to be looked at.
fn overlay(lower: &Path, (upper, work): (&Path, &Path), target: &Path) -> Result<(), String> {
    if !lower.is_dir() {
        return Ok(());
    }
    let site = Site::folder(target)?;
    let (upper, work) = (under(OLD, upper), under(OLD, work));
    let options = format!(
        "lowerdir={},upperdir={},workdir={},userxattr",
        lower.display(),
        upper.display(),
        work.display()
    );
    let names_options = |path: &&Path| path.as_os_str().as_bytes().iter().any(|byte| b",:\\".contains(byte));
    let separable = ![lower, &upper, &work].iter().any(names_options);
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    if separable
        && mount(Some("overlay"), &site.path(), Some("overlay"), flags, Some(options.as_str())).is_ok()
    {
        return Ok(());
    }
    bind(lower, target, true)?;
    let flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | flags;
    mount(NOTHING, &Site::folder(target)?.path(), NOTHING, flags, NOTHING)
        .map_err(|error| format!("showing {}: {error}", shown(lower)))
}

/// The processes of this command, and no others: covers `/proc` of the view for the one who asks.
pub(super) fn show_own_processes() -> Result<(), String> {
    mount(NOTHING, "/", NOTHING, MsFlags::MS_PRIVATE | MsFlags::MS_REC, NOTHING)
        .map_err(|error| format!("making mounts private: {error}"))?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC | MsFlags::MS_RDONLY;
    mount(Some("proc"), PROCESSES, Some("proc"), flags, NOTHING)
        .map_err(|error| format!("mounting /proc: {error}"))?;
    for secret in SECRETS_OF_THE_KERNEL {
        cover(Path::new(secret), Path::new("/"))?;
    }
    Ok(())
}

/// Puts nothing in front of something.
fn cover(hidden: &Path, root: &Path) -> Result<(), String> {
    let target = root.join(hidden.strip_prefix("/").unwrap_or(hidden));
    let Ok(what) = fs::symlink_metadata(&target) else { return Ok(()) };
    let done = if what.is_dir() {
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC | MsFlags::MS_RDONLY;
        mount(Some("tmpfs"), &target, Some("tmpfs"), flags, Some("mode=0000,size=4k"))
    } else {
        mount(Some(&root.join("dev/null")), &target, NOTHING, MsFlags::MS_BIND, NOTHING)
    };
    done.map_err(|error| format!("hiding {}: {error}", hidden.display()))
}

/// The new root becomes the only one.
fn move_in() -> Result<(), String> {
    let failed = |what: &str, error: nix::Error| format!("{what}: {error}");
    umount2(OLD, MntFlags::MNT_DETACH).map_err(|error| failed("letting go of the old root", error))?;
    chdir(NEW).map_err(|error| failed("entering the new root", error))?;
    pivot_root(".", ".").map_err(|error| failed("changing to the new root", error))?;
    umount2(".", MntFlags::MNT_DETACH).map_err(|error| failed("letting go of the building site", error))?;
    chdir("/").map_err(|error| failed("entering the new root", error))?;
    let flags =
        MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(NOTHING, "/", NOTHING, flags, NOTHING).map_err(|error| failed("closing the new root", error))
}

/// A path of the machine, below another root.
fn under(root: &str, path: impl AsRef<Path>) -> PathBuf {
    let path = path.as_ref();
    Path::new(root).join(path.strip_prefix("/").unwrap_or(path))
}

/// A path as the user knows it.
fn shown(path: &Path) -> std::path::Display<'_> {
    path.strip_prefix(OLD).unwrap_or(path).display()
}

fn make_folder(path: &Path) -> Result<(), String> {
    fs::create_dir_all(path).map_err(|error| format!("making {}: {error}", path.display()))
}
