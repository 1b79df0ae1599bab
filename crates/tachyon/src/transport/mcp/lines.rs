//! One message per line, in both directions. What cannot be read is answered with an error, and the conversation goes on.

use std::collections::HashSet;
use std::sync::{Arc, Mutex as StdMutex, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, ClientRequest, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{Mutex, Notify};

use crate::limits;

/// How much of a line that is too long is kept, at both its ends, to find out which request it is.
const KEPT: usize = 4096;

/// Lines from a client and to it.
pub(super) struct Lines<R, W> {
    input: BufReader<R>,
    line: Line,
    output: Arc<Mutex<W>>,
    unanswered: Arc<Unanswered>,
}

/// Requests that have no answer yet.
#[derive(Default)]
struct Unanswered {
    ids: StdMutex<HashSet<RequestId>>,
    changed: Notify,
}

impl Unanswered {
    /// Whether there was room for one more.
    fn add(&self, id: RequestId) -> bool {
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        let room = ids.len() < limits::REQUESTS_WAITING;
        if room {
            ids.insert(id);
        }
        room
    }

    fn remove(&self, id: &RequestId) {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        self.changed.notify_waiters();
    }

    async fn none_left(&self) {
        loop {
            let changed = self.changed.notified();
            if self.ids.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
                return;
            }
            changed.await;
        }
    }
}

/// A line as far as it has come. It outlives the reading of it, which may be interrupted at any time.
#[derive(Default)]
struct Line {
    bytes: Vec<u8>,
    /// Of a line that is too long, its last bytes.
    tail: Vec<u8>,
    length: usize,
}

impl Line {
    fn push(&mut self, bytes: &[u8]) {
        self.length += bytes.len();
        if self.length <= limits::MESSAGE_BYTES {
            self.bytes.extend_from_slice(bytes);
            return;
        }
        self.bytes.truncate(KEPT);
        self.tail.extend_from_slice(bytes);
        if self.tail.len() > KEPT {
            self.tail.drain(..self.tail.len() - KEPT);
        }
    }

    fn is_too_long(&self) -> bool {
        self.length > limits::MESSAGE_BYTES
    }
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send> Lines<R, W> {
    pub(super) fn new(input: R, output: W) -> Self {
        Self {
            input: BufReader::with_capacity(64 << 10, input),
            line: Line::default(),
            output: Arc::new(Mutex::new(output)),
            unanswered: Arc::default(),
        }
    }

    /// The next line without its end; nothing when the client closed its end.
    async fn next_line(&mut self) -> Option<Line> {
        loop {
            let available = self.input.fill_buf().await.ok()?;
            if available.is_empty() {
                let rest = std::mem::take(&mut self.line);
                return (rest.length > 0).then_some(rest);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(available.len());
            self.line.push(&available[..taken]);
            self.input.consume(taken + usize::from(end.is_some()));
            if end.is_some() {
                return Some(std::mem::take(&mut self.line));
            }
        }
    }

    async fn refuse(&mut self, id: Value, code: i32, message: &str) {
        let error = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } });
        let _ = write(&self.output, error.to_string()).await;
    }

    /// The message in a line, unless it is none; then the client is told why.
    async fn read(&mut self, line: Line) -> Option<RxJsonRpcMessage<RoleServer>> {
        if line.is_too_long() {
            let most = limits::MESSAGE_BYTES;
            let message = format!("the message has {} bytes, at most {most} are taken", line.length);
            self.refuse(id_between(&line.bytes, &line.tail), -32600, &message).await;
            return None;
        }
        if line.bytes.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        let error = match serde_json::from_slice(&line.bytes) {
            Ok(message) => match misfit(&message) {
                None => return Some(message),
                Some(id) => {
                    let id = serde_json::to_value(id).unwrap_or_default();
                    self.refuse(id, -32602, "the parameters are not those of this method").await;
                    return None;
                }
            },
            Err(error) => error,
        };
        match serde_json::from_slice::<Value>(&line.bytes) {
            Err(error) => self.refuse(Value::Null, -32700, &format!("not JSON: {error}")).await,
            Ok(json) if json.get("method").is_some() && json.get("id").is_none() => {}
            Ok(json) => {
                let code = if json.get("method").is_some() { -32602 } else { -32600 };
                let id = json.get("id").filter(|id| id.is_string() || id.is_number()).cloned();
                let message = format!("not a message of the protocol: {error}");
                self.refuse(id.unwrap_or_default(), code, &message).await;
            }
        }
        None
    }
}

