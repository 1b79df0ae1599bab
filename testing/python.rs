//! Python programs that we did not write, for tests that let them talk to ours.
//!
//! Packages are installed into a virtual environment under the target directory, once. Without python3 or without a
//! way to install the packages a test fails and says what is missing: a skipped proof is none.
//!
//! Included by the test binaries of several crates.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The Python of an environment that has exactly the packages of this file; made when it is missing or has others.
/// No two tests share the name of an environment, because they run at the same time.
pub(crate) fn python(environment: &str, requirements: &Path) -> PathBuf {
    let wanted = fs::read(requirements).unwrap();
    let environment = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name(environment);
    let python = environment.join("bin/python");
    // Written last, so that an installation that was cut off is not taken for a whole one.
    let seal = environment.join("requirements.installed");
    if fs::read(&seal).is_ok_and(|installed| installed == wanted) {
        return python;
    }
    let venv = "install python3 with its venv module (on Debian: apt install python3-venv)";
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment), venv);
    let pip =
        format!("the packages of {} must be installable with pip: check the network", requirements.display());
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
    run(Command::new(&python).args(install).arg(requirements), &pip);
    fs::copy(requirements, seal).unwrap();
    python
}

/// What a command says; when it fails, what it said and what to do about it.
pub(crate) fn run(command: &mut Command, remedy: &str) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}\n{remedy}"));
    let told = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed\n{told}{error}\n{remedy}");
    told.into_owned()
}
