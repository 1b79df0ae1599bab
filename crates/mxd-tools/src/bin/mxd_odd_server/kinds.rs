//! The kinds of misbehaviour.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::speech::{Speech, complain};

/// Enough of something that a limit has to hold.
pub(crate) const FLOOD: usize = 5_000;

/// How this server behaves.
pub(crate) struct Kind {
    pub(crate) name: String,
    pub(crate) extra: String,
    pub(crate) calls: usize,
    pub(crate) pages: usize,
    pub(crate) tools_asked: usize,
    pub(crate) withdrawn: usize,
    /// The call that waits for an answer of the client.
    pub(crate) pending: Option<Value>,
}

/// Takes its time, in milliseconds.
fn wait(late: u64) {
    let (_nobody_sends, never) = std::sync::mpsc::sync_channel::<()>(0);
    let _late = never.recv_timeout(std::time::Duration::from_millis(late));
}

impl Kind {
    pub(crate) fn new(name: &str, extra: String) -> Self {
        Self { name: name.to_owned(), extra, calls: 0, pages: 0, tools_asked: 0, withdrawn: 0, pending: None }
    }

    pub(crate) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    fn is_modern(&self) -> bool {
        self.name.starts_with("modern")
    }

    /// What it does before anybody says anything.
    pub(crate) fn begin(&self, speech: &Speech) {
        match self.name.as_str() {
            "noise-first" => {
                speech.line("Starting up…\n{\"level\":\"info\"}\n[1,2,3]\n\n   \nReady!");
            }
            "only-noise" => while speech.line("la la la") {},
            "exits-at-once" => {
                complain("cannot find the configuration\n");
                std::process::abort();
            }
            "starts-late" => wait(self.extra.parse().unwrap_or_default()),
            "modern-starts-late" => wait(1_000),
            "floods-stderr" => {
                std::thread::spawn(|| {
                    for _ in 0..FLOOD {
                        complain("something is terribly wrong, again and again and again\n");
                    }
                });
            }
            "forks-children" => {
                let script = format!(
                    "setsid sh -c 'exec -a {} sleep 1000' >/dev/null 2>&1 & exec -a {} sleep 1000",
                    self.extra, self.extra
                );
                let _child = Command::new("bash").args(["-c", &script]).stdin(Stdio::null()).spawn();
            }
            _ => {}
        }
    }

    /// What it does when its input ends.
    pub(crate) fn end(&self) {
        if self.is("ignores-the-end") {
            loop {
                std::thread::park();
            }
        }
    }

    /// What it does with a message; a number is its end.
    pub(crate) fn hear(&mut self, message: &Value, speech: &Speech) -> Option<u8> {
        let Some(method) = message.get("method").and_then(Value::as_str) else {
            // Whoever repeats a giant number to it has taken it.
            if self.is("asks-with-a-giant-number") && message.get("id").is_some_and(Value::is_string) {
                return Some(11);
            }
            if let Some(call) = self.pending.take() {
                speech.text(&call, &format!("hi: {message}"));
            }
            return None;
        };
        if method == "notifications/cancelled" {
            self.withdrawn += 1;
        }
        let id = message.get("id")?;
        if self.is("silent") || (self.is("silent-at-first") && method == "server/discover") {
            return None;
        }
        match method {
            "server/discover" => return self.discover(id, speech),
            "initialize" => return self.initialize(id, speech),
            "tools/list" => self.list(id, message, speech),
            "tools/call" => return self.call(id, message, speech),
            "ping" if self.is("stops-answering") => {}
            "ping" => drop(speech.result(id, &json!({}))),
            "subscriptions/listen" => drop(speech.notice("notifications/tools/list_changed", &json!({}))),
            "resources/list" => return self.resources(id, speech),
            "resources/templates/list" => self.templates(id, speech),
            "resources/read" => return self.read(id, message, speech),
            "prompts/list" => self.prompts(id, speech),
            _ => drop(speech.error(id, -32_601, "no such method")),
        }
        None
    }

    fn capabilities(&self, hears: bool) -> Value {
        let tools = json!({ "listChanged": hears });
        match self.is("shelfless") {
            true => json!({ "tools": tools }),
            false => json!({ "tools": tools, "resources": {}, "prompts": {} }),
        }
    }

    fn discover(&self, id: &Value, speech: &Speech) -> Option<u8> {
        match self.name.as_str() {
            "dies-when-probed" => return Some(5),
            "modern-other-versions" => {
                let error =
                    json!({ "code": -32_022, "message": "no", "data": { "supported": ["2031-01-01"] } });
                speech.message(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
            }
            _ if self.is_modern() => {
                let result = json!({
                    "supportedVersions": ["2026-07-28"],
                    "capabilities": self.capabilities(self.is("modern-drift")),
                    "resultType": "complete",
                });
                speech.result(id, &result);
            }
            _ => drop(speech.error(id, -32_601, "no such method")),
        }
        None
    }

    fn initialize(&self, id: &Value, speech: &Speech) -> Option<u8> {
        let version = if self.is("version-nonsense") { "1999-99-99" } else { "2025-06-18" };
        let result = json!({
            "protocolVersion": version,
            "capabilities": self.capabilities(true),
            "serverInfo": { "name": "odd", "version": "1" },
        });
        match self.name.as_str() {
            "dies-in-the-greeting" => {
                complain("segmentation what?\n");
                return Some(3);
            }
            "greets-with-a-string" => drop(speech.result(id, &json!("hello"))),
            "greets-with-nothing" => drop(speech.result(id, &Value::Null)),
            "greets-in-a-batch" => {
                speech.message(&json!([{ "jsonrpc": "2.0", "id": id, "result": result }]));
            }
            "greets-in-latin-1" => {
                speech.raw(b"{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":\"gr\xfc\xdfe\"}\n");
            }
            "greets-with-nul" => {
                speech.raw(
                    format!("{}\0\n", json!({ "jsonrpc": "2.0", "id": id, "result": result })).as_bytes(),
                );
            }
            "greets-with-a-giant-line" => {
                speech.raw(&vec![b'x'; 3 << 20]);
            }
            "greets-somebody-else" => drop(speech.result(&json!(4711), &result)),
            "greets-by-string" => drop(speech.result(&json!(id.to_string()), &result)),
            _ if self.is_modern() => drop(speech.error(id, -32_022, "no greetings here")),
            "refuses" => drop(speech.error(id, -32_000, "not today")),
            _ => drop(speech.result(id, &result)),
        }
        None
    }
}