/// A request of a known method that did not fit it. The SDK takes it for a method of somebody's own.
fn misfit(message: &RxJsonRpcMessage<RoleServer>) -> Option<RequestId> {
    let JsonRpcMessage::Request(request) = message else { return None };
    let ClientRequest::CustomRequest(custom) = &request.request else { return None };
    let known = matches!(custom.method.as_str(), "initialize" | "ping" | "tools/list" | "tools/call");
    known.then(|| request.id.clone())
}

async fn write<W: AsyncWrite + Unpin>(output: &Mutex<W>, mut text: String) -> std::io::Result<()> {
    text.push('\n');
    let mut output = output.lock().await;
    output.write_all(text.as_bytes()).await?;
    output.flush().await
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = std::io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (output, unanswered) = (self.output.clone(), self.unanswered.clone());
        async move {
            let text = serde_json::to_string(&message)?;
            let written = write(&output, text).await;
            match &message {
                JsonRpcMessage::Response(response) => unanswered.remove(&response.id),
                JsonRpcMessage::Error(error) => {
                    if let Some(id) = &error.id {
                        unanswered.remove(id);
                    }
                }
                _ => {}
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let Some(line) = self.next_line().await else {
                // The client said everything it had to say; it still gets its answers.
                self.unanswered.none_left().await;
                return None;
            };
            let Some(message) = self.read(line).await else { continue };
            match &message {
                JsonRpcMessage::Request(request) if !self.unanswered.add(request.id.clone()) => {
                    let id = serde_json::to_value(&request.id).unwrap_or_default();
                    let most = limits::REQUESTS_WAITING;
                    let message = format!("{most} requests wait for their answers; wait for one of them");
                    self.refuse(id, -32000, &message).await;
                    continue;
                }
                JsonRpcMessage::Notification(told) => {
                    if let ClientNotification::CancelledNotification(cancelled) = &told.notification
                        && let Some(id) = &cancelled.params.request_id
                    {
                        self.unanswered.remove(id);
                    }
                }
                _ => {}
            }
            return Some(message);
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.output.lock().await.flush().await
    }
}

/// Which request it was, from the beginning and the end of it: SDKs write the id first or last.
fn id_between(head: &[u8], tail: &[u8]) -> Value {
    let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
    let before_params = head.split("\"params\"").next().unwrap_or_default();
    let first = before_params.find("\"id\"").map(|at| &before_params[at..]);
    let last = tail.rfind("\"id\"").map(|at| &tail[at..]).filter(|rest| !rest.contains(['[', '{']));
    let Some(rest) = first.or(last) else { return Value::Null };
    let value = rest.trim_start_matches("\"id\"").trim_start().trim_start_matches(':');
    let mut values = serde_json::Deserializer::from_str(value).into_iter::<Value>();
    let id = values.next().and_then(Result::ok).filter(|id| id.is_string() || id.is_number());
    id.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_long_line_is_found_at_either_end() {
        let head = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"id":1,"#;
        assert_eq!(id_between(head, b"xxxx\"}}"), json!(7));
        let head = br#"{"method":"tools/call","params":{"name":"x","id":3"#;
        assert_eq!(id_between(head, br#"xxx"}},"jsonrpc":"2.0","id":"a-1"}"#), json!("a-1"));
        assert_eq!(id_between(b"{", b"xxx"), Value::Null);
    }
}
