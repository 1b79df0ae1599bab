//! `mxd demo`, from outside: the whole story, also when the daemon is killed on the way.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::{mxd, text};

/// Plays the demo in a new folder and returns what it says of itself.
fn play(arguments: &[&str]) -> (Output, Value, TempDir) {
    let ground = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let folder = ground.path().join("demo");
    let mut all =
        vec!["demo", "--json", "--no-open", "--pace", "quick", "--folder", folder.to_str().unwrap()];
    all.extend(arguments);
    let output = mxd(&all);
    let summary = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {} {}", text(&output.stdout), text(&output.stderr)));
    (output, summary, ground)
}

fn every_step_happened(summary: &Value) {
    for step in summary["steps"].as_array().unwrap() {
        assert_eq!(step["happened"], true, "{summary:#}");
    }
    assert!(summary["cacheHitRate"].as_f64().unwrap() >= 0.8, "{summary:#}");
    assert_eq!((&summary["ok"], &summary["tasks"], &summary["tests"]), (&true.into(), &7.into(), &5.into()));
}

#[test]
fn every_step_of_the_story_happens() {
    let (output, summary, _ground) = play(&[]);
    every_step_happened(&summary);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(summary["kills"], 0);
}

#[test]
fn killed_three_times_nothing_is_lost() {
    let (output, summary, _ground) = play(&["--kill"]);
    every_step_happened(&summary);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(summary["kills"], 3);
}

#[test]
fn a_folder_that_is_there_is_left_alone() {
    let ground = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let output = mxd(&["demo", "--no-open", "--folder", ground.path().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("a folder that is not there yet"), "{}", text(&output.stderr));
    assert_eq!(ground.path().read_dir().unwrap().count(), 0);
}

#[test]
fn a_visitor_who_writes_gets_an_answer() {
    let ground = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let folder = ground.path().join("demo");
    let mut demo = Command::new(env!("CARGO_BIN_EXE_mxd"))
        .args(["demo", "--stay", "--no-open", "--pace", "quick", "--folder", folder.to_str().unwrap()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut notes = BufReader::new(demo.stderr.take().unwrap()).lines();
    assert!(notes.any(|note| note.unwrap().contains("until Ctrl-C")));
    let visit = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mxd"));
        command.args(["-p", "tally"]).args(arguments).env("MXD_DATA_DIR", folder.join("data"));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    visit(&["send", "Thank you. And in colour?"]);
    visit(&["send", "-t", "Describe it", "Is it short?"]);
    visit(&["wait"]);
    assert!(visit(&["logs"]).contains("My part of the demo ends here."));
    assert!(visit(&["show", "Describe it"]).contains("status  passed"));
    rustix::process::kill_process(rustix::process::Pid::from_child(&demo), rustix::process::Signal::INT)
        .unwrap();
    assert_eq!(demo.wait().unwrap().code(), Some(0));
}
