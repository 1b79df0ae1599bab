//! Control groups: limits on memory and processes that hold for all commands of an agent together.
//!
//! Both versions of the interface are in use, also side by side; the difference is the name of a file. What the
//! machine does not offer, or does not let us use, is left to the limits of single processes.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::policy::Limits;

/// One thing that groups can limit.
struct Controller {
    name: &'static str,
    limit_v1: &'static str,
    limit_v2: &'static str,
    value: fn(&Limits) -> u64,
}

const CONTROLLERS: &[Controller] = &[
    Controller {
        name: "memory",
        limit_v1: "memory.limit_in_bytes",
        limit_v2: "memory.max",
        value: |limits| limits.memory_bytes,
    },
    Controller { name: "pids", limit_v1: "pids.max", limit_v2: "pids.max", value: |limits| limits.processes },
];

/// The groups of one agent. They go when the last process of it has gone.
#[derive(Debug)]
pub(super) struct Groups {
    folders: Vec<PathBuf>,
    missing: Vec<String>,
}

/// How often the kernel held all commands of an agent to a limit. Zero where it does not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LimitHits {
    /// Processes and threads that were not started, because there were too many.
    pub refused_processes: u64,
    /// Processes that were killed, because all together used too much memory.
    pub killed_for_memory: u64,
}

impl LimitHits {
    /// What was added since an earlier count.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            refused_processes: self.refused_processes.saturating_sub(before.refused_processes),
            killed_for_memory: self.killed_for_memory.saturating_sub(before.killed_for_memory),
        }
    }
}

/// Groups are named after the process that made them.
const PREFIX: &str = "mxd-";

/// The process that made a group. Its number alone does not name it: another namespace counts its own processes and may
/// share our groups, and numbers come again.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Owner {
    /// The namespace that counts it.
    namespace: String,
    process: u32,
    /// When it was started, in the kernel's own count since the machine was.
    started: u64,
}

impl Owner {
    /// This process.
    fn own() -> Option<Self> {
        let process = std::process::id();
        Some(Self { namespace: namespace()?, process, started: started(process)? })
    }

    /// Whoever a group is named after.
    fn of(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix(PREFIX)?.splitn(4, '-');
        let namespace = parts.next()?.to_owned();
        let (process, started) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        parts.next().map(|_number| Self { namespace, process, started })
    }

    /// The name of its next group.
    fn next_name(&self) -> String {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        format!("{PREFIX}{}-{}-{}-{number}", self.namespace, self.process, self.started)
    }

    /// Whether it is certain that it is no more. Of the processes of other namespaces nobody here can tell.
    fn is_gone(&self, namespace: &str) -> bool {
        self.namespace == namespace && started(self.process) != Some(self.started)
    }
}

/// The namespace that counts our processes: `pid:[4026531836]` by its number.
fn namespace() -> Option<String> {
    let link = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.to_owned())
}

