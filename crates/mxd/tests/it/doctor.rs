//! `mxd doctor`, from outside: what it looks at, what it says, and whom it asks.

use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::Command;

use rehearse::{Rehearsal, Script, Wire};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::text;

const KEY: &str = "sk-of-the-doctor-0123456789";

/// A user who has only settings.
struct Patient {
    data: TempDir,
}

impl Patient {
    fn with(settings: &str) -> Self {
        let data = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let file = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(data.path().join("config.json"));
        file.unwrap().write_all(settings.as_bytes()).unwrap();
        let identity = b"[user]\nname = Patient\nemail = patient@example.org\n";
        fs::File::create(data.path().join(".gitconfig")).unwrap().write_all(identity).unwrap();
        Self { data }
    }

    /// Settings with one account, whose key is in the environment.
    fn of(base_url: &str, model: &str) -> Self {
        let group =
            json!({ "provider": "openai", "openaiBaseUrl": base_url, "openaiApiKey": "$env:DOCTORS_KEY" });
        let known = json!({
            "name": model, "vendor": "own", "contextWindow": 32_000, "maxOutputTokens": 4_000, "thinking": "none",
            "images": false,
            "prices": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite5m": 0, "cacheWrite1h": 0 },
        });
        Self::with(&json!({ "authGroups": { "main": group }, "model": model, "models": [known] }).to_string())
    }

    /// The code, what is said to a program, and what is said to a person.
    fn examine(&self, arguments: &[&str], key: Option<&str>) -> (Option<i32>, Vec<Value>, String) {
        let doctor = |how: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_mxd"));
            command.arg("doctor").args(arguments).args(how).current_dir(self.data.path());
            command.env("MXD_DATA_DIR", self.data.path()).env("HOME", self.data.path());
            for name in ["DOCTORS_KEY", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "EMAIL", "XDG_CONFIG_HOME"] {
                command.env_remove(name);
            }
            command.envs(key.map(|key| ("DOCTORS_KEY", key))).output().unwrap()
        };
        let (people, programs) = (doctor(&[]), doctor(&["--json"]));
        assert_eq!(people.status.code(), programs.status.code());
        let findings = serde_json::from_slice(&programs.stdout).unwrap();
        let words = text(&people.stdout);
        assert!(!(words.clone() + &text(&programs.stdout)).contains(KEY), "the key is printed: {words}");
        (people.status.code(), findings, words)
    }
}

fn finding<'a>(findings: &'a [Value], name: &str) -> &'a Value {
    findings.iter().find(|finding| finding["name"] == name).unwrap_or(&Value::Null)
}

#[test]
fn everything_is_looked_at_and_what_is_missing_has_a_fix() {
    let (code, findings, words) = Patient::with("{}").examine(&[], None);
    let names: Vec<&str> = findings.iter().filter_map(|finding| finding["name"].as_str()).collect();
    assert_eq!(
        names,
        ["sandbox", "limits", "git", "bash", "node", "identity", "config", "disk", "models", "daemon"]
    );
    assert!(findings[0]["what"].as_str().unwrap().contains("Landlock"), "{findings:?}");
    assert!(words.starts_with("   ok  sandbox  full"), "{words}");
    assert!(!words.contains('\u{1b}'), "colour without a terminal: {words}");
    let models = finding(&findings, "models");
    assert_eq!((code, &models["state"]), (Some(0), &json!("weak")), "without an account the demo works");
    assert!(models["fix"].as_str().unwrap().contains("mxd config auth add"), "{models}");
    for finding in findings.iter().filter(|finding| finding["state"] != "good") {
        assert!(finding["fix"].is_string(), "{finding}");
    }
}

#[test]
fn whose_commits_agents_make_is_said_and_bad_when_nobody_said_it() {
    let patient = Patient::with("{}");
    // A repository of its own, so that no other one around it says anything.
    let repository =
        Command::new("git").args(["init", "-q"]).current_dir(patient.data.path()).status().unwrap();
    assert!(repository.success());
    let (code, findings, words) = patient.examine(&[], None);
    assert_eq!((code, &finding(&findings, "identity")["state"]), (Some(0), &json!("good")), "{words}");
    assert!(words.contains("agents commit as Patient <patient@example.org>"), "{words}");
    fs::remove_file(patient.data.path().join(".gitconfig")).unwrap();
    let (code, findings, words) = patient.examine(&[], None);
    let found = finding(&findings, "identity");
    assert_eq!((code, &found["state"]), (Some(1), &json!("bad")), "{words}");
    assert!(found["fix"].as_str().unwrap().contains("git config --global user.email"), "{found}");
}

#[test]
fn every_problem_of_the_settings_is_listed_and_the_code_says_so() {
    let (code, findings, words) = Patient::with(r#"{ "modle": "x", "maxDepth": "deep" }"#).examine(&[], None);
    let config = finding(&findings, "config");
    assert_eq!((code, &config["state"]), (Some(1), &json!("bad")), "{words}");
    let notes = config["notes"].as_array().unwrap();
    assert_eq!(notes.len(), 2, "{config}");
    assert!(words.contains("config.json:1:") && words.contains("Did you mean `model`?"), "{words}");
}

#[test]
fn a_variable_that_is_not_set_is_named_and_a_key_is_not_shown() {
    let patient = Patient::of("http://127.0.0.1:9/v1", "small");
    let (code, findings, words) = patient.examine(&[], None);
    assert_eq!(code, Some(1), "{words}");
    assert!(finding(&findings, "models")["what"].as_str().unwrap().contains("DOCTORS_KEY"), "{words}");
    let (code, findings, words) = patient.examine(&[], Some(KEY));
    assert_eq!(code, Some(0), "{words}");
    assert!(finding(&findings, "models")["what"].as_str().unwrap().contains("a key is there"), "{words}");
}

#[test]
fn nobody_is_contacted_unless_asked_for() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let patient = Patient::of(&format!("http://{}/v1", listener.local_addr().unwrap()), "small");
    assert_eq!(patient.examine(&[], Some(KEY)).0, Some(0));
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "somebody was contacted");
}

#[test]
fn a_provider_that_answers_says_whether_it_has_the_model() {
    let script =
        json!({ "models": ["small"], "conversations": [{ "turns": [{ "reply": { "blocks": [] } }] }] });
    let model = Rehearsal::start(Script::parse("doctor", &script.to_string()).unwrap()).unwrap();
    let url = model.base_url(Wire::Chat);
    let (code, findings, words) = Patient::of(&url, "small").examine(&["--reach"], Some(KEY));
    assert_eq!((code, &finding(&findings, "models")["state"]), (Some(0), &json!("good")), "{words}");
    assert!(words.contains("it answers"), "{words}");
    let (code, findings, words) = Patient::of(&url, "large").examine(&["--reach"], Some(KEY));
    assert_eq!((code, &finding(&findings, "models")["state"]), (Some(0), &json!("weak")), "{words}");
    assert!(words.contains("It has small."), "{words}");
}

#[test]
fn a_key_that_is_refused_and_a_server_that_hangs_up_are_bad() {
    let refused = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
    for (answer, said) in [(refused, "check the API key"), ("", "check the network")] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        // It ends with the test.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let _read = stream.read(&mut [0; 4096]);
                let _written = stream.write_all(answer.as_bytes());
            }
        });
        let (code, findings, words) = Patient::of(&url, "small").examine(&["--reach"], Some(KEY));
        let models = finding(&findings, "models");
        assert_eq!((code, &models["state"]), (Some(1), &json!("bad")), "{words}");
        assert!(models["fix"].as_str().unwrap().contains(said), "{models}");
    }
}
