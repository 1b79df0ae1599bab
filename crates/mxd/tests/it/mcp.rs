//! `mxd mcp`, from outside: one process, its standard streams, its ends.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::user::User;
use crate::{mxd, text};

struct Server {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    folder: TempDir,
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        Self::start_as(Path::new(env!("CARGO_BIN_EXE_mxd")), arguments)
    }

    fn start_as(program: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.arg("mcp").args(arguments);
        Self::run(command)
    }

    /// The tools of a user's daemon.
    fn of_the_daemon(user: &User, arguments: &[&str]) -> Self {
        Self::run(user.command(&[&["mcp", "--daemon"], arguments].concat()))
    }

    fn run(mut command: Command) -> Self {
        let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let mut process = command
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (process.stdin.take(), BufReader::new(process.stdout.take().unwrap()));
        Self { process, input, output, folder }
    }

    fn send(&mut self, method: &str, mut params: Value) {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        writeln!(self.input.as_mut().unwrap(), "{request}").unwrap();
    }

    fn call(&mut self, tool: &str, args: Value) -> Value {
        self.send("tools/call", json!({ "name": tool, "arguments": args }));
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// The end of the process after its input was closed; nothing but messages was on its output.
    fn end(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        assert!(rest.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{rest}");
        let mut complaints = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
        (self.process.wait().unwrap().code(), complaints)
    }
}

fn told(answer: &Value) -> String {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[test]
fn another_agent_has_work_done_by_the_daemon_and_outlives_it() {
    let user = User::new(&json!([]));
    assert_eq!(user.run(&["init"]).0, 0);
    let mut server = Server::of_the_daemon(&user, &[]);
    let listed: Value = serde_json::from_str(&told(&server.call("list_projects", json!({})))).unwrap();
    let (project, root) = (listed["id"].clone(), listed["rootId"].clone());
    let made = told(&server.call("create_task", json!({ "project": project, "title": "Paint it" })));
    let task = serde_json::from_str::<Value>(&made).unwrap()["id"].clone();
    let on_task = json!({ "project": project, "task": task });
    let mut message = on_task.clone();
    message["content"] = "Begin.".into();
    told(&server.call("send_message", message));
    assert_eq!(told(&server.call("wait", on_task.clone())), "It rests: in_progress, it waits for a message");
    assert!(told(&server.call("get_logs", on_task.clone())).contains("assistant_text: Noted."));
    let tree = told(&server.call("get_tree", json!({ "project": project })));
    assert!(tree.contains("Paint it") && tree.contains(root.as_str().unwrap()), "{tree}");
    drop(user);
    let refused = server.call("get_task", on_task);
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    let said = told(&refused);
    assert!(said.contains("(unreachable)") && said.contains("`mxd up` starts"), "{said}");
    assert_eq!(server.end(), (Some(0), String::new()));
}

#[test]
fn an_agent_that_only_looks_is_offered_nothing_else() {
    let user = User::alone();
    let mut server = Server::of_the_daemon(&user, &["--read-only"]);
    let refused = server.call("create_task", json!({ "project": "x", "title": "Paint it" }));
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let said = told(&server.call("list_projects", json!({})));
    assert!(said.starts_with("no daemon runs"), "{said}");
    server.end();
}

#[test]
fn the_tools_work_in_the_folder_it_was_started_in() {
    let mut server = Server::start(&[]);
    server.call("write_file", json!({ "path": "a.txt", "content": "hello" }));
    assert_eq!(std::fs::read_to_string(server.folder.path().join("a.txt")).unwrap(), "hello");
    assert!(told(&server.call("bash", json!({ "command": "cat a.txt; ls ~ | wc -l" }))).starts_with("hello"));
    // What is too long to be shown is where the result says.
    let long = told(&server.call("bash", json!({ "command": "seq 10000" })));
    let path =
        long.split("are in ").nth(1).and_then(|rest| rest.split(": read_file").next()).unwrap().to_owned();
    assert!(
        told(&server.call("read_file", json!({ "path": path, "offset": 5_000, "limit": 2 })))
            .contains("5000")
    );
    assert_eq!(server.end(), (Some(0), String::new()));
}

/// Its supervisors are the program that runs, not the one that was installed meanwhile and may want other orders.
#[test]
fn a_program_that_was_replaced_goes_on_with_itself() {
    let place = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let program = place.path().join("mxd");
    std::fs::hard_link(env!("CARGO_BIN_EXE_mxd"), &program).unwrap();
    for level in ["full", "landlock"] {
        let mut server = Server::start_as(&program, &["--sandbox", level]);
        server.call("list_files", json!({}));
        std::fs::rename(&program, place.path().join("older")).unwrap();
        std::fs::copy("/bin/false", &program).unwrap();
        let ran = told(&server.call("bash", json!({ "command": "echo ran" })));
        assert!(ran.starts_with("ran"), "{level}: {ran}");
        server.end();
        std::fs::rename(place.path().join("older"), &program).unwrap();
    }
}

#[test]
fn reading_only_is_held_by_the_list_and_by_the_sandbox() {
    for level in ["full", "off"] {
        let mut server = Server::start(&["--read-only", "--sandbox", level]);
        let refused = server.call("write_file", json!({ "path": "a.txt", "content": "x" }));
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        let shell = server.call("bash", json!({ "command": "touch a.txt" }));
        assert!(shell["result"]["isError"] == true || shell["error"]["code"] == -32602, "{level}: {shell}");
        assert!(!server.folder.path().join("a.txt").exists(), "{level}");
        server.end();
    }
}

#[test]
fn a_class_that_is_asked_about_does_not_run_unasked() {
    let mut server = Server::start(&["--ask", "shell"]);
    let refused = told(&server.call("bash", json!({ "command": "touch ran" })));
    assert!(refused.contains("ask-shell") && refused.contains("elicitation"), "{refused}");
    assert!(!server.folder.path().join("ran").exists());
    assert_eq!(server.call("list_files", json!({}))["result"]["isError"], false);
    server.end();
    let wrong = mxd(&["mcp", "--ask", "everything"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("no side-effect class"), "{}", text(&wrong.stderr));
}

/// The commands hold the writing end of a pipe; its end is the end of all of them.
#[test]
fn everything_ends_with_the_input_and_with_a_signal() {
    for level in ["full", "landlock", "off"] {
        for signalled in [false, true] {
            let mut server = Server::start(&["--sandbox", level]);
            let pipe = server.folder.path().join("pipe");
            assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
            let hold = "exec 3>pipe; echo held >&3; exec tail -f /dev/null";
            let script = format!("(setsid nohup bash -c '{hold}' &) >/dev/null 2>&1; {hold}");
            server.send("tools/call", json!({ "name": "bash", "arguments": { "command": script } }));
            let mut held = BufReader::new(File::open(&pipe).unwrap());
            for _command in 0..2 {
                let mut line = String::new();
                held.read_line(&mut line).unwrap();
                assert_eq!(line, "held\n", "level {level}");
            }
            if signalled {
                let pid = server.process.id().to_string();
                assert!(Command::new("kill").arg(pid).status().unwrap().success());
                assert_eq!(server.process.wait().unwrap().code(), Some(0));
            } else {
                assert_eq!(server.end().0, Some(0));
            }
            assert_eq!(
                held.read_line(&mut String::new()).unwrap(),
                0,
                "level {level}, signalled: {signalled}"
            );
        }
    }
}

#[test]
fn the_selftest_says_what_it_looked_at() {
    let output = mxd(&["mcp", "--selftest", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((report["tools"].as_array().unwrap().len(), &report["findings"]), (7, &json!([])));
    let output = mxd(&["mcp", "--selftest", "--read-only"]);
    let words = text(&output.stdout);
    assert!(
        words.contains("   ok  read_file") && words.contains("   --  write_file (not offered)"),
        "{words}"
    );
}

#[test]
fn over_http_there_is_a_token_and_only_this_machine() {
    let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut process = Command::new(env!("CARGO_BIN_EXE_mxd"))
        .args(["mcp", "--http", "127.0.0.1:0"])
        .current_dir(folder.path())
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut notes = BufReader::new(process.stderr.take().unwrap()).lines();
    let mut note = || notes.next().unwrap().unwrap();
    let (first, second) = (note(), note());
    let token = first.strip_prefix("clients show the token ").unwrap_or_else(|| panic!("{first}")).to_owned();
    let url = second.strip_prefix("MCP at http://").unwrap_or_else(|| panic!("{second}"));
    let address = url.strip_suffix("/mcp").unwrap();
    let ask = |authorization: &str| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } })
            .to_string();
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nhost: {address}\r\n{authorization}content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
             mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/list\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    assert!(ask("").starts_with("HTTP/1.1 401"));
    let answer = ask(&format!("authorization: Bearer {token}\r\n"));
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("write_file"), "{answer}");
    let pid = process.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert_eq!(process.wait().unwrap().code(), Some(0));
    let elsewhere = mxd(&["mcp", "--http", "0.0.0.0:0"]);
    assert_eq!(elsewhere.status.code(), Some(1));
    assert!(text(&elsewhere.stderr).contains("127.0.0.1"), "{}", text(&elsewhere.stderr));
}