/// When a process was started: the 22nd field, the 20th behind a name that may hold anything.
fn started(process: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

static NEXT: AtomicU64 = AtomicU64::new(0);

impl Groups {
    /// Makes groups below those of this process, as far as that is possible.
    pub(super) fn make(limits: &Limits) -> Self {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let mut groups = Self { folders: Vec::new(), missing: Vec::new() };
        let Some(owner) = Owner::own() else {
            groups.missing.push("/proc does not say who we are".to_owned());
            return groups;
        };
        let name = owner.next_name();
        for controller in CONTROLLERS {
            match controller
                .place(&own, &mounts)
                .and_then(|place| place.limit(&name, (controller.value)(limits)))
            {
                Ok(folder) if !groups.folders.contains(&folder) => groups.folders.push(folder),
                Ok(_same_group) => {}
                Err(why) => groups.missing.push(format!("{}: {why}", controller.name)),
            }
        }
        groups
    }

    /// The files that take a process in.
    pub(super) fn doors(&self) -> Vec<PathBuf> {
        self.folders.iter().map(|folder| folder.join("cgroup.procs")).collect()
    }

    /// How often the limits were reached since the groups were made.
    pub(super) fn hits(&self) -> LimitHits {
        let sum = |file: &str, name: &str| -> u64 {
            self.folders.iter().filter_map(|folder| counter(&folder.join(file), name)).sum()
        };
        LimitHits {
            refused_processes: sum("pids.events", "max"),
            // The two interfaces keep it in different files.
            killed_for_memory: sum("memory.oom_control", "oom_kill") + sum("memory.events", "oom_kill"),
        }
    }

    /// What is not limited together, and why.
    pub(super) fn missing(&self) -> &[String] {
        &self.missing
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        for folder in &self.folders {
            // Somebody may still be in it; the next program that starts removes it then.
            let _in_use = fs::remove_dir(folder);
        }
    }
}

/// Removes the groups that programs left behind which are no more.
pub(super) fn sweep() {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let places = CONTROLLERS.iter().filter_map(|controller| controller.place(&own, &mounts).ok());
    let Some(namespace) = namespace() else { return };
    for entry in places.filter_map(|place| fs::read_dir(place.group).ok()).flatten().flatten() {
        let owner = entry.file_name().to_str().and_then(Owner::of);
        if owner.is_some_and(|owner| owner.is_gone(&namespace)) {
            let _in_use = fs::remove_dir(entry.path());
        }
    }
}

/// Takes this process into its groups.
pub(super) fn join(doors: &[PathBuf]) -> Result<(), String> {
    doors.iter().try_for_each(|door| tell(door, "0"))
}

/// A group of our own process, in one of the two interfaces.
struct Place {
    group: PathBuf,
    limit: &'static str,
}

impl Controller {
    fn place(&self, own: &str, mounts: &str) -> Result<Place, String> {
        let v1 = own_group(own, self.name).zip(mount_point(mounts, "cgroup", Some(self.name)));
        if let Some((group, mount)) = v1 {
            return Ok(Place { group: join_paths(&mount, group), limit: self.limit_v1 });
        }
        let v2 = own_group(own, "").zip(mount_point(mounts, "cgroup2", None));
        let (group, mount) = v2.ok_or("no control groups are mounted")?;
        let group = join_paths(&mount, group);
        let passed_on = fs::read_to_string(group.join("cgroup.subtree_control")).unwrap_or_default();
        if !passed_on.split_whitespace().any(|name| name == self.name) {
            return Err("not passed on to the groups below ours".to_owned());
        }
        Ok(Place { group, limit: self.limit_v2 })
    }
}

impl Place {
    fn limit(&self, name: &str, value: u64) -> Result<PathBuf, String> {
        let folder = self.group.join(name);
        if let Err(error) = fs::create_dir(&folder)
            && error.kind() != std::io::ErrorKind::AlreadyExists
        {
            return Err(format!("making {}: {error}", folder.display()));
        }
        let limited = tell(&folder.join(self.limit), &value.to_string());
        if limited.is_err() {
            let _shared_by_another_limit = fs::remove_dir(&folder);
        }
        limited.map(|()| folder)
    }
}

/// The path of our group in a hierarchy: `id:controllers:path`; version 2 names no controller.
fn own_group<'a>(own: &'a str, controller: &str) -> Option<&'a str> {
    own.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        controllers.split(',').any(|name| name == controller).then_some(path)
    })
}

/// Where a hierarchy is mounted: `… point options … - type source super-options`.
fn mount_point(mounts: &str, kind: &str, controller: Option<&str>) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (front, back) = line.split_once(" - ")?;
        let mut back = back.split(' ');
        let matches = back.next() == Some(kind)
            && controller.is_none_or(|wanted| {
                back.nth(1).is_some_and(|all| all.split(',').any(|name| name == wanted))
            });
        matches.then(|| front.split(' ').nth(4).map(PathBuf::from)).flatten()
    })
}

fn join_paths(mount: &Path, group: &str) -> PathBuf {
    mount.join(group.trim_start_matches('/'))
}

/// A number from a file with lines of `name number`.
fn counter(path: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

fn tell(path: &Path, text: &str) -> Result<(), String> {
    let written =
        OpenOptions::new().write(true).open(path).and_then(|mut file: File| file.write_all(text.as_bytes()));
    written.map_err(|error| format!("writing {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "4:memory:/a\n3:pids:/\n2:cpu,cpuacct:/b\n0::/user.slice/x\n";
    const MOUNTS: &str = "30 20 0:1 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                          31 20 0:2 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

    #[test]
    fn a_group_is_left_to_whoever_may_still_own_it() {
        let own = Owner::own().unwrap();
        let here = namespace().unwrap();
        let named = Owner::of(&own.next_name()).unwrap();
        assert_eq!(named, own);
        assert!(!named.is_gone(&here), "we live");
        let same_number = Owner { started: own.started + 1, ..own.clone() };
        assert!(same_number.is_gone(&here), "somebody else had our number");
        let elsewhere = Owner { namespace: format!("{here}0"), process: u32::MAX, started: 1 };
        assert!(!elsewhere.is_gone(&here), "its namespace counts its own");
        assert!(Owner { namespace: here.clone(), ..elsewhere }.is_gone(&here));
        assert_ne!(own.next_name(), own.next_name());
        assert_eq!(Owner::of("mxd-12-0"), None, "a group that nobody here made");
    }

    #[test]
    fn our_group_is_found_in_either_interface() {
        assert_eq!(own_group(OWN, "memory"), Some("/a"));
        assert_eq!(own_group(OWN, "cpuacct"), Some("/b"));
        assert_eq!(own_group(OWN, ""), Some("/user.slice/x"));
        assert_eq!(own_group(OWN, "io"), None);
    }

    #[test]
    fn a_hierarchy_is_found_by_its_type_and_controller() {
        assert_eq!(mount_point(MOUNTS, "cgroup", Some("memory")), Some("/sys/fs/cgroup/memory".into()));
        assert_eq!(mount_point(MOUNTS, "cgroup", Some("pids")), None);
        assert_eq!(mount_point(MOUNTS, "cgroup2", None), Some("/sys/fs/cgroup/unified".into()));
    }
}
