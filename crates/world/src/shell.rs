//! Scripts of the user's shell.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What scripts of scenes can call.
pub(crate) const PRELUDE: &str = r##"
set -eu
# Who the user is, for all repositories.
identity() {
  git config --global user.name User
  git config --global user.email user@example.org
}
# A small program with a test, in this folder.
files() {
  mkdir -p tests
  printf '#!/bin/sh\n# Says hello.\necho "hello $1"\n' > hello.sh
  printf '#!/bin/sh\n[ "$(sh hello.sh you)" = "hello you" ] && echo "1 passed"\n' > tests/run.sh
  chmod +x hello.sh tests/run.sh
  printf 'A small program.\n' > README.md
}
commit_all() { git add -A && git commit -q -m "$1"; }
# The repository with the small program; arguments are given to `git init`.
repository() {
  git init -q -b main "$@" "$REPO"
  cd "$REPO"
  files
  commit_all 'First commit'
}
# Another repository that this one can be a clone of.
upstream() {
  git init -q -b main "$HOME/upstream"
  cd "$HOME/upstream"
  files
  commit_all 'First commit'
  printf 'A small program, described.\n' > README.md
  commit_all 'Second commit'
  git config uploadpack.allowFilter true
  cd "$HOME"
}
# So many small files, a hundred in each folder.
many() {
  awk -v count="$1" 'BEGIN { for (i = 0; i < count; i += 100) print "part-" int(i / 10000) "/folder-" int(i / 100) }' > "$HOME/folders"
  xargs mkdir -p < "$HOME/folders"
  awk '{ for (i = 0; i < 100; i++) { file = $0 "/file-" i; print file > file; close(file) } }' "$HOME/folders"
  commit_all 'Many files'
}
fail() { echo "$*" >&2; exit 1; }
"##;

/// A user with a home folder of their own and nothing of the machine's environment but programs.
#[derive(Debug)]
pub(crate) struct Shell {
    pub(crate) home: PathBuf,
    pub(crate) repository: PathBuf,
    pub(crate) path: OsString,
    /// What was fetched for the scene.
    pub(crate) package: PathBuf,
}

/// What a command said, and whether it ended well.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) succeeded: bool,
    pub(crate) text: String,
}

impl Shell {
    /// A program of the user's, in a folder.
    pub(crate) fn command(&self, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("HOME", &self.home).env("PATH", &self.path).env("REPO", &self.repository);
        command.env("PACKAGE", &self.package);
        // A toolchain of Rust lies in the home folder of whoever runs this, and is found by these alone.
        for (variable, folder) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
            let own = std::env::home_dir().map(|home| home.join(folder)).filter(|folder| folder.is_dir());
            if let Some(folder) = std::env::var_os(variable).map(PathBuf::from).or(own) {
                command.env(variable, folder);
            }
        }
        command.env("USER", "user").env("LANG", "C.UTF-8").env("TMPDIR", std::env::temp_dir());
        command.current_dir(folder).stdin(Stdio::null());
        command
    }

    /// Runs a script in a folder.
    pub(crate) fn run(&self, folder: &Path, script: &str) -> Said {
        let mut command = self.command(Path::new("bash"), folder);
        said(command.arg("-c").arg(format!("{PRELUDE}\n{script}")))
    }
}

/// Gets what a scene needs from outside into a folder, unless it is there.
pub(crate) fn fetch(folder: &Path, script: &str) -> Result<(), String> {
    let fetched = folder.join("fetched");
    if script.is_empty() || fetched.exists() {
        return Ok(());
    }
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut command = Command::new("bash");
    command
        .arg("-c")
        .arg(format!("set -eu\n{script}\ntouch fetched"))
        .current_dir(folder)
        .stdin(Stdio::null());
    let said = said(&mut command);
    if said.succeeded { Ok(()) } else { Err(format!("it cannot be fetched: {}", said.text)) }
}

/// Runs a command to its end: all it says, or why it could not be run.
pub(crate) fn said(command: &mut Command) -> Said {
    match command.output() {
        Ok(output) => {
            let text = [output.stdout, output.stderr].concat();
            let text = String::from_utf8_lossy(&text).trim().to_owned();
            Said { succeeded: output.status.success(), text }
        }
        Err(error) => Said { succeeded: false, text: error.to_string() },
    }
}
