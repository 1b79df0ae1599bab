//! The repository of the demo: a small program with a test, ready for agents.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::client::Failure;

/// Every file of the first commit, with its mode.
const FILES: &[(&str, &str, u32)] = &[
    ("tally.sh", include_str!("files/tally.sh"), 0o755),
    ("README.md", include_str!("files/README.md"), 0o644),
    ("tests/run.sh", include_str!("files/run.sh"), 0o755),
    ("tests/total.test.sh", include_str!("files/total.test.sh"), 0o644),
    ("tests/expenses.txt", include_str!("files/expenses.txt"), 0o644),
    (".mxd/hooks/setup_worktree.sh", "#!/bin/sh\n# tally needs nothing but a shell.\n", 0o755),
];

/// Makes the repository, with one commit on `main`.
pub(super) fn make(folder: &Path) -> Result<(), Failure> {
    for (name, text, mode) in FILES {
        let path = folder.join(name);
        write(&path, text, *mode).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    }
    git(folder, &["init", "-q", "-b", "main"])?;
    git(folder, &["config", "user.name", "Demo"])?;
    git(folder, &["config", "user.email", "demo@localhost"])?;
    git(folder, &["add", "-A"])?;
    git(folder, &["commit", "-q", "-m", "tally: the sum of all expenses"])?;
    Ok(())
}

fn write(path: &Path, text: &str, mode: u32) -> std::io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes())
}

/// What git says.
pub(super) fn git(folder: &Path, arguments: &[&str]) -> Result<String, Failure> {
    let output = Command::new("git").args(arguments).current_dir(folder).output();
    let output =
        output.map_err(|error| Failure::new(format!("git: {error}")).hint("Install git 2.35 or newer."))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::new(format!("git {}: {}", arguments.join(" "), said.trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
