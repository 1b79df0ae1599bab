//! The program, from outside.
#![expect(clippy::unwrap_used, reason = "a panic is how a test speaks")]

mod background;
mod canaries;
mod clients;
mod commands;
mod demo;
mod doctor;
mod drift;
mod first_task;
#[path = "../../../../testing/golden.rs"]
mod golden;
mod mcp;
#[path = "../../../../testing/node.rs"]
mod node;
mod paper;
mod private_files;
#[path = "../../../../testing/python.rs"]
mod python;
mod readme;
mod setup;
mod task_files;
mod tracer;
mod user;
mod watch;
mod world_conditions;

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Output};

use mxd_tools::sandbox::Policy;
use serde_json::json;

fn mxd(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mxd"))
        .args(arguments)
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_command_runs_with_its_output_and_its_code() {
    let output = mxd(&["run", "--", "bash", "-c", "echo out; echo err >&2; exit 7"]);
    assert_eq!((text(&output.stdout).as_str(), text(&output.stderr).as_str()), ("out\n", "err\n"));
    assert_eq!(output.status.code(), Some(7));
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let output = mxd(&["run", "--", "no-such-program"]);
    assert!(text(&output.stderr).contains("no-such-program"), "{}", text(&output.stderr));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn nobody_else_can_start_a_supervisor() {
    let output = Command::new(env!("CARGO_BIN_EXE_mxd")).args(["__sandbox", "inner"]).output().unwrap();
    assert_eq!(output.status.code(), Some(96));
}

/// What the last stage does to its view would be done to the machine's. The test has a view of its own, should it be.
#[test]
fn the_last_stage_begins_nowhere_but_with_an_anchor() {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let order = json!({ "level": "full", "policy": Policy::default(), "groups": [] }).to_string();
    ours.write_all(&u32::try_from(order.len()).unwrap().to_le_bytes()).unwrap();
    ours.write_all(order.as_bytes()).unwrap();
    let ended = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", env!("CARGO_BIN_EXE_mxd"), "__sandbox", "inner"])
        .stdin(OwnedFd::from(theirs))
        .status()
        .unwrap();
    assert!(ended.success());
    let mut said = Vec::new();
    ours.read_to_end(&mut said).unwrap();
    assert!(text(&said).contains("not started by an anchor"), "{}", text(&said));
}

/// The commands hold the writing end of a pipe, also one that has hidden from its parents; the end of the file is the
/// end of all of them.
#[test]
fn when_the_program_is_killed_everything_it_started_ends() {
    for level in ["full", "landlock", "off"] {
        let folder = tempfile::TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let hold = "exec 3>pipe; echo held >&3; exec tail -f /dev/null";
        let script = format!("(setsid nohup bash -c '{hold}' &) >/dev/null 2>&1; {hold}");
        let mut daemon = Command::new(env!("CARGO_BIN_EXE_mxd"))
            .args(["run", "--sandbox", level, "--", "bash", "-c", &script])
            .current_dir(folder.path())
            .spawn()
            .unwrap();
        let mut held = BufReader::new(File::open(&pipe).unwrap());
        for _command in 0..2 {
            let mut line = String::new();
            held.read_line(&mut line).unwrap();
            assert_eq!(line, "held\n", "level {level}");
        }
        daemon.kill().unwrap();
        daemon.wait().unwrap();
        assert_eq!(held.read_line(&mut String::new()).unwrap(), 0, "level {level}");
    }
}
