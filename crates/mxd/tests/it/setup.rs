//! Setting a project up: by flags, by questions on a terminal, and what is said to whoever did not.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use rehearse::{Rehearsal, Script, Wire};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::text;
use crate::user::{commit_all, write};

/// A user with a repository and nothing else; perhaps with keys in the environment.
struct Beginner {
    ground: TempDir,
    keys: Vec<&'static str>,
}

impl Drop for Beginner {
    fn drop(&mut self) {
        let _stopped = self.run(&["daemon", "stop"]);
    }
}

impl Beginner {
    fn new(keys: &[&'static str]) -> Self {
        let ground = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let repository = ground.path().join("thing");
        fs::create_dir(&repository).unwrap();
        write(&repository.join("Cargo.toml"), "[package]\nname = \"thing\"\n");
        commit_all(&repository);
        Self { ground, keys: keys.to_vec() }
    }

    /// One whose daemon runs and whose folder is a project.
    fn with_daemon(keys: &[&'static str]) -> Self {
        let beginner = Self::new(keys);
        beginner.does(&["config", "set", "port", "0", "--global"]);
        beginner.does(&["up", "--no-open"]);
        beginner
    }

    fn repository(&self) -> PathBuf {
        self.ground.path().join("thing")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mxd"));
        command.args(arguments).current_dir(self.repository()).env("HOME", self.ground.path());
        for variable in ["MXD_DATA_DIR", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"] {
            command.env_remove(variable);
        }
        for key in &self.keys {
            command.env(key, "a key of the stage");
        }
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        (status.code(), text(&[stdout, stderr].concat()))
    }

    fn does(&self, arguments: &[&str]) -> String {
        let (code, said) = self.run(arguments);
        assert_eq!(code, Some(0), "mxd {}: {said}", arguments.join(" "));
        said
    }

    /// The state of each of the five.
    fn states(&self) -> Vec<(String, String)> {
        let overview: Value = serde_json::from_str(&self.does(&["--json"])).unwrap();
        let items = overview["readiness"]["items"].as_array().unwrap().clone();
        let word = |value: &Value| value.as_str().unwrap().to_owned();
        items.iter().map(|item| (word(&item["name"]), word(&item["state"]))).collect()
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git").args(arguments).current_dir(self.repository()).output().unwrap();
        text(&output.stdout).trim().to_owned()
    }
}

fn all_ready() -> Vec<(String, String)> {
    let names = ["model", "budget", "git", "setupHook", "checks"];
    names.map(|name| (name.to_owned(), "ready".to_owned())).to_vec()
}

#[test]
fn who_types_nothing_is_told_the_next_step() {
    let user = Beginner::new(&[]);
    assert!(user.does(&[]).contains("Next: mxd up"));
    user.does(&["config", "set", "port", "0", "--global"]);
    let up = user.does(&["up", "--no-open"]);
    assert!(up.contains("Agents cannot work yet") && up.contains("mxd config auth add"), "{up}");
    assert!(user.does(&[]).contains("Next: mxd init"));
    let init = user.does(&["init"]);
    assert!(init.contains("✗ model") && init.contains("✗ set-up") && init.contains("✓ git"), "{init}");
    let overview = user.does(&[]);
    assert!(overview.contains("Next: Add an account"), "{overview}");
}

#[test]
fn a_message_is_refused_while_no_model_can_be_asked() {
    let user = Beginner::with_daemon(&["OPENAI_API_KEY"]);
    user.does(&["init"]);
    let (code, said) = user.run(&["send", "Begin"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("nothing was sent"), "{said}");
    assert!(said.contains("OPENAI_API_KEY is set") && said.contains("--provider openai"), "{said}");
    assert!(!said.contains("a key of the stage"), "{said}");
    assert!(!user.does(&["logs"]).contains("Begin"));
    // With an account it goes out, with a word about the script that is missing.
    user.does(&["init", "--provider", "openai", "--no-test"]);
    let sent = user.does(&["send", "Begin"]);
    assert!(sent.contains("sent to") && sent.contains("setup_worktree.sh is not there"), "{sent}");
}

#[test]
fn a_message_is_refused_while_nobody_is_known_to_git() {
    let user = Beginner::with_daemon(&["OPENAI_API_KEY"]);
    user.does(&["init", "--provider", "openai", "--no-test"]);
    fs::remove_file(user.ground.path().join(".gitconfig")).unwrap();
    let (code, said) = user.run(&["send", "Begin"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("user.name"), "{said}");
}

#[test]
fn flags_set_everything_up_and_the_key_is_tried() {
    let script = json!({ "conversations": [], "default_reply": { "blocks": [{ "text": "Hello." }] } });
    let model = Rehearsal::start(Script::parse("hello", &script.to_string()).unwrap()).unwrap();
    let user = Beginner::with_daemon(&["ANTHROPIC_API_KEY"]);
    let url = model.base_url(Wire::Anthropic);
    let flags = ["init", "--provider", "anthropic", "--base-url", &url, "--budget", "5", "--hook", "example"];
    let flags = [&flags[..], &["--check", "detected"]].concat();
    let said = user.does(&flags);
    assert!(said.contains("a key is there, it answers") || said.contains("has no list"), "{said}");
    assert_eq!(user.states(), all_ready());
    assert!(user.does(&["config"]).contains("cargo test"));
    let script = user.git(&["show", "HEAD:.mxd/hooks/setup_worktree.sh"]);
    assert!(script.contains("cargo fetch") && !script.contains("This is an example"), "{script}");
    assert_eq!(user.git(&["status", "--porcelain"]), "");
    // Again and again: nothing is changed.
    let commits = user.git(&["rev-list", "--count", "HEAD"]);
    user.does(&flags);
    user.does(&["init"]);
    assert_eq!(user.git(&["rev-list", "--count", "HEAD"]), commits);
    assert_eq!(user.states(), all_ready());
}

#[test]
fn a_script_of_ones_own_is_taken_from_a_file() {
    let user = Beginner::with_daemon(&[]);
    write(&user.ground.path().join("mine.sh"), "#!/bin/sh\necho mine\n");
    user.does(&["init", "--hook", "../mine.sh"]);
    assert_eq!(user.git(&["show", "HEAD:.mxd/hooks/setup_worktree.sh"]), "#!/bin/sh\necho mine");
    assert_eq!(user.git(&["log", "-1", "--format=%an"]), "User");
    assert!(user.git(&["ls-files", "-s", ".mxd/hooks/setup_worktree.sh"]).starts_with("100755"));
}

#[test]
fn on_a_terminal_what_is_missing_is_asked_for() {
    let user = Beginner::with_daemon(&["ANTHROPIC_API_KEY"]);
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let terminal = OpenOptions::new().read(true).write(true).open(name).unwrap();
    // The key that was found, five dollars, nothing to set up, and the checks that were detected.
    File::from(master.try_clone().unwrap()).write_all(b"\n5\nn\ny\n").unwrap();
    let mut command = user.command(&["init", "--no-test"]);
    command.stdin(terminal.try_clone().unwrap()).stderr(terminal).stdout(Stdio::piped());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stdout));
    assert_eq!(user.states(), all_ready(), "{}", text(&output.stdout));
    let script = user.git(&["show", "HEAD:.mxd/hooks/setup_worktree.sh"]);
    assert!(script.contains("Nothing has to be set up"), "{script}");
    let config = user.does(&["config"]);
    assert!(config.contains("$env:ANTHROPIC_API_KEY") && config.contains("cargo test"), "{config}");
}
