//! Every command of `mxd` against a living daemon, as a user types it: what it prints and how it ends.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use regex::Regex;
use rehearse::{Rehearsal, Script, Wire};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::golden;

/// How often a command is run before what it should say counts as stuck.
const TRIES: usize = 3_000;

/// A user with a daemon, a repository and a model.
struct User {
    ground: TempDir,
    daemon: Child,
    _model: Rehearsal,
}

impl Drop for User {
    fn drop(&mut self) {
        let _gone = self.daemon.kill();
        let _waited = self.daemon.wait();
    }
}

impl User {
    fn new(conversations: &Value) -> Self {
        let ground = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let idle = json!({ "blocks": [{ "text": "Noted." }] });
        let script = json!({ "conversations": conversations, "default_reply": idle }).to_string();
        let model = Rehearsal::start(Script::parse("story.json", &script).unwrap()).unwrap();
        make_repository(&ground.path().join("repo"));
        let url = model.base_url(Wire::Anthropic);
        let group =
            json!({ "provider": "anthropic", "anthropicBaseUrl": url, "anthropicApiKey": "$env:STAGE_KEY" });
        let settings = json!({ "authGroups": { "main": group }, "defaultAuth": "main" });
        fs::create_dir(ground.path().join("data")).unwrap();
        write(&ground.path().join("data/config.json"), &settings.to_string());
        let daemon = Command::new(env!("CARGO_BIN_EXE_mxd"))
            .args(["serve", "--port", "0"])
            .env("MXD_DATA_DIR", ground.path().join("data"))
            .env("STAGE_KEY", "a key of the stage")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let user = Self { ground, daemon, _model: model };
        user.until("the daemon is there", |user| user.run(&["health"]).0 == 0);
        user
    }

    fn repo(&self) -> PathBuf {
        self.ground.path().join("repo")
    }

    /// Runs a command in the repository: its code, and both of its outputs.
    fn run(&self, arguments: &[&str]) -> (i32, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_mxd"))
            .args(arguments)
            .current_dir(self.repo())
            .env("MXD_DATA_DIR", self.ground.path().join("data"))
            .env("HOME", self.ground.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap_or(-1), String::from_utf8(said).unwrap())
    }

    /// Runs a command until what it says is as wanted.
    fn until(&self, what: &str, wanted: impl Fn(&Self) -> bool) {
        let happened = (0..TRIES).any(|_| wanted(self));
        assert!(happened, "{what} did not happen: {}", self.run(&["logs"]).1);
    }

    /// A command with what it says and how it ends, without what is different each time.
    fn told(&self, arguments: &[&str]) -> String {
        let (code, said) = self.run(arguments);
        let ground = fs::canonicalize(self.ground.path()).unwrap();
        let said = said.replace(ground.to_str().unwrap(), "GROUND");
        let mut said = said.replace(self.ground.path().to_str().unwrap(), "GROUND");
        for (pattern, word) in [
            (r"[0-9A-HJKMNP-TV-Z]{26}", "ID"),
            (r"127\.0\.0\.1:\d+", "ADDRESS"),
            (r"\d\d:\d\d:\d\d", "TIME"),
            (r"up \d+ s", "up N s"),
            (r"\$0\.\d+", "$$COST"),
            (r"\d+ tokens", "N tokens"),
            (r"\d+ commits", "N commits"),
            (r"(?m)^ *\d+  ", "N  "),
        ] {
            said = Regex::new(pattern).unwrap().replace_all(&said, word).into_owned();
        }
        format!("$ mxd {}\n{said}[{code}]\n\n", arguments.join(" "))
    }
}

pub(crate) fn make_repository(folder: &Path) {
    fs::create_dir_all(folder.join(".mxd/hooks")).unwrap();
    write(&folder.join("README.md"), "A small program.\n");
    write(&folder.join(".mxd/hooks/setup_worktree.sh"), "#!/bin/sh\ntrue\n");
    commit_all(folder);
}

