//! Ending what a command leaves behind.

use std::collections::HashSet;
use std::fs;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, wait};

/// Kills what is left, and waits until it is gone.
///
/// A process that is forking when it is killed may still finish that, and its child is nobody's until the process has ended
/// and the child becomes one of ours. So each end is a reason to look again.
pub(super) fn end_descendants() {
    let mut killed = HashSet::new();
    loop {
        kill_all(&mut killed);
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, _status))) => forget_ended(pid, &mut killed),
            Ok(None) | Err(Errno::INTR) => {}
            Err(_no_child_is_left) => return,
        }
    }
}

/// Kills all that were not killed before. Each process is stopped before any is killed, so that few start another meanwhile.
fn kill_all(killed: &mut HashSet<Pid>) {
    let mut stopped = Vec::new();
    loop {
        let fresh: Vec<Pid> = descendants().into_iter().filter(|pid| killed.insert(*pid)).collect();
        if fresh.is_empty() {
            break;
        }
        for &pid in &fresh {
            let _gone_already = kill_process(pid, Signal::STOP);
        }
        stopped.extend(fresh);
    }
    for pid in stopped {
        let _gone_already = kill_process(pid, Signal::KILL);
    }
}

/// The numbers of processes that have ended come again, and name others then.
fn forget_ended(first: Pid, killed: &mut HashSet<Pid>) {
    killed.remove(&first);
    while let Ok(Some((pid, _status))) = wait(WaitOptions::NOHANG) {
        killed.remove(&pid);
    }
}

/// Every process below this one.
fn descendants() -> Vec<Pid> {
    let mut found = children("/proc/self/task");
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        found.extend(children(&format!("/proc/{}/task", pid.as_raw_nonzero())));
        next += 1;
    }
    found
}

fn children(threads: &str) -> Vec<Pid> {
    let Ok(threads) = fs::read_dir(threads) else { return Vec::new() };
    threads
        .filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("children")).ok())
        .flat_map(|pids| {
            pids.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect::<Vec<_>>()
        })
        .collect()
}
