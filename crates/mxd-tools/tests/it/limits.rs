//! What the system forbids: a disk that is full, files of somebody else. Done for real, in a process of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use mxd_tools::builtin::{edit_file, list_files, read_file, search, write_file};
use tokio_util::sync::CancellationToken;

use crate::ground::{Ground, bad, good, put, scope};

/// Tells this program that it is the process in which a test happens, and where.
const INSIDE: &str = "MXD_TEST_INSIDE";

fn inside() -> Option<PathBuf> {
    std::env::var_os(INSIDE).map(PathBuf::from)
}

/// Runs one test of this program again, in a process that `prepare` makes.
fn again(test: &str, top: &Path, prepare: impl FnOnce(&Path) -> Command) {
    // Where others can reach it, which the build folder may not be.
    let program = top.join("tests");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let output = prepare(&program).args(["--exact", test, "--nocapture"]).env(INSIDE, top).output().unwrap();
    let told =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success() && told.contains("1 passed"), "{told}");
}

fn write(top: &Path, path: &str, content: &str) -> mxd_tools::outcome::Outcome {
    write_file::run(&write_file::Args { path: path.to_owned(), content: content.to_owned() }, &scope(top))
}

fn edit(top: &Path, path: &str, new: &str) -> mxd_tools::outcome::Outcome {
    let args = edit_file::Args {
        path: path.to_owned(),
        old_string: Some("old".to_owned()),
        new_string: Some(new.to_owned()),
        ..edit_file::Args::default()
    };
    edit_file::run(&args, &scope(top))
}

#[test]
fn a_disk_that_is_full_spoils_nothing() {
    let Some(top) = inside() else {
        let ground = Ground::new();
        ground.put("a", "old\n");
        again("limits::a_disk_that_is_full_spoils_nothing", ground.top(), |program| {
            let mut command = Command::new("bash");
            // Without the trap the signal ends the process before it hears of the error.
            command.args(["-c", "trap '' XFSZ; ulimit -f 4; exec \"$@\"", "limited"]).arg(program);
            command
        });
        assert_eq!(ground.content("a"), b"old\n");
        assert_eq!(ground.names(""), ["a", "small"], "nothing is left lying around");
        return;
    };
    let large = "x".repeat(100_000);
    let expected =
        "failed: File too large (os error 27); the file is as it was, free some space and try again";
    assert_eq!(bad(&write(&top, "a", &large)), format!("writing a {expected}"));
    assert_eq!(bad(&write(&top, "b", &large)), format!("writing b {expected}"));
    assert_eq!(bad(&edit(&top, "a", &large)), format!("writing a {expected}"));
    good(&write(&top, "small", "fits\n"));
}

#[test]
fn files_of_somebody_else_are_refused() {
    let Some(top) = inside() else {
        let ground = Ground::new();
        let locked = ground.put("locked", "old\n");
        put(&ground.work("closed/f"), "old\n");
        ground.put("readable", "old\n");
        for (path, mode) in
            [(locked, 0o600), (ground.work("closed"), 0o700), (ground.top().to_owned(), 0o755)]
        {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        if !rustix::process::geteuid().is_root() {
            fs::set_permissions(ground.work("locked"), fs::Permissions::from_mode(0o200)).unwrap();
            fs::set_permissions(ground.work("closed"), fs::Permissions::from_mode(0o000)).unwrap();
            fs::set_permissions(ground.work(""), fs::Permissions::from_mode(0o555)).unwrap();
        }
        again("limits::files_of_somebody_else_are_refused", ground.top(), |program| {
            let mut command = Command::new(program);
            if rustix::process::geteuid().is_root() {
                command.uid(65_534).gid(65_534);
            }
            command
        });
        fs::set_permissions(ground.work(""), fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(ground.work("closed"), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(ground.names(""), ["closed", "locked", "readable"]);
        return;
    };
    let denied = "failed: Permission denied (os error 13); its permissions do not allow it, ls -l shows them";
    let read = |path: &str| {
        let args = read_file::Args { path: path.to_owned(), offset: None, limit: None };
        read_file::run(&args, &scope(&top))
    };
    assert_eq!(bad(&read("locked")), format!("opening locked {denied}"));
    assert_eq!(bad(&read("closed/f")), format!("opening closed/f {denied}"));
    good(&read("readable"));
    assert_eq!(bad(&write(&top, "readable", "x")), format!("writing readable {denied}"));
    assert_eq!(bad(&edit(&top, "readable", "x")), format!("writing readable {denied}"));
    assert_eq!(bad(&write(&top, "new/deep", "x")), format!("making the folder of new/deep {denied}"));
    let cancel = CancellationToken::new();
    let closed = list_files::Args { path: Some("closed".to_owned()), ..list_files::Args::default() };
    assert_eq!(bad(&list_files::run(&closed, &scope(&top), &cancel)), "the folder closed cannot be read");
    let args = search::Args { pattern: "old".to_owned(), ..search::Args::default() };
    assert_eq!(
        good(&search::run(&args, &scope(&top), &cancel)),
        "readable\n1: old\n[2 files or folders could not be read]\n"
    );
}