/// Makes a folder a repository whose first commit is everything in it.
pub(crate) fn commit_all(folder: &Path) {
    for arguments in [
        &["init", "-q", "-b", "main"][..],
        &["config", "user.name", "User"],
        &["config", "user.email", "user@example.org"],
        &["add", "-A"],
        &["commit", "-q", "-m", "first"],
    ] {
        let done = Command::new("git").args(arguments).current_dir(folder).status().unwrap();
        assert!(done.success(), "git {arguments:?}");
    }
}

pub(crate) fn write(path: &Path, text: &str) {
    fs::File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
}

fn says(words: &str) -> Value {
    json!({ "reply": { "blocks": [{ "text": words }] } })
}

fn calls(name: &str, input: &Value) -> Value {
    json!({ "reply": { "blocks": [{ "tool_call": { "name": format!("mcp__mxd__{name}"), "input": input } }] } })
}

/// A root that asks, and a task that writes a file.
fn story() -> Value {
    json!([
        {
            "first_message": { "contains": "Title: repo\n" },
            "turns": [
                calls("clarify", &json!({ "question": "Red or blue?" })),
                calls("yield", &json!({})),
                says("Blue it is."),
            ],
        },
        {
            "first_message": { "contains": "Title: Paint it\n" },
            "turns": [
                calls("bash", &json!({ "command": "echo blue > colour && git add -A && git commit -qm colour" })),
                calls("done", &json!({ "status": "passed", "summary": "It is blue." })),
            ],
        },
    ])
}

fn settings_and_the_daemon(tell: &mut dyn FnMut(&[&str])) {
    tell(&["config", "auth", "list"]);
    tell(&["config", "set", "model", "claude-sonnet-4-5"]);
    tell(&["config", "set", "modle", "x"]);
    tell(&["config", "unset", "model"]);
    tell(&["config", "model", "add", "small", "--window", "32768"]);
    tell(&["config", "model", "list"]);
    tell(&["config", "model", "remove", "small"]);
    tell(&[
        "config",
        "auth",
        "add",
        "local",
        "--provider",
        "openai",
        "--base-url",
        "http://127.0.0.1:11434/v1",
    ]);
    tell(&["config", "auth", "remove", "local"]);
    tell(&["auth", "list"]);
    tell(&["auth", "nonsense"]);
    tell(&["health"]);
    tell(&["health", "--model"]);
    tell(&["daemon", "status"]);
    tell(&["version"]);
}

/// Last, because nothing is left afterwards.
fn conversations(tell: &mut dyn FnMut(&[&str])) {
    tell(&["sessions", "clear"]);
    tell(&["sessions", "clear", "-t", "root", "--yes"]);
    tell(&["sessions", "prune", "--keep", "0"]);
    tell(&["sessions", "clear", "--yes"]);
}

#[test]
fn every_command_says_what_it_did() {
    let user = User::new(&story());
    let mut transcript = String::new();
    let mut tell = |arguments: &[&str]| {
        let _infallible = write!(transcript, "{}", user.told(arguments));
    };
    tell(&["list"]);
    tell(&["status"]);
    tell(&["init"]);
    tell(&["init"]);
    tell(&["list"]);
    tell(&["send", "Choose", "a", "colour"]);
    user.until("a question", |user| user.run(&["needs"]).1.contains("Red or blue?"));
    user.until("a rest", |user| user.run(&["status"]).1.contains("it waits for your answer"));
    tell(&["status"]);
    tell(&["needs"]);
    tell(&["answer", "Blue"]);
    user.until("the answer is read", |user| user.run(&["show"]).1.contains("Blue it is."));
    user.until("a rest", |user| user.run(&["status"]).1.contains("it waits for a message"));
    tell(&["needs"]);
    tell(&["show"]);
    tell(&[
        "task",
        "create",
        "Paint it",
        "-d",
        "Blue, please.",
        "--check",
        "test -f colour",
        "--budget",
        "1",
    ]);
    tell(&["task", "create", "Ideas", "--folder"]);
    tell(&["task", "create", "Later", "--draft", "--under", "Ideas"]);
    tell(&["send", "-t", "Paint it", "Begin."]);
    user.until("it is painted", |user| user.run(&["show", "Paint it"]).1.contains("status  passed"));
    user.until("the root has read it", |user| {
        user.run(&["show"]).1.contains("agent  it waits for a message")
    });
    tell(&["status", "--all"]);
    tell(&["diff", "Paint it", "--stat"]);
    tell(&["merge", "Paint it"]);
    tell(&["task", "edit", "Later", "--title", "Much later"]);
    tell(&["task", "move", "Much later", "--under", "root"]);
    tell(&["task", "delete", "Ideas"]);
    tell(&["delete", "Much later"]);
    tell(&["task", "close", "Paint it"]);
    tell(&["stop"]);
    tell(&["interrupt", "root"]);
    tell(&["agent"]);
    tell(&["cost"]);
    tell(&["cost", "repo", "--cache"]);
    tell(&["sessions", "list"]);
    tell(&["servers"]);
    tell(&["search", "Blue", "it"]);
    tell(&["logs", "--type", "error"]);
    tell(&["logs", "verify"]);
    settings_and_the_daemon(&mut tell);
    conversations(&mut tell);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/commands.txt");
    golden::check(&file, &transcript);
}

