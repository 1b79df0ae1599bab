//! The program itself: what it prints, writes and exits with.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::client::{messages, one, says, user};

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_rehearse"))
}

fn run(arguments: &[&str]) -> Output {
    program().args(arguments).output().unwrap()
}

fn script(dir: &Path, text: &str) -> String {
    let path = dir.join("script.json");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn check_says_what_is_wrong_and_exits_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let good = script(dir.path(), &one(&json!([says("x")])).to_string());
    let output = run(&["check", &good]);
    assert_eq!((output.status.code(), output.stdout), (Some(0), b"ok: 1 conversations, 1 turns\n".to_vec()));
    let bad = script(dir.path(), "{\n\"conversations\": []}");
    let output = run(&["check", &bad]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        told,
        format!("{bad}:2:18: conversations: a script needs a conversation or a `default_reply`\n")
    );
    let output = run(&["check", "--json", &bad]);
    assert_eq!(output.status.code(), Some(1));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&told["ok"], &told["problems"][0]["line"]), (&json!(false), &json!(2)));
    assert_eq!(run(&["check"]).status.code(), Some(2));
    assert_eq!(run(&["check", "/no/such/file"]).status.code(), Some(1));
}

#[test]
fn schema_prints_json() {
    let output = run(&["schema"]);
    let schema: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(schema["title"], "Script");
}

/// Serves the script, asks once, and ends the program.
fn serve(script: &str, extra: &[&str], body: &Value) -> (Output, String) {
    let mut child = program()
        .args(["serve", script])
        .args(extra)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let first = lines.next().unwrap();
    let address = first.strip_prefix("anthropic http://").unwrap().to_owned();
    assert!(lines.any(|line| line == "ready"));
    let mut stream = TcpStream::connect(address).unwrap();
    let body = body.to_string();
    let head = "POST /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-api-key: k\r\nanthropic-version: v\r\n";
    write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    (child.wait_with_output().unwrap(), answer)
}

#[test]
fn serve_answers_logs_and_reports() {
    let dir = tempfile::tempdir().unwrap();
    let path = script(dir.path(), &one(&json!([says("hello")])).to_string());
    let log = dir.path().join("requests.jsonl");
    let log_name = log.display().to_string();
    let body = messages(&json!([user("hi")]));
    let (output, answer) = serve(&path, &["--log", &log_name, "--bodies"], &body);
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("hello"), "{answer}");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let lines = std::fs::read_to_string(&log).unwrap();
    let noted: Value = serde_json::from_str(&lines).unwrap();
    assert_eq!(
        (&noted["number"], &noted["wire"], &noted["outcome"]),
        (&json!(1), &json!("anthropic"), &json!("replied"))
    );
    assert_eq!((&noted["body"], &noted["shape"]), (&body, &json!(["user text \"hi\""])));

    let path = script(dir.path(), &one(&json!([says("hello"), says("more")])).to_string());
    let (output, _) = serve(&path, &[], &body);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("left over: conversation `#1`: 1 of 2 turns were played"), "{told}");
}

#[test]
fn serve_refuses_a_wrong_script_and_a_taken_port() {
    let dir = tempfile::tempdir().unwrap();
    let bad = script(dir.path(), "{");
    assert_eq!(run(&["serve", &bad]).status.code(), Some(1));
    let good = script(dir.path(), &one(&json!([says("x")])).to_string());
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = run(&["serve", &good, "--port", &port]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8(output.stderr).unwrap().contains(&format!("cannot listen on 127.0.0.1:{port}"))
    );
}
