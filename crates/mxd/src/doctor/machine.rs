//! What the machine has: the sandbox, programs, room on the disk, and a daemon.

use std::path::Path;
use std::process::Command;

use mxd_engine::git::space::{self, SpaceError, Watermark};
use mxd_engine::git::{Git, Identity, IdentityError, Lanes, Repository};
use mxd_tools::sandbox::{Level, Mode, Policy, Sandbox};
use serde_json::Value;

use super::{Finding, State, launcher};
use crate::client::Daemon;

/// The oldest git that does what is asked of it.
const GIT: (u32, u32) = (2, 35);
/// The oldest Node.js that the page can be built with.
const NODE: (u32, u32) = (20, 19);

pub(super) async fn sandbox() -> Vec<Finding> {
    let sandbox = match Sandbox::probe(launcher(), Mode::On).await {
        Ok(sandbox) => sandbox,
        Err(error) => {
            let fix = "Agents do not run without one. A newer kernel (5.13 or newer, with Landlock) has it; \
                       `sandbox.mode` set to `off` gives agents all of your own rights.";
            return vec![Finding::bad("sandbox", error.to_string(), fix)];
        }
    };
    let mut found = match sandbox.level() {
        Level::Full => Finding::good("sandbox", "full: namespaces, Landlock, seccomp"),
        Level::Landlock => Finding::weak(
            "sandbox",
            "landlock: Landlock and seccomp, no namespaces",
            "Allow user namespaces, for instance with `sysctl kernel.apparmor_restrict_unprivileged_userns=0`; \
             docs/sandbox.md says what the difference is.",
        ),
        Level::Off => Finding::bad("sandbox", "off", "Use a kernel with Landlock (5.13 or newer)."),
    };
    found.notes = sandbox.shortfalls().to_vec();
    vec![found, limits(sandbox.cell(Policy::default()).shortfalls())]
}

fn limits(missing: &[String]) -> Finding {
    let mut found = match missing {
        [] => Finding::good("limits", "memory and processes are limited for each agent as a whole"),
        _ => Finding::weak(
            "limits",
            "memory and processes are limited for each process, not for an agent as a whole",
            "Run the daemon where it owns a control group, such as a service of systemd: `mxd daemon install`.",
        ),
    };
    found.notes = missing.to_vec();
    found
}

/// The programs that agents, and people who build this, need.
pub(super) fn programs() -> Vec<Finding> {
    let git = match version_of("git") {
        None => Finding::bad("git", "not found", "Agents commit with it: install git 2.35 or newer."),
        Some((line, version)) if version.is_some_and(|version| version < GIT) => {
            Finding::bad("git", format!("{line} is too old"), "Install git 2.35 or newer.")
        }
        Some((line, _)) => Finding::good("git", line),
    };
    let bash = match version_of("bash") {
        None => Finding::bad("bash", "not found", "Agents run their commands with it: install bash."),
        Some((line, _)) => Finding::good("bash", line),
    };
    let use_of =
        "Only MCP servers from npm and the building of the page need it: install Node.js 20.19 or newer.";
    let node = match version_of("node") {
        None => Finding::weak("node", "not found", use_of),
        Some((line, version)) if version.is_some_and(|version| version < NODE) => {
            Finding::weak("node", format!("{line} is old"), use_of)
        }
        Some((line, _)) => Finding::good("node", line),
    };
    vec![git, bash, node]
}

/// Whose commits the agents make in the current folder.
pub(super) async fn identity() -> Finding {
    let git = Git::from_environment();
    let folder = std::env::current_dir().unwrap_or_default();
    let found = match Repository::open(git.clone(), &Lanes::new(), &folder).await {
        Ok(repository) => repository.identity().await,
        Err(_) => git.global_identity().await,
    };
    match found {
        Ok(Identity { name, email }) => {
            let shown = mxd_core::show::one_line(&format!("{name} <{email}>"), 100);
            Finding::good("identity", format!("agents commit as {shown}"))
        }
        Err(error @ IdentityError::Missing { .. }) => {
            Finding::bad("identity", error.to_string(), format!("{}.", IdentityError::FIX))
        }
        Err(error) => Finding::weak("identity", error.to_string(), "Look at what git says about it."),
    }
}

/// What a program says about its version: the line, and its first two numbers.
fn version_of(name: &str) -> Option<(String, Option<(u32, u32)>)> {
    let output = Command::new(name).arg("--version").output().ok()?;
    if !output.status.success() {
        return None;
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let line = mxd_core::show::one_line(text.lines().next().unwrap_or_default(), 100);
    let numbers = numbers(&line);
    Some((line, numbers))
}

/// The first `1.2` in a line.
fn numbers(line: &str) -> Option<(u32, u32)> {
    let start = line.find(|c: char| c.is_ascii_digit())?;
    let mut parts = line[start..].split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Whether there is room for another worktree.
pub(super) fn disk(folder: &Path, bytes: u64) -> Finding {
    let needed = gigabytes(bytes);
    match space::check(folder, Watermark { bytes, ..Watermark::default() }) {
        Ok(()) => Finding::good(
            "disk",
            format!("more than the {needed} that have to be free ({})", folder.display()),
        ),
        Err(SpaceError::Low { free, inodes, .. }) => Finding::bad(
            "disk",
            format!(
                "{} and {inodes} files are left for {}, and {needed} have to be free",
                gigabytes(free),
                folder.display()
            ),
            "Make room, close tasks so that their worktrees go, or lower `diskWatermark` in the settings.",
        ),
        Err(error @ SpaceError::Unknown { .. }) => Finding::new("disk", State::Weak, error.to_string()),
    }
}

fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}

/// The daemon of this user.
pub(super) async fn daemon() -> Finding {
    let own = env!("CARGO_PKG_VERSION");
    let Ok(daemon) = Daemon::find() else {
        return Finding::good("daemon", "does not run; `mxd up` starts it");
    };
    match daemon.get::<Value>("/version").await {
        Ok(version) if version["version"] == own => {
            Finding::good("daemon", format!("runs at {}, version {own}", daemon.base()))
        }
        Ok(version) => Finding::weak(
            "daemon",
            format!(
                "has version {}, and this program {own}",
                version["version"].as_str().unwrap_or("unknown")
            ),
            "`mxd daemon restart` starts the one of this version; nothing is lost.",
        ),
        Err(failure) => Finding::weak(
            "daemon",
            failure.to_string(),
            "`mxd up` starts it; `mxd daemon logs` says what it said.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_programs_say() {
        assert_eq!(numbers("git version 2.39.5 (Apple Git-154)"), Some((2, 39)));
        assert_eq!(numbers("v22.14.0"), Some((22, 14)));
        assert_eq!(numbers("no version"), None);
    }

    #[test]
    fn a_disk_below_the_mark_is_bad_and_says_what_to_do() {
        let found = disk(Path::new("/"), u64::MAX);
        assert_eq!(found.state, State::Bad);
        assert!(found.fix.is_some_and(|fix| fix.contains("diskWatermark")), "{}", found.what);
        assert_eq!(disk(Path::new("/"), 0).state, State::Good);
    }
}
