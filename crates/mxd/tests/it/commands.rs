//! Every command of `mxd` against a living daemon, as a user types it: what it prints and how it ends.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::user::{User, write};
use crate::{golden, mxd};

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
    tell(&["config", "set", "model", "claude-opus-5-5"]);
    tell(&["config", "set", "model", "claude-typo-9"]);
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
    tell(&["config"]);
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
    tell(&["overview"]);
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
    golden::check(&file_of("commands.txt"), &transcript);
}

/// A task that wants to run a command, and one whose model does not answer at first.
fn trouble() -> Value {
    let refused = json!({ "what": { "status": { "status": 400 } } });
    json!([
        {
            "first_message": { "contains": "Title: Careful\n" },
            "turns": [
                calls("bash", &json!({ "command": "true\n: \u{1b}[2J" })),
                calls("done", &json!({ "status": "failed", "summary": "It is not worth it." })),
            ],
        },
        {
            "first_message": { "contains": "Title: Unlucky\n" },
            "turns": [{ "fault": refused, "reply": { "blocks": [{ "text": "At last." }] } }],
        },
    ])
}

#[test]
fn every_way_to_steer_says_what_it_did() {
    let user = User::new(&trouble());
    let mut transcript = String::new();
    let mut tell = |arguments: &[&str]| {
        let _infallible = write!(transcript, "{}", user.told(arguments));
    };
    assert_eq!(user.run(&["init"]).0, 0);
    let rule = r#"{"rules":[{"name":"ask","effect":"shell","ruling":"ask"}]}"#;
    let server = format!(
        r#"{{"own":{{"command":"{}","args":["mcp","--read-only","--sandbox","off"]}}}}"#,
        env!("CARGO_BIN_EXE_mxd")
    );
    tell(&["config", "set", "approvals", rule]);
    let (code, said) = user.run(&["config", "set", "mcpServers", &server]);
    assert!(code == 0 && said.contains("with their next summary"), "{said}");
    assert_eq!(user.run(&["task", "create", "Careful"]).0, 0);
    assert_eq!(user.run(&["send", "-t", "Careful", "Begin."]).0, 0);
    tell(&["wait"]);
    tell(&["needs"]);
    tell(&["approve"]);
    tell(&["wait", "Careful"]);
    tell(&["wait"]);
    tell(&["servers"]);
    tell(&["servers", "accept", "own"]);
    tell(&["servers", "retry", "own"]);
    tell(&["continue", "Careful", "Once", "more."]);
    tell(&["wait", "Careful"]);
    tell(&["task", "create", "Twin"]);
    tell(&["fork", "Twin", "--from", "Careful"]);
    tell(&["task", "reset", "Twin"]);
    tell(&["task", "files"]);
    let first = message_of(&user, "Careful", "Begin.");
    tell(&["rewind", "Careful", "--to", &first]);
    tell(&["logs", "-t", "Careful", "-n", "2"]);
    assert_eq!(user.run(&["task", "create", "Unlucky"]).0, 0);
    assert_eq!(user.run(&["send", "-t", "Unlucky", "Begin."]).0, 0);
    tell(&["wait", "Unlucky"]);
    tell(&["retry", "Unlucky"]);
    tell(&["wait", "Unlucky"]);
    tell(&["compact", "Unlucky"]);
    tell(&["wait", "Unlucky"]);
    tell(&["grant", "Unlucky", "2"]);
    tell(&["tasks"]);
    tell(&["auth", "revoke", "all"]);
    assert_eq!(user.run(&["stop"]).0, 0);
    tell(&["stop", "Twin"]);
    tell(&["search", "nobody said this"]);
    tell(&["config", "set", "budgetUsd", "5"]);
    tell(&["config", "set", "budgetUsd", "7"]);
    tell(&["config", "auth", "remove", "main"]);
    tell(&["base"]);
    tell(&["base", "nowhere"]);
    let made = std::process::Command::new("git").args(["branch", "next"]).current_dir(user.repo()).status();
    assert!(made.unwrap().success());
    tell(&["base", "next"]);
    tell(&["base", "main"]);
    tell(&["remove", "repo"]);
    tell(&["list"]);
    tell(&["init"]);
    fs::rename(user.repo(), user.ground.path().join("elsewhere")).unwrap();
    fs::create_dir(user.repo()).unwrap();
    tell(&["relocate", "repo", "../elsewhere"]);
    fs::create_dir_all(user.ground.path().join("elsewhere/.mxd")).unwrap();
    write(&user.ground.path().join("elsewhere/.mxd/config.json"), "{");
    tell(&["--project", "repo", "config", "set", "limits.agents", "6"]);
    tell(&["--project", "repo", "status"]);
    golden::check(&file_of("steering.txt"), &transcript);
}

