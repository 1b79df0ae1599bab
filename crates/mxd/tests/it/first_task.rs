//! The way from nothing to the first answer, as the README has it, for every kind of provider.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rehearse::{Rehearsal, Script, Wire};
use serde_json::json;
use tempfile::TempDir;

use crate::user::commit_all;

/// How often a command is run before what it should say counts as stuck.
const TRIES: usize = 3_000;

/// A user without settings, and a model elsewhere.
struct Newcomer {
    ground: TempDir,
    model: Rehearsal,
}

impl Drop for Newcomer {
    fn drop(&mut self) {
        let _stopped = self.run(&["daemon", "stop"]);
    }
}

impl Newcomer {
    fn new() -> Self {
        let ground = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let words = json!({ "blocks": [{ "text": "Hello from the model." }] });
        let script = json!({ "conversations": [{ "turns": [{ "reply": words }] }], "default_reply": words });
        let model = Rehearsal::start(Script::parse("hello", &script.to_string()).unwrap()).unwrap();
        let repository = ground.path().join("thing");
        fs::create_dir(&repository).unwrap();
        fs::File::create(repository.join("README.md")).unwrap().write_all(b"A thing.\n").unwrap();
        commit_all(&repository);
        Self { ground, model }
    }

    fn repository(&self) -> PathBuf {
        self.ground.path().join("thing")
    }

    fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_mxd"))
            .args(arguments)
            .current_dir(self.repository())
            .env("HOME", self.ground.path())
            .env_remove("MXD_DATA_DIR")
            .env("A_KEY", "a key of the stage")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    }

    fn does(&self, arguments: &[&str]) {
        let (code, said) = self.run(arguments);
        assert_eq!(code, Some(0), "mxd {}: {said}", arguments.join(" "));
    }

    /// From the account to the answer.
    fn gets_an_answer(&self, settings: &[&[&str]], wire: Wire) {
        settings.iter().for_each(|arguments| self.does(arguments));
        self.does(&["config", "set", "budgetUsd", "5", "--global"]);
        self.does(&["config", "set", "port", "0", "--global"]);
        self.does(&["doctor", "--reach"]);
        self.does(&["up", "--no-open"]);
        self.does(&["init"]);
        self.does(&["send", "Say", "hello"]);
        let answered = (0..TRIES).any(|_| self.run(&["show"]).1.contains("Hello from the model."));
        assert!(answered, "{}", self.run(&["logs"]).1);
        let asked = self.model.requests();
        assert!(
            asked.iter().all(|request| request.wire == wire && request.violations.is_empty()),
            "{asked:?}"
        );
    }
}

#[test]
fn with_a_key_of_anthropic() {
    let user = Newcomer::new();
    let url = user.model.base_url(Wire::Anthropic);
    let add =
        ["config", "auth", "add", "main", "--provider", "anthropic", "--key", "$env:A_KEY", "--default"];
    user.gets_an_answer(&[&[&add[..], &["--base-url", &url]].concat()], Wire::Anthropic);
}

#[test]
fn with_a_key_of_openai() {
    let user = Newcomer::new();
    let url = user.model.base_url(Wire::Responses);
    let add = ["config", "auth", "add", "main", "--provider", "openai", "--key", "$env:A_KEY", "--default"];
    let wire = ["config", "set", "authGroups.main.wire", "responses", "--global"];
    user.gets_an_answer(&[&[&add[..], &["--base-url", &url]].concat(), &wire], Wire::Responses);
}

#[test]
fn with_a_server_of_ones_own_and_no_key() {
    let user = Newcomer::new();
    let url = user.model.base_url(Wire::Chat);
    let add = ["config", "auth", "add", "local", "--provider", "openai", "--base-url", &url, "--default"];
    let model = ["config", "model", "add", "qwen3-coder:30b", "--window", "65536", "--default"];
    user.gets_an_answer(&[&add, &model], Wire::Chat);
}
