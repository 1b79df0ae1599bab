//! What is written for other programs: completions of shells, manual pages, the unit of a service.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::{mxd, text};

#[test]
fn completions_come_from_the_same_description_as_the_help() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = mxd(&["completions", shell]);
        assert!(output.status.success() && text(&output.stdout).contains("sessions"), "{shell}");
    }
}

#[test]
fn bash_completes_commands_and_their_options() {
    let script = text(&mxd(&["completions", "bash"]).stdout);
    for (line, wanted) in
        [("mxd sess", "sessions"), ("mxd sessions ", "prune"), ("mxd logs --fol", "--follow")]
    {
        let words: Vec<&str> = line.split(' ').collect();
        let ask = format!(
            "{script}\nCOMP_WORDS=({words}); COMP_CWORD={last}; _mxd mxd '{current}' '{before}'; echo \"${{COMPREPLY[@]}}\"",
            words = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" "),
            last = words.len() - 1,
            current = words[words.len() - 1],
            before = words[words.len() - 2],
        );
        let mut bash = Command::new("bash")
            .args(["--norc", "-s"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        bash.stdin.take().unwrap().write_all(ask.as_bytes()).unwrap();
        let output = bash.wait_with_output().unwrap();
        let found = text(&output.stdout);
        assert!(
            found.split_whitespace().any(|word| word == wanted),
            "{line}: {found} {}",
            text(&output.stderr)
        );
    }
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    assert!(text(&mxd(&["man"]).stdout).contains(".TH mxd"));
    let ground = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let folder = ground.path().join("man1");
    assert!(mxd(&["man", "--folder", folder.to_str().unwrap()]).status.success());
    for page in ["mxd.1", "mxd-send.1", "mxd-sessions-prune.1", "mxd-config-auth-add.1"] {
        let page = fs::read_to_string(folder.join(page)).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{page}");
    }
    let listed = text(&mxd(&["man"]).stdout);
    let named = listed.split("mxd\\-").skip(1).filter_map(|rest| rest.split("(1)").next());
    for name in named {
        let page = folder.join(format!("mxd-{}.1", name.replace('\\', "")));
        assert!(page.is_file(), "the page lists {}", page.display());
    }
}

/// The unit is held against systemd itself where it is installed; everywhere, against what it has to say.
#[test]
fn the_unit_of_the_service_is_one_that_systemd_reads() {
    let ground = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let data = ground.path().join("a folder of 50%");
    let output = Command::new(env!("CARGO_BIN_EXE_mxd"))
        .args(["daemon", "install", "--print"])
        .env("MXD_DATA_DIR", &data)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let unit = text(&output.stdout);
    let escaped = data.display().to_string().replace('%', "%%");
    for line in [
        "[Service]".to_owned(),
        format!("ExecStart=\"{}\" serve", env!("CARGO_BIN_EXE_mxd")),
        format!("Environment=\"MXD_DATA_DIR={escaped}\""),
        format!("EnvironmentFile=-{escaped}/environment"),
        "Restart=always".to_owned(),
        "WantedBy=default.target".to_owned(),
    ] {
        assert!(unit.lines().any(|given| given == line), "{line} is missing: {unit}");
    }
    let file = ground.path().join("mxd.service");
    fs::File::create(&file).unwrap().write_all(unit.as_bytes()).unwrap();
    match complaints(ground.path(), &file) {
        Some(said) => assert_eq!(said, "", "{unit}"),
        None => eprintln!("systemd-analyze is not installed: the unit was only read"),
    }
}

/// The one program that is not the real one: a test must not touch the services of whoever runs it.
#[test]
fn a_service_is_removed_with_its_unit() {
    let ground = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (programs, units) = (ground.path().join("bin"), ground.path().join(".config/systemd/user"));
    fs::create_dir_all(&programs).unwrap();
    fs::create_dir_all(&units).unwrap();
    let systemctl = programs.join("systemctl");
    let script = format!("#!/bin/sh\necho \"$@\" >> '{}'\n", ground.path().join("orders").display());
    fs::File::create(&systemctl).unwrap().write_all(script.as_bytes()).unwrap();
    fs::set_permissions(&systemctl, fs::Permissions::from_mode(0o755)).unwrap();
    fs::File::create(units.join("mxd.service")).unwrap();
    let uninstall = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mxd"));
        command.args(["daemon", "uninstall"]).env("HOME", ground.path());
        command.env("PATH", format!("{}:/usr/bin:/bin", programs.display())).output().unwrap()
    };
    let done = uninstall();
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(!units.join("mxd.service").exists());
    let orders = fs::read_to_string(ground.path().join("orders")).unwrap();
    assert!(orders.contains("--user disable --now mxd"), "{orders}");
    assert_eq!(uninstall().status.code(), Some(4), "there is none any more");
}

/// What systemd says about a unit; none where it is not installed.
fn complaints(ground: &Path, unit: &Path) -> Option<String> {
    let runtime = ground.join("runtime");
    fs::create_dir(&runtime).unwrap();
    fs::set_permissions(&runtime, fs::Permissions::from_mode(0o700)).unwrap();
    let mut verify = Command::new("systemd-analyze");
    verify.args(["--user", "verify"]).arg(unit).env("XDG_RUNTIME_DIR", &runtime).stdin(Stdio::null());
    let output = verify.output().ok()?;
    Some(text(&output.stdout) + &text(&output.stderr))
}