/// The id of a message that the user wrote to a task.
fn message_of(user: &User, task: &str, words: &str) -> String {
    let (_, lines) = user.run(&["logs", "-t", task, "-n", "1000", "--type", "message", "--json"]);
    let mut events = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let found = events.find(|event| event["body"]["content"] == words);
    found.unwrap_or_else(|| panic!("{lines}"))["id"].as_str().unwrap().to_owned()
}

fn file_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// Commands that do not end by themselves, start what outlives them, or print what differs each time. Each is tested
/// where the second column says.
const ELSEWHERE: &[(&str, &str)] = &[
    ("completions", "crates/mxd/tests/it/paper.rs"),
    ("daemon install", "crates/mxd/tests/it/paper.rs"),
    ("daemon logs", "crates/mxd/tests/it/background.rs"),
    ("daemon restart", "crates/mxd/tests/it/background.rs"),
    ("daemon start", "crates/mxd/tests/it/background.rs"),
    ("daemon stop", "crates/mxd/tests/it/background.rs"),
    ("daemon uninstall", "crates/mxd/tests/it/paper.rs"),
    ("demo", "crates/mxd/tests/it/demo.rs"),
    ("deny", "crates/mxd/tests/it/commands.rs"),
    ("doctor", "crates/mxd/tests/it/doctor.rs"),
    ("logs export", "crates/mxd/tests/it/commands.rs"),
    ("man", "crates/mxd/tests/it/paper.rs"),
    ("mcp", "crates/mxd/tests/it/mcp.rs"),
    ("run", "crates/mxd/tests/it/main.rs"),
    ("serve", "crates/mxd/tests/it/user.rs"),
    ("up", "crates/mxd/tests/it/first_task.rs"),
    ("watch", "crates/mxd/tests/it/watch.rs"),
];

/// The commands that do something by themselves, as they are typed.
fn all_commands() -> BTreeSet<String> {
    let ground = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let folder = ground.path().join("man");
    assert!(mxd(&["man", "--folder", folder.to_str().unwrap()]).status.success());
    let pages = fs::read_dir(&folder).unwrap().map(|page| page.unwrap().file_name().into_string().unwrap());
    let commands =
        pages.filter_map(|page| Some(page.strip_prefix("mxd-")?.strip_suffix(".1")?.replace('-', " ")));
    let groups = ["config auth", "config model", "daemon", "sessions", "task"];
    commands.filter(|command| !groups.contains(&command.as_str())).collect()
}

/// The commands of a transcript that end with one of these codes.
fn told_in(name: &str, is_wanted: fn(&str) -> bool) -> Vec<String> {
    let text = fs::read_to_string(file_of(name)).unwrap();
    let entries = text.split("\n\n").filter(|entry| {
        let code = entry.lines().last().unwrap_or_default();
        is_wanted(code.trim_start_matches('[').trim_end_matches(']'))
    });
    let typed = entries.filter_map(|entry| entry.lines().next()?.strip_prefix("$ mxd "));
    typed
        .map(|typed| {
            format!("{} ", typed.trim_start_matches("--json ").trim_start_matches("--project nowhere "))
        })
        .collect()
}

#[test]
fn no_command_is_forgotten() {
    let happy =
        [told_in("commands.txt", |code| code == "0"), told_in("steering.txt", |code| code == "0")].concat();
    let unhappy = [
        told_in("commands.txt", |code| code != "0"),
        told_in("steering.txt", |code| code != "0"),
        told_in("mistakes.txt", |code| code != "0"),
        told_in("alone.txt", |code| code != "0"),
        NEEDS_A_DAEMON.iter().map(|words| words.join(" ") + " ").collect(),
    ]
    .concat();
    let is_in =
        |command: &str, told: &[String]| told.iter().any(|typed| typed.starts_with(&format!("{command} ")));
    let elsewhere = |command: &str| ELSEWHERE.iter().any(|(name, _)| *name == command);
    let commands = all_commands();
    let forgotten: Vec<_> =
        commands.iter().filter(|command| !is_in(command, &happy) && !elsewhere(command)).collect();
    assert_eq!(forgotten, Vec::<&String>::new(), "never seen to work");
    let trusted: Vec<_> = commands.iter().filter(|command| !is_in(command, &unhappy)).collect();
    assert_eq!(trusted, Vec::<&String>::new(), "never seen to fail");
    for (command, file) in ELSEWHERE {
        assert!(commands.contains(*command), "{command} is no command any more");
        let text =
            fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file)).unwrap();
        let words: Vec<String> = command.split(' ').map(|word| format!("\"{word}\"")).collect();
        assert!(
            text.contains(&words.join(", ")) || text.contains(&format!("mxd {command}")),
            "{command}: {file}"
        );
    }
}

