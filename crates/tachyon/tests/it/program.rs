//! The program in a folder of its own: one-shot calls, and an MCP conversation.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A data folder with a configuration.
pub(crate) struct Home {
    pub(crate) folder: TempDir,
    variables: BTreeMap<String, String>,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self::with(json!({}))
    }

    pub(crate) fn with(config: Value) -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap(), variables: BTreeMap::new() };
        home.configure(config);
        home
    }

    pub(crate) fn configure(&self, config: Value) {
        let mut file = std::fs::File::create(self.path("config.json")).unwrap();
        file.write_all(config.to_string().as_bytes()).unwrap();
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path("data")
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tachyon"));
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).envs(&self.variables);
        command.current_dir(self.folder.path());
        command.arg("--config").arg(self.path("config.json")).arg("--data").arg(self.data());
        command
    }

    /// Calls a tool once and gives its envelope.
    pub(crate) fn run(&self, tool: &str, request: Value) -> Value {
        let mut command = self.command();
        let mut child = command
            .args(["run", tool, "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(request.to_string().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let told: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        assert_eq!(output.status.success(), told["ok"] == true, "{told}");
        told
    }

    /// The same, for a call that succeeds.
    pub(crate) fn done(&self, tool: &str, request: Value) -> Value {
        let told = self.run(tool, request);
        assert_eq!(told["ok"], true, "{told:#}");
        told["data"].clone()
    }

    /// The same, for a call that fails with this code.
    pub(crate) fn refused(&self, tool: &str, request: Value, code: &str) -> Value {
        let told = self.run(tool, request);
        assert_eq!(told["error"]["code"], code, "{told:#}");
        told["error"].clone()
    }

    pub(crate) fn mcp(&self) -> Mcp {
        Mcp::start(self.command())
    }

    /// Puts artifacts in the registry, as a compilation would.
    pub(crate) fn keep_artifacts(&self) {
        crate::artifacts::keep(&self.data().join("tenants/local"));
    }
}

/// A conversation with the program over its standard input and output.
pub(crate) struct Mcp {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Mcp {
    fn start(mut command: Command) -> Self {
        let mut child = command
            .arg("--mcp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut mcp = Self { child, input, output, next: 1 };
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "it", "version": "1" },
        });
        let told = mcp.ask("initialize", hello);
        assert_eq!(told["result"]["serverInfo"]["name"], "tachyon-tools", "{told}");
        mcp.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        mcp
    }

    pub(crate) fn say(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        // The program may be gone by now; whoever listens will notice.
        let _ = input
            .write_all(line.as_bytes())
            .and_then(|()| input.write_all(b"\n"))
            .and_then(|()| input.flush());
    }

    /// The next message, unless the program is gone.
    pub(crate) fn hear(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line).unwrap_or(0);
        (read > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        id
    }

    pub(crate) fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.hear().expect("the program ended without an answer");
            if message["id"] == id {
                return message;
            }
        }
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }

    /// Asks for a tool, with progress.
    pub(crate) fn begin(&mut self, tool: &str, request: &Value) -> u64 {
        let params = json!({ "name": tool, "arguments": request, "_meta": { "progressToken": "p" } });
        self.request("tools/call", params)
    }

    /// Says nothing more, and goes on listening.
    pub(crate) fn fall_silent(&mut self) {
        drop(self.input.take());
    }

    /// Closes our end and waits for the other.
    pub(crate) fn close(mut self) -> std::process::ExitStatus {
        drop(self.input.take());
        self.child.wait().unwrap()
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// All lines of a journal, decoded.
pub(crate) fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["record"].clone()).collect()
}
