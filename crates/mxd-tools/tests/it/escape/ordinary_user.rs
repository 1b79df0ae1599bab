//! The same attempts by an ordinary user. Root has other rights outside of the sandbox, and the levels are built differently
//! for it, so a run as root proves nothing for a daemon of somebody else's.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::farm::{SUPERVISOR, launcher};

/// The user of nobody's, who is on every machine and owns nothing.
const NOBODY: u32 = 65_534;

#[test]
fn the_top_level_holds_an_ordinary_user() {
    again("escape::the_top_level_stops_all_but_what_the_table_names");
}

#[test]
fn landlock_alone_holds_an_ordinary_user() {
    again("escape::landlock_alone_stops_what_the_table_says_and_no_more");
}

#[test]
fn without_a_sandbox_an_ordinary_user_succeeds() {
    again("escape::without_a_sandbox_the_attempts_succeed");
}

#[test]
fn a_folder_that_an_ordinary_user_closed_hides_nothing() {
    again("disk_limit::a_closed_folder_hides_nothing");
}

/// Runs a test of this program again, as an ordinary user. When the tests run as one, it ran as one already.
#[expect(clippy::print_stdout, reason = "what is not tried again is said")]
fn again(test: &str) {
    if !rustix::process::geteuid().is_root() {
        println!("{test} runs as an ordinary user anyway");
        return;
    }
    // Where others can reach it, which the build folder may not be.
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let (program, supervisor) = (folder.path().join("tests"), folder.path().join("supervisor"));
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::copy(launcher().program, &supervisor).unwrap();
    let output = Command::new(program)
        .args(["--exact", test, "--nocapture"])
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", "/nonexistent")
        .env(SUPERVISOR, supervisor)
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    let told =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success() && told.contains("1 passed"), "{told}");
}