#[test]
fn reason_of_a_denial_is_the_result_of_the_call() {
    let user = User::new(&trouble());
    assert_eq!(user.run(&["init"]).0, 0);
    let rule = r#"{"rules":[{"name":"ask","effect":"shell","ruling":"ask"}]}"#;
    assert_eq!(user.run(&["config", "set", "approvals", rule]).0, 0);
    assert_eq!(user.run(&["task", "create", "Careful"]).0, 0);
    assert_eq!(user.run(&["send", "-t", "Careful", "Begin."]).0, 0);
    user.until("a call waits", |user| user.run(&["needs"]).1.contains("mxd approve"));
    let (code, said) = user.run(&["deny", "--reason", "Use make instead."]);
    assert_eq!((code, said.starts_with("refused: bash")), (0, true), "{said}");
    let told = "The user did not allow this call, and says why: Use make instead.";
    user.until("the agent reads it", |user| user.run(&["logs", "--json", "-t", "Careful"]).1.contains(told));
}

#[test]
fn host_is_listed_and_allowed_for_the_project() {
    let reach = "way=${http_proxy#http://}; name=${way%@*}; port=${way##*:}
exec 3<>/dev/tcp/127.0.0.1/$port
printf 'CONNECT localhost:8443 HTTP/1.1\\r\\nHost: localhost:8443\\r\\n' >&3
printf 'Proxy-Authorization: Basic %s\\r\\n\\r\\n' \"$(printf %s \"$name\" | base64 -w0)\" >&3
cat <&3";
    let user = User::new(&json!([{
        "first_message": { "contains": "Title: Curious\n" },
        "turns": [calls("bash", &json!({ "command": reach })), says("Over.")],
    }]));
    assert_eq!(user.run(&["init"]).0, 0);
    assert_eq!(user.run(&["task", "create", "Curious"]).0, 0);
    assert_eq!(user.run(&["send", "-t", "Curious", "Begin."]).0, 0);
    let listed = "permission  Curious: to reach localhost:8443\n            mxd approve ";
    user.until("a host waits", |user| user.run(&["needs"]).1.contains(listed));
    assert!(user.run(&["needs"]).1.contains("[--always | --for-project]"));
    let said = (0, "this host is allowed for the project: localhost:8443\n".to_owned());
    assert_eq!(user.run(&["approve", "--for-project"]), said);
    assert_eq!(user.run(&["needs"]).1, "Nothing waits for you.\n");
    assert!(user.run(&["config"]).1.contains("localhost:8443"));
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
        &["overview", "-p", "nowhere"],
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
        &["grant", "root", "0"],
        &["retry", "root"],
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
        &["--json", "bogus"],
        &["send"],
        &["send", "go", "on", "-t", "root"],
        &["send", "please", "--help"],
    ] {
        let _infallible = write!(transcript, "{}", user.told(arguments));
    }
    golden::check(&file_of("mistakes.txt"), &transcript);
}

/// Everything that needs a daemon, as somebody types it who has none.
const NEEDS_A_DAEMON: &[&[&str]] = &[
    &["agent"],
    &["answer", "yes"],
    &["approve"],
    &["auth", "KEY"],
    &["auth", "list"],
    &["auth", "revoke", "all"],
    &["compact"],
    &["continue", "Task"],
    &["cost"],
    &["daemon", "status"],
    &["daemon", "stop"],
    &["delete", "Task"],
    &["deny"],
    &["diff", "Task"],
    &["fork", "Task", "--from", "root"],
    &["grant", "Task", "1"],
    &["health"],
    &["init"],
    &["interrupt", "Task"],
    &["list"],
    &["logs"],
    &["merge", "Task"],
    &["needs"],
    &["relocate", "repo", "."],
    &["remove", "repo"],
    &["retry", "Task"],
    &["rewind", "Task", "--to", "01ARZ3NDEKTSV4RRFFQ69G5FAV"],
    &["search", "words"],
    &["send", "hello"],
    &["servers"],
    &["servers", "accept", "own"],
    &["servers", "retry", "own"],
    &["sessions", "clear", "--yes"],
    &["sessions", "list"],
    &["sessions", "prune"],
    &["show"],
    &["status"],
    &["stop"],
    &["task", "close", "Task"],
    &["task", "create", "Task"],
    &["task", "delete", "Task"],
    &["task", "edit", "Task", "--title", "Other"],
    &["task", "move", "Task", "--under", "root"],
    &["task", "reset", "Task"],
    &["task", "files"],
    &["tasks"],
    &["wait"],
    &["watch"],
];