#[test]
fn what_is_wrong_is_said_with_a_hint_and_a_code() {
    let user = User::new(
        &json!([{ "first_message": { "contains": "nobody says this" }, "turns": [says("never")] }]),
    );
    assert_eq!(user.run(&["init", "--json"]).0, 0);
    let mut transcript = String::new();
    for arguments in [
        &["send", "-t", "nowhere", "hello"][..],
        &["show", "nowhere"],
        &["--project", "nowhere", "status"],
        &["answer", "yes"],
        &["approve"],
        &["task", "edit", "root"],
        &["task", "edit", "root", "--budget", "much"],
        &["rewind", "root", "--to", "01ARZ3NDEKTSV4RRFFQ69G5FAV"],
        &["fork", "root", "--from", "root"],
        &["merge", "root"],
        &["relocate", "repo", "nowhere"],
        &["init", "nowhere"],
        &["auth", "revoke", "nobody"],
        &["--json", "show", "nowhere"],
        &["status", "nowhere"],
        &["status", "one", "two"],
        &["logs", "--type", "tool"],
        &["logs", "-n", "many"],
        &["rewind", "root", "--to", "abc"],
        &["grant", "root", "-5"],
        &["task", "create", "x", "--budget", "much"],
        &["task", "edit", "root", "--status", "flying"],
        &["task", "move", "root", "--under", "root"],
        &["task", "delete", "root"],
        &["interrupt", "root"],
        &["config", "set", "sandbox.mode", "soft"],
        &["config", "unset", "model"],
        &["config", "auth", "remove", "nobody"],
        &["search", " "],
        &["completions", "tcsh"],
        &["serve", "--port", "99999"],
        &["sessions", "clear", "-t", "nowhere", "--yes"],
        &["servers", "accept", "nowhere"],
        &["servers", "accept", "nowhere", "--class", "read"],
        &["config", "model", "remove", "nowhere"],
        &["config", "auth", "add", "main", "--provider", "openai"],
        &["bogus"],
        &["send"],
    ] {
        let _infallible = write!(transcript, "{}", user.told(arguments));
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/mistakes.txt");
    golden::check(&file, &transcript);
}

#[test]
fn without_a_daemon_there_is_a_code_and_a_way_out() {
    let ground = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for command in ["status", "needs", "list", "health", "cost"] {
        let output = Command::new(env!("CARGO_BIN_EXE_mxd"))
            .arg(command)
            .env("MXD_DATA_DIR", ground.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(3), "{command}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("mxd up"), "{command}: {output:?}");
    }
}

#[test]
fn every_reading_command_speaks_json() {
    let user = User::new(&story());
    assert_eq!(user.run(&["init", "--json"]).0, 0);
    let reading = [
        "list", "status", "tasks", "show", "needs", "agent", "cost", "config", "health", "version", "servers",
    ];
    for command in reading {
        let (code, said) = user.run(&[command, "--json"]);
        assert_eq!(code, 0, "{command}: {said}");
        serde_json::from_str::<Value>(&said).unwrap_or_else(|error| panic!("{command}: {error}: {said}"));
    }
}
