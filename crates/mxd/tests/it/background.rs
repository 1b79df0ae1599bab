//! The daemon in the background, and what one that was killed leaves behind.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::json;
use tempfile::TempDir;

fn mxd(home: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mxd"))
        .args(arguments)
        .env("HOME", home)
        .env_remove("MXD_DATA_DIR")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn private(path: &Path, text: &str) {
    let mut options = fs::OpenOptions::new();
    let mut file = options.create_new(true).write(true).mode(0o600).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

#[test]
fn a_process_that_has_the_number_of_a_dead_daemon_is_left_alone() {
    let home = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let data = home.path().join(".mxd");
    fs::create_dir(&data).unwrap();
    let mut somebody = Command::new("sleep").arg("600").spawn().unwrap();
    let token = format!("mxd_{}", "A".repeat(43));
    let contact = json!({ "address": "127.0.0.1:9", "token": token, "pid": somebody.id(), "epoch": "1" });
    private(&data.join("daemon.json"), &contact.to_string());
    private(&data.join("daemon.lock"), &format!("pid {}", somebody.id()));
    let stopped = mxd(home.path(), &["daemon", "stop"]);
    assert_eq!(stopped.status.code(), Some(3), "{}", String::from_utf8_lossy(&stopped.stderr));
    assert!(somebody.try_wait().unwrap().is_none(), "somebody else was ended");
    somebody.kill().unwrap();
    somebody.wait().unwrap();
}

#[test]
fn a_daemon_is_started_restarted_and_ended() {
    let home = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let data = home.path().join(".mxd");
    fs::create_dir(&data).unwrap();
    private(&data.join("config.json"), r#"{"port": 0}"#);
    let pid = || {
        let said = mxd(home.path(), &["daemon", "status", "--json"]);
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        let contact = fs::read_to_string(data.join("daemon.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&contact).unwrap()["pid"].as_u64().unwrap()
    };
    assert!(mxd(home.path(), &["daemon", "start"]).status.success());
    let first = pid();
    assert!(mxd(home.path(), &["daemon", "start"]).status.success(), "one that runs is no error");
    assert_eq!(pid(), first);
    assert!(mxd(home.path(), &["daemon", "restart"]).status.success());
    assert_ne!(pid(), first);
    let logs = mxd(home.path(), &["daemon", "logs"]);
    let logs = String::from_utf8_lossy(&logs.stdout);
    assert_eq!(logs.matches("the daemon is ready").count(), 2, "{logs}");
    // Without the file that says how to reach it, it can still be ended: it holds the folder.
    fs::remove_file(data.join("daemon.json")).unwrap();
    assert!(mxd(home.path(), &["daemon", "stop"]).status.success());
    assert_eq!(mxd(home.path(), &["daemon", "stop"]).status.code(), Some(3));
    assert_eq!(mxd(home.path(), &["daemon", "status"]).status.code(), Some(3));
}

/// The opener is a script that writes down what it was given: a test opens no browser of whoever runs it.
#[test]
fn the_page_is_opened_where_it_is_and_lets_in() {
    let home = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (data, programs) = (home.path().join(".mxd"), home.path().join("bin"));
    fs::create_dir(&data).unwrap();
    fs::create_dir(&programs).unwrap();
    private(&data.join("config.json"), r#"{"port": 0}"#);
    let opener = programs.join("xdg-open");
    private(&opener, &format!("#!/bin/sh\necho \"$1\" > '{}'\n", home.path().join("opened").display()));
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let up = Command::new(env!("CARGO_BIN_EXE_mxd"))
        .arg("up")
        .envs([("HOME", home.path().as_os_str()), ("PATH", path.as_ref())])
        .env_remove("MXD_DATA_DIR")
        .output()
        .unwrap();
    let opened = fs::read_to_string(home.path().join("opened"));
    assert!(mxd(home.path(), &["daemon", "stop"]).status.success());
    assert!(up.status.success(), "{}", String::from_utf8_lossy(&up.stderr));
    let (page, ticket) = opened.as_deref().unwrap().trim().split_once("#ticket=").unwrap();
    assert!(page.starts_with("http://127.0.0.1:") && page.ends_with("/ui"), "{page}");
    assert!(ticket.len() > 20, "{ticket}");
}