#[test]
fn without_a_daemon_there_is_a_code_and_a_way_out() {
    let user = User::alone();
    for command in NEEDS_A_DAEMON {
        let (code, said) = user.run(command);
        assert_eq!(code, 3, "{command:?}: {said}");
        assert!(said.contains("mxd up"), "{command:?}: {said}");
        let (code, said) = user.run(&[&["--json"], *command].concat());
        let told: Value =
            serde_json::from_str(&said).unwrap_or_else(|error| panic!("{command:?}: {error}: {said}"));
        assert_eq!((code, &told["error"]["code"]), (3, &json!("unreachable")), "{command:?}: {said}");
    }
}

#[test]
fn what_needs_no_daemon_says_what_is_wrong_too() {
    let user = User::alone();
    let mut transcript = String::new();
    let mut tell = |arguments: &[&str]| {
        let _infallible = write!(transcript, "{}", user.told(arguments));
    };
    tell(&["logs", "verify"]);
    tell(&["logs", "export"]);
    tell(&["daemon", "logs"]);
    tell(&["daemon", "uninstall"]);
    tell(&["demo", "--folder", "."]);
    tell(&["man", "--folder", "README.md"]);
    tell(&["mcp", "--http", "0.0.0.0:0"]);
    tell(&["mcp", "--daemon", "--http", "127.0.0.1:0"]);
    tell(&["run", "--", "no-such-program"]);
    tell(&["config", "auth", "list", "--global"]);
    tell(&["config", "model", "list", "more"]);
    tell(&["config", "model", "add", "own"]);
    write(&user.ground.path().join("data/config.json"), r#"{"prot": 1}"#);
    tell(&["config"]);
    tell(&["doctor", "more"]);
    tell(&["daemon", "start"]);
    tell(&["daemon", "restart"]);
    tell(&["daemon", "install", "more"]);
    tell(&["up", "--no-open"]);
    tell(&["serve"]);
    tell(&["version", "more"]);
    golden::check(&file_of("alone.txt"), &transcript);
}

#[test]
fn an_export_is_every_commit_of_the_log() {
    let user = User::new(&story());
    assert_eq!(user.run(&["init"]).0, 0);
    assert_eq!(user.run(&["task", "create", "Task"]).0, 0);
    let (code, text) = user.run(&["logs", "export"]);
    let commits = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["seq"].clone());
    assert_eq!((code, commits.collect::<Vec<_>>()), (0, vec![json!(1), json!(2)]));
}

#[test]
fn names_and_pipes_that_are_no_text_are_no_reason_to_panic() {
    use std::os::unix::ffi::OsStrExt as _;

    let user = User::new(&story());
    let odd = std::ffi::OsStr::from_bytes(b"\xff");
    let code = |command: &mut Command| command.output().unwrap().status.code();
    assert_eq!(code(user.command(&[]).arg(odd)), Some(2));
    fs::create_dir(user.ground.path().join(odd)).unwrap();
    assert_eq!(code(user.command(&["init"]).arg(user.ground.path().join(odd))), Some(1));
    let full = || fs::File::options().write(true).open("/dev/full").unwrap();
    for arguments in [&["list", "--json"][..], &["completions", "bash"]] {
        assert_eq!(code(user.command(arguments).stdout(full())), Some(1), "{arguments:?}");
    }
    // Whoever has read enough is told nothing.
    for arguments in [&["--json", "list"][..], &["completions", "bash"]] {
        let mut process = user.command(arguments).stdout(Stdio::piped()).spawn().unwrap();
        drop(process.stdout.take());
        assert_eq!(process.wait().unwrap().code(), Some(0), "{arguments:?}");
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
