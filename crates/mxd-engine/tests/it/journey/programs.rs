//! Real programs, made by a tree of three levels: one in Rust, one in Python, each with checks that run it.

use std::process::Command;

use mxd_core::tree::Status;
use serde_json::{Value, json};

use super::stage::{Stage, calls, capturing, conversation, expecting, git};

const MANIFEST: &str =
    "[package]\nname = \"greeter\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
const LIBRARY: &str = "\
//! Greetings.

/// Greets somebody.
pub fn greet(name: &str) -> String {
    format!(\"Hello, {name}!\")
}

#[cfg(test)]
mod tests {
    #[test]
    fn greets() {
        assert_eq!(super::greet(\"you\"), \"Hello, you!\");
    }
}
";
const MAIN: &str = "fn main() {\n    println!(\"{}\", greeter::greet(\"world\"));\n}\n";
const MODULE: &str = "def greet(name):\n    return f\"Hello, {name}!\"\n";
const MODULE_TEST: &str = "\
import unittest
from greeter import greet


class Greeting(unittest.TestCase):
    def test_greets(self):
        self.assertEqual(greet(\"you\"), \"Hello, you!\")
";
const SCRIPT: &str = "from greeter import greet\n\nprint(greet(\"world\"))\n";

fn done() -> Value {
    calls(&[("done", json!({ "status": "passed", "summary": "It is there." }))])
}

fn writes(files: &[(&str, &str)]) -> Value {
    let files: Vec<(&str, Value)> = files
        .iter()
        .map(|(path, content)| ("write_file", json!({ "path": path, "content": content })))
        .collect();
    calls(&files)
}

fn commits() -> Value {
    calls(&[("bash", json!({ "command": "git add -A && git commit -qm work && git status --short" }))])
}

/// The turns of a task that has one thing made below it and merges it.
fn delegates(title: &str, check: &str) -> Vec<Value> {
    let start = calls(&[("send_message", json!({ "taskId": "$below", "title": "go", "message": "Begin." }))]);
    vec![
        calls(&[("create_task", json!({ "title": title, "description": "Make it.", "checks": [check] }))]),
        capturing(start, "Created the task (?<below>[0-9A-Z]{26})"),
        calls(&[("yield", json!({}))]),
        calls(&[("merge_task", json!({ "taskId": "$below" }))]),
    ]
}

/// What follows a merge that has to have worked.
fn merged(turn: Value) -> Value {
    expecting(turn, json!({ "tool_results": [{ "contains": "Merged", "is_error": false }] }))
}

/// A program of a main file and a library that another task makes.
struct Program {
    library: &'static [(&'static str, &'static str)],
    library_check: &'static str,
    main: &'static [(&'static str, &'static str)],
    main_check: &'static str,
}

async fn make(program: Program) -> Stage {
    let mut root = delegates("The program", program.main_check);
    root.push(merged(done()));
    let mut middle = delegates("The library", program.library_check);
    middle.push(merged(writes(program.main)));
    middle.extend([commits(), done()]);
    let leaf = vec![writes(program.library), commits(), done()];
    let stage = Stage::set(json!([
        conversation("Title: Root", root),
        conversation("Title: The program", middle),
        conversation("Title: The library", leaf),
    ]))
    .await;
    let root = stage.root();
    stage.say(root, "Have the program made.").await;
    stage.until_status(root, Status::Passed).await;
    assert_eq!(git(&stage.repo(), &["status", "--porcelain"]), "");
    stage
}

fn said_by(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rust_program_is_made_by_three_levels_and_runs() {
    let stage = make(Program {
        library: &[("Cargo.toml", MANIFEST), ("src/lib.rs", LIBRARY), (".gitignore", ".worktrees\ntarget\n")],
        library_check: "cargo test --offline --quiet",
        main: &[("src/main.rs", MAIN)],
        main_check: "test \"$(cargo run --offline --quiet)\" = 'Hello, world!'",
    })
    .await;
    let target = stage.ground.path().join("target");
    let mut cargo = Command::new("cargo");
    cargo.args(["run", "--offline", "--quiet"]).current_dir(stage.repo()).env("CARGO_TARGET_DIR", target);
    assert_eq!(said_by(&mut cargo), "Hello, world!\n");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_python_program_is_made_by_three_levels_and_runs() {
    let stage = make(Program {
        library: &[
            ("greeter.py", MODULE),
            ("test_greeter.py", MODULE_TEST),
            (".gitignore", ".worktrees\n__pycache__\n"),
        ],
        library_check: "python3 -m unittest -q",
        main: &[("main.py", SCRIPT)],
        main_check: "test \"$(python3 main.py)\" = 'Hello, world!'",
    })
    .await;
    assert_eq!(said_by(Command::new("python3").arg("main.py").current_dir(stage.repo())), "Hello, world!\n");
    stage.end().await;
}
