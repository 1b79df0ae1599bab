//! A small HTTP client that shows what others hide: the chunks as they came, and whether the body was complete.

use std::io::ErrorKind;

use rehearse::{Rehearsal, Script};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A call under way.
pub(crate) struct Call {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) chunks: Vec<Vec<u8>>,
    /// Whether the body ended as it should.
    pub(crate) complete: bool,
}

impl Call {
    pub(crate) async fn send(
        model: &Rehearsal,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Self {
        let mut stream = TcpStream::connect(model.address()).await.unwrap();
        let extra: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: rehearse\r\nconnection: close\r\ncontent-length: {}\r\n{extra}\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(body.as_bytes()).await.unwrap();
        Self { stream, buffer: Vec::new() }
    }

    async fn more(&mut self) -> bool {
        let mut bytes = [0; 4096];
        let read = self.stream.read(&mut bytes).await.unwrap_or(0);
        self.buffer.extend_from_slice(&bytes[..read]);
        read > 0
    }

    /// Takes everything up to and with `end`.
    async fn until(&mut self, end: &[u8]) -> Option<Vec<u8>> {
        loop {
            if let Some(at) = self.buffer.windows(end.len()).position(|window| window == end) {
                return Some(self.buffer.drain(..at + end.len()).collect());
            }
            if !self.more().await {
                return None;
            }
        }
    }

    /// Whether nothing has come that was not taken yet. Ask after another call was answered whole: the server has
    /// one thread, so that whatever it was about to send here is sent by then.
    pub(crate) fn is_silent(&mut self) -> bool {
        let mut bytes = [0; 4096];
        let nothing =
            self.stream.try_read(&mut bytes).is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
        nothing && self.buffer.is_empty()
    }

    pub(crate) async fn head(&mut self) -> (u16, String) {
        let head = self.until(b"\r\n\r\n").await.expect("an answer");
        let head = String::from_utf8(head).unwrap().to_lowercase();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), head)
    }

    /// The next chunk of a chunked body; `None` at its end, and when the connection is cut.
    pub(crate) async fn chunk(&mut self) -> Option<Vec<u8>> {
        let line = self.until(b"\r\n").await?;
        let size = usize::from_str_radix(std::str::from_utf8(&line).unwrap().trim(), 16).unwrap();
        while self.buffer.len() < size + 2 {
            if !self.more().await {
                return None;
            }
        }
        let chunk = self.buffer.drain(..size + 2).take(size).collect();
        Some(chunk)
    }

    pub(crate) async fn answer(mut self) -> Answer {
        let (status, headers) = self.head().await;
        let mut answer = Answer { status, headers, chunks: Vec::new(), complete: false };
        if answer.headers.contains("transfer-encoding: chunked") {
            while let Some(chunk) = self.chunk().await {
                if chunk.is_empty() {
                    answer.complete = true;
                    break;
                }
                answer.chunks.push(chunk);
            }
        } else {
            while self.more().await {}
            answer.chunks.push(self.buffer);
            answer.complete = true;
        }
        answer
    }
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.chunks.concat()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text()).unwrap()
    }

    /// The data of every event that is JSON.
    pub(crate) fn events(&self) -> Vec<Value> {
        let text = self.text();
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        data.filter_map(|data| serde_json::from_str(data).ok()).collect()
    }

    /// The `type` of every event.
    pub(crate) fn kinds(&self) -> Vec<String> {
        self.events().iter().map(|event| event["type"].as_str().unwrap_or("?").to_owned()).collect()
    }
}

/// A rehearsal of this script.
pub(crate) fn rehearsal(script: &Value) -> Rehearsal {
    let script = Script::parse("script", &script.to_string()).unwrap_or_else(|error| panic!("{error}"));
    Rehearsal::start(script).unwrap()
}

/// A script of one conversation that takes any request.
pub(crate) fn one(turns: &Value) -> Value {
    json!({ "conversations": [{ "turns": turns }] })
}

/// A turn that says one text.
pub(crate) fn says(text: &str) -> Value {
    json!({ "reply": { "blocks": [{ "text": text }] } })
}

/// A turn that calls one tool.
pub(crate) fn calls(name: &str, id: &str) -> Value {
    json!({ "reply": { "blocks": [{ "tool_call": { "name": name, "input": { "path": "a" }, "id": id } }] } })
}

pub(crate) const ANTHROPIC: &[(&str, &str)] = &[("x-api-key", "k"), ("anthropic-version", "2023-06-01")];

/// A Messages request.
pub(crate) fn messages(messages: &Value) -> Value {
    json!({ "model": "m", "max_tokens": 100, "messages": messages })
}

/// Asks on the Messages wire.
pub(crate) async fn ask(model: &Rehearsal, body: &Value) -> Answer {
    Call::send(model, "POST", "/v1/messages", ANTHROPIC, &body.to_string()).await.answer().await
}

pub(crate) fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

pub(crate) fn assistant(content: &Value) -> Value {
    json!({ "role": "assistant", "content": content })
}

/// The assistant's call of `read` with this id.
pub(crate) fn called(id: &str) -> Value {
    json!({ "type": "tool_use", "id": id, "name": "read", "input": { "path": "a" } })
}

/// The result of the call with this id.
pub(crate) fn result(id: &str, text: &str) -> Value {
    json!({ "type": "tool_result", "tool_use_id": id, "content": text })
}
