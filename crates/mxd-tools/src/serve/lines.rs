//! One message per line, in both directions. What cannot be read is answered with an error, and the conversation goes on.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, ClientRequest, ErrorCode, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage, serve_directly};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Sleep;
use tokio_util::sync::CancellationToken;

use super::flight::{Flight, Refused};
use super::limits::{KEPT_BYTES, LINGER, MAX_MESSAGE_BYTES, MAX_UNANSWERED, MAX_WAITING_LINES};
use super::server::Server;
use super::session::Session;

/// Serves one client until it closes its end, then ends everything its calls have started.
///
/// Calls that run when it closes its end have a moment to be answered: what is written into a pipe all at once is
/// answered, too.
pub async fn stdio(
    server: Server,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) {
    let gone = CancellationToken::new();
    let (lines, waiting) = mpsc::channel(MAX_WAITING_LINES);
    let writer = tokio::spawn(write(output, waiting, gone.clone()));
    let transport = Lines {
        input: BufReader::with_capacity(64 << 10, input),
        line: Line::default(),
        refusal: None,
        lines,
        flight: Arc::default(),
        gone,
        end: server.end().clone(),
        patience: None,
    };
    // The handshake is one request among others here, so that nothing a client sends instead of it ends the server.
    let running = serve_directly(Session::new(server.clone()), transport, None);
    let _reason = running.waiting().await;
    server.close().await;
    // A client that does not read is not waited for.
    let rest = writer.abort_handle();
    if tokio::time::timeout(LINGER, writer).await.is_err() {
        rest.abort();
    }
}

/// Lines from a client and to it.
struct Lines<R> {
    input: BufReader<R>,
    line: Line,
    /// An answer of our own that still has to be handed to the writer.
    refusal: Option<String>,
    lines: mpsc::Sender<Outgoing>,
    flight: Arc<Flight>,
    gone: CancellationToken,
    end: CancellationToken,
    /// How long answers are still waited for, once the client has closed its end.
    patience: Option<Pin<Box<Sleep>>>,
}

/// A line that is to be written, and who waits for that.
struct Outgoing {
    text: String,
    written: Option<oneshot::Sender<io::Result<()>>>,
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
        if self.length <= MAX_MESSAGE_BYTES {
            self.bytes.extend_from_slice(bytes);
            return;
        }
        if self.tail.is_empty() {
            self.tail = self.bytes.split_off(self.bytes.len().min(KEPT_BYTES));
            self.bytes.shrink_to_fit();
        }
        self.tail.extend_from_slice(bytes);
        self.tail.drain(..self.tail.len().saturating_sub(KEPT_BYTES));
    }

    fn is_too_long(&self) -> bool {
        self.length > MAX_MESSAGE_BYTES
    }
}

impl<R: AsyncRead + Unpin + Send> Lines<R> {
    /// The next line without its end; nothing when the client closed its end.
    async fn next_line(&mut self) -> Option<Line> {
        loop {
            let available = self.input.fill_buf().await.ok()?;
            if available.is_empty() {
                let rest = std::mem::take(&mut self.line);
                return (rest.length > 0).then_some(rest);
            }
            let end = memchr::memchr(b'\n', available);
            let taken = end.unwrap_or(available.len());
            self.line.push(&available[..taken]);
            self.input.consume(taken + usize::from(end.is_some()));
            if end.is_some() {
                return Some(std::mem::take(&mut self.line));
            }
        }
    }

    /// The next message. What is none leaves a refusal behind.
    async fn next_message(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if self.refusal.is_some() {
                let place = self.lines.reserve().await.ok()?;
                if let Some(text) = self.refusal.take() {
                    place.send(Outgoing { text, written: None });
                }
            }
            let line = self.next_line().await?;
            match read(&line).and_then(|message| admit(message, &self.flight)) {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(refusal) => self.refusal = Some(refusal.in_json()),
            }
        }
    }
}

/// The answer to what is no message, or not one that can be taken.
#[derive(Debug, PartialEq)]
struct Refusal {
    id: Value,
    code: ErrorCode,
    message: String,
}

impl Refusal {
    fn in_json(&self) -> String {
        let error = json!({ "code": self.code.0, "message": self.message });
        json!({ "jsonrpc": "2.0", "id": self.id, "error": error }).to_string()
    }
}

