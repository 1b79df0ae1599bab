//! A user with a daemon, a repository and a scripted model, who types commands.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use regex::Regex;
use rehearse::{Rehearsal, Script, Wire};
use serde_json::{Value, json};
use tempfile::TempDir;

/// How often a command is run before what it should say counts as stuck.
const TRIES: usize = 3_000;

/// A user with a daemon, a repository and a model.
pub(crate) struct User {
    pub(crate) ground: TempDir,
    daemon: Option<Child>,
    _model: Option<Rehearsal>,
}

impl Drop for User {
    fn drop(&mut self) {
        if let Some(daemon) = &mut self.daemon {
            let _gone = daemon.kill();
            let _waited = daemon.wait();
        }
    }
}

impl User {
    pub(crate) fn new(conversations: &Value) -> Self {
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
            .env("HOME", ground.path())
            .env("STAGE_KEY", "a key of the stage")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let user = Self { ground, daemon: Some(daemon), _model: Some(model) };
        user.until("the daemon is there", |user| user.run(&["health"]).0 == 0);
        user
    }

    /// One whose daemon does not run.
    pub(crate) fn alone() -> Self {
        let ground = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        make_repository(&ground.path().join("repo"));
        fs::create_dir(ground.path().join("data")).unwrap();
        Self { ground, daemon: None, _model: None }
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.ground.path().join("repo")
    }

    /// Runs a command in the repository: its code, and both of its outputs.
    pub(crate) fn run(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.command(arguments).stdin(Stdio::null()).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap_or(-1), String::from_utf8(said).unwrap())
    }

    /// A command that is typed in the repository.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mxd"));
        command.args(arguments).current_dir(self.repo());
        command.env("MXD_DATA_DIR", self.ground.path().join("data")).env("HOME", self.ground.path());
        command
    }

    /// Runs a command until what it says is as wanted.
    pub(crate) fn until(&self, what: &str, wanted: impl Fn(&Self) -> bool) {
        let happened = (0..TRIES).any(|_| wanted(self));
        assert!(happened, "{what} did not happen: {}", self.run(&["logs"]).1);
    }

    /// A command with what it says and how it ends, without what is different each time.
    pub(crate) fn told(&self, arguments: &[&str]) -> String {
        let (code, said) = self.run(arguments);
        let said = format!("$ mxd {}\n{said}[{code}]\n\n", arguments.join(" "));
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
        said
    }
}

pub(crate) fn make_repository(folder: &Path) {
    fs::create_dir_all(folder.join(".mxd/hooks")).unwrap();
    write(&folder.join("README.md"), "A small program.\n");
    write(&folder.join(".mxd/hooks/setup_worktree.sh"), "#!/bin/sh\ntrue\n");
    commit_all(folder);
}

/// Makes a folder a repository whose first commit is everything in it. Its user is known by the settings of the home
/// folder that it lies in, as with almost everybody.
pub(crate) fn commit_all(folder: &Path) {
    let home = folder.parent().unwrap();
    write(&home.join(".gitconfig"), "[user]\n\tname = User\n\temail = user@example.org\n");
    for arguments in [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-q", "-m", "first"]] {
        let done =
            Command::new("git").args(arguments).current_dir(folder).env("HOME", home).status().unwrap();
        assert!(done.success(), "git {arguments:?}");
    }
}

pub(crate) fn write(path: &Path, text: &str) {
    fs::File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
}
