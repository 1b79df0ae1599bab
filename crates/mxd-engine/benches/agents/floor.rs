//! The floor: the least that an agent can do. It asks over one connection, syncs every event to disk, runs `bash` as it
//! is, and asks again with everything that was said. No sandbox, no tree, no recovery.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::Path;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// `work <agents>` or `resume`.
pub(crate) fn run(address: &str, folder: &Path, work: &[&str]) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        match work {
            ["work", agents] => {
                let agents: usize = agents.parse().unwrap();
                let all = (0..agents).map(|agent| tokio::spawn(Loop::open(address, folder, agent).work()));
                for agent in all.collect::<Vec<_>>() {
                    agent.await.unwrap();
                }
            }
            ["resume"] => {
                let mut agent = Loop::open(address, folder, 0);
                let mut stream = TcpStream::connect(address).await.unwrap();
                agent.ask(&mut stream).await;
            }
            other => panic!("unknown work: {other:?}"),
        }
    });
    println!("rest");
    let _ended = std::io::stdin().read_to_end(&mut Vec::new());
}

struct Loop {
    address: String,
    messages: Vec<String>,
    file: File,
}

impl Loop {
    fn open(address: &str, folder: &Path, agent: usize) -> Self {
        let path = folder.join(format!("{agent}.jsonl"));
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        let messages: Vec<String> = written.lines().map(str::to_owned).collect();
        let file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        let mut agent_loop = Self { address: address.to_owned(), messages, file };
        if agent_loop.messages.is_empty() {
            let first = format!("You are agent-{agent:04}. Begin.");
            agent_loop.keep(&json!({ "role": "user", "content": first }));
        }
        agent_loop
    }

    fn keep(&mut self, message: &Value) {
        let line = message.to_string();
        self.file.write_all(format!("{line}\n").as_bytes()).unwrap();
        self.file.sync_data().unwrap();
        self.messages.push(line);
    }

    async fn work(mut self) {
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        loop {
            let Some((id, name, input)) = self.ask(&mut stream).await else { return };
            let call = json!({ "type": "tool_use", "id": id, "name": name, "input": input });
            self.keep(&json!({ "role": "assistant", "content": [call] }));
            let command = input["command"].as_str().unwrap();
            let output = tokio::process::Command::new("bash").args(["-c", command]).output().await.unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let result = json!({ "type": "tool_result", "tool_use_id": id, "content": text });
            self.keep(&json!({ "role": "user", "content": [result] }));
        }
    }

    /// Asks; the call that is answered, if it is one.
    async fn ask(&mut self, stream: &mut TcpStream) -> Option<(String, String, Value)> {
        let messages = self.messages.join(",");
        let body =
            format!("{{\"model\":\"floor\",\"max_tokens\":1000,\"stream\":true,\"messages\":[{messages}]}}");
        let head =
            format!("POST /v1/messages HTTP/1.1\r\nhost: floor\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"\"message_stop\"}\n\n") {
            assert!(stream.read_buf(&mut answer).await.unwrap() > 0, "the model is gone");
        }
        let answer = String::from_utf8(answer).unwrap();
        let events = answer.lines().filter_map(|line| line.strip_prefix("data: "));
        let (mut call, mut input) = (Value::Null, String::new());
        for event in events.map(|event| serde_json::from_str::<Value>(event).unwrap()) {
            match event["type"].as_str() {
                Some("content_block_start") => call = event["content_block"].clone(),
                Some("content_block_delta") => {
                    input.push_str(event["delta"]["partial_json"].as_str().unwrap_or_default());
                }
                _ => {}
            }
        }
        let word = |key: &str| Some(call[key].as_str()?.to_owned());
        Some((word("id")?, word("name")?, serde_json::from_str(&input).unwrap()))
    }
}