/// The message of a line; nothing when the line is empty or nobody waits for an answer to it.
fn read(line: &Line) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Refusal> {
    let refuse = |id: Value, code, message: String| Err(Refusal { id, code, message });
    if line.is_too_long() {
        let what = format!("the message has {} bytes, at most {MAX_MESSAGE_BYTES} are taken", line.length);
        return refuse(id_between(&line.bytes, &line.tail), ErrorCode::INVALID_REQUEST, what);
    }
    if line.bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let error = match serde_json::from_slice(&line.bytes) {
        Ok(message) => match misfit(&message) {
            None => return Ok(Some(message)),
            Some(id) => {
                let what = "the parameters are not those of this method".to_owned();
                return refuse(serde_json::to_value(id).unwrap_or_default(), ErrorCode::INVALID_PARAMS, what);
            }
        },
        Err(error) => error,
    };
    match serde_json::from_slice::<Value>(&line.bytes) {
        Err(error) => refuse(Value::Null, ErrorCode::PARSE_ERROR, format!("not JSON: {error}")),
        Ok(Value::Array(_)) => {
            let what = "batches are not part of the protocol; send one message per line".to_owned();
            refuse(Value::Null, ErrorCode::INVALID_REQUEST, what)
        }
        // A notification is never answered, not even a wrong one.
        Ok(json) if json.get("method").is_some() && json.get("id").is_none() => Ok(None),
        Ok(json) => {
            let id = json.get("id").filter(|id| id.is_string() || id.is_i64()).cloned().unwrap_or_default();
            let is_request = json["jsonrpc"] == "2.0" && json["method"].is_string() && !id.is_null();
            // Only its parameters can be wrong then: the SDK takes every method.
            let code = if is_request { ErrorCode::INVALID_PARAMS } else { ErrorCode::INVALID_REQUEST };
            refuse(id, code, format!("not a message of the protocol: {error}"))
        }
    }
}

/// A request of a known method that did not fit it. The SDK takes it for a method of somebody's own.
fn misfit(message: &RxJsonRpcMessage<RoleServer>) -> Option<RequestId> {
    let JsonRpcMessage::Request(request) = message else { return None };
    let ClientRequest::CustomRequest(custom) = &request.request else { return None };
    let known = ["initialize", "ping", "server/discover", "tools/list", "tools/call"];
    known.contains(&custom.method.as_str()).then(|| request.id.clone())
}

/// Takes note of a message that is passed on.
fn admit(
    message: Option<RxJsonRpcMessage<RoleServer>>,
    flight: &Flight,
) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Refusal> {
    match &message {
        Some(JsonRpcMessage::Request(request)) => {
            flight.take(&request.id).map_err(|refused| refuse(&request.id, refused))?;
        }
        Some(JsonRpcMessage::Notification(told)) => {
            if let ClientNotification::CancelledNotification(cancelled) = &told.notification
                && let Some(id) = &cancelled.params.request_id
            {
                flight.cancelled(id);
            }
        }
        Some(_) | None => {}
    }
    Ok(message)
}

fn refuse(id: &RequestId, refused: Refused) -> Refusal {
    match refused {
        // The number belongs to the first request, and so does the answer that carries it.
        Refused::Repeated => Refusal {
            id: Value::Null,
            code: ErrorCode::INVALID_REQUEST,
            message: format!("the id {id} is in use; every request needs its own"),
        },
        Refused::TooMany => Refusal {
            id: serde_json::to_value(id).unwrap_or_default(),
            code: ErrorCode::INTERNAL_ERROR,
            message: format!("{MAX_UNANSWERED} requests wait for their answers; wait for some of them"),
        },
    }
}

/// Writes one line after the other, each with its own flush.
async fn write(
    mut output: impl AsyncWrite + Unpin,
    mut waiting: mpsc::Receiver<Outgoing>,
    gone: CancellationToken,
) {
    while let Some(Outgoing { mut text, written }) = waiting.recv().await {
        text.push('\n');
        let result = match output.write_all(text.as_bytes()).await {
            Ok(()) => output.flush().await,
            Err(error) => Err(error),
        };
        if result.is_err() {
            gone.cancel();
        }
        if let Some(written) = written {
            let _nobody_waits = written.send(result);
        }
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> Transport<RoleServer> for Lines<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        // A client that has read an answer may use its number again at once, so this comes before.
        match &message {
            JsonRpcMessage::Response(response) => self.flight.answered(&response.id),
            JsonRpcMessage::Error(error) => error.id.iter().for_each(|id| self.flight.answered(id)),
            _ => {}
        }
        let lines = self.lines.clone();
        async move {
            let text = serde_json::to_string(&message)?;
            let (written, done) = oneshot::channel();
            // Without a writer nobody answers here either.
            drop(lines.send(Outgoing { text, written: Some(written) }).await);
            done.await.unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()))
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let (gone, end, flight) = (self.gone.clone(), self.end.clone(), self.flight.clone());
        let message = tokio::select! {
            message = self.next_message() => message,
            () = gone.cancelled() => None,
            () = end.cancelled() => None,
        };
        if message.is_none() {
            let patience = self.patience.get_or_insert_with(|| Box::pin(tokio::time::sleep(LINGER)));
            tokio::select! {
                () = flight.landed() => {}
                () = gone.cancelled() => {}
                () = patience => {}
            }
            end.cancel();
        }
        message
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
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
    let id = values.next().and_then(Result::ok).filter(|id| id.is_string() || id.is_i64());
    id.unwrap_or_default()
}
