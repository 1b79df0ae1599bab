//! Ending what a command leaves behind.

use std::collections::HashSet;
use std::fs;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, wait};

/// Kills what is left. Each process is stopped before any is killed, so that none can start another meanwhile.
pub(super) fn end_descendants() {
    loop {
        let mut stopped = HashSet::new();
        loop {
            let fresh: Vec<Pid> = descendants().into_iter().filter(|pid| !stopped.contains(pid)).collect();
            if fresh.is_empty() {
                break;
            }
            for pid in fresh {
                let _gone_already = kill_process(pid, Signal::STOP);
                stopped.insert(pid);
            }
        }
        for &pid in &stopped {
            let _gone_already = kill_process(pid, Signal::KILL);
        }
        while let Ok(_) | Err(Errno::INTR) = wait(WaitOptions::empty()) {}
        if stopped.is_empty() {
            return;
        }
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
