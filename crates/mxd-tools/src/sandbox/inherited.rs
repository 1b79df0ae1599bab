//! Open files that a supervisor was left by whoever started the daemon.

use std::fs;
use std::os::fd::RawFd;

/// The last of the standard streams.
const STANDARD: RawFd = 2;

/// Closes all but the standard streams. Called first, when nothing else of our own is open.
pub(super) fn close() -> Result<(), String> {
    let listed = fs::read_dir("/proc/self/fd").map_err(|error| format!("listing open files: {error}"))?;
    let open: Vec<RawFd> =
        listed.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    for file in open.into_iter().filter(|&file| file > STANDARD) {
        // The one that listed them is closed already.
        let _closed_already = nix::unistd::close(file);
    }
    Ok(())
}
