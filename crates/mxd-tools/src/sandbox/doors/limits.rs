//! Resource limits that the kernel holds for each process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::super::level::Level;
use super::super::policy::Limits;

/// How much longer a process may compute that takes no notice of its limit of processor time.
const SECONDS_TO_END: u64 = 1;

/// Lowers the limits of this process and its children; what is lower already stays.
pub(super) fn apply(level: Level, limits: &Limits) -> Result<(), String> {
    // Processes are counted by user and namespace. Without a namespace, everything the user runs would count.
    let processes = (level == Level::Full).then_some((Resource::Nproc, limits.processes, "processes"));
    let wanted = [
        (Resource::Data, limits.memory_bytes, "memory"),
        (Resource::Fsize, limits.file_bytes, "file size"),
        (Resource::Cpu, limits.cpu_seconds, "processor time"),
        (Resource::Nofile, limits.open_files, "open files"),
        (Resource::Core, 0, "core dumps"),
    ];
    for (resource, wanted, name) in wanted.into_iter().chain(processes) {
        let allowed = getrlimit(resource).maximum.map_or(wanted, |most| most.min(wanted));
        // At the lower limit of processor time a process is told why it ends; at the upper one it is killed without a word.
        let upper = if resource == Resource::Cpu { allowed.saturating_add(SECONDS_TO_END) } else { allowed };
        let upper = getrlimit(resource).maximum.map_or(upper, |most| most.min(upper));
        setrlimit(resource, Rlimit { current: Some(allowed), maximum: Some(upper) })
            .map_err(|error| format!("limiting {name}: {error}"))?;
    }
    Ok(())
}
