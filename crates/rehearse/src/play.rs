//! Playing a cue: the bytes of a reply with its delays, gates and faults.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body as HttpBody, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use tokio::sync::mpsc;
use tokio_stream::Stream;

use crate::gates::Gates;
use crate::limits::CHUNKS_WAITING;
use crate::script::Fault;
use crate::stage::Cue;
use crate::wire::{Body, Trouble, Voice, Wire};

/// One step of a body.
#[derive(Debug, PartialEq)]
enum Step {
    Send(Bytes),
    Gate(String),
    Pause(Duration),
    /// The connection ends.
    Cut,
    /// Nothing more comes.
    Stall,
}

/// Answers a request as the cue says.
pub(crate) async fn play(cue: Cue, gates: Arc<Gates>) -> Response {
    if let Some(gate) = cue.gate.as_ref().filter(|gate| gate.after_chunks == 0) {
        gates.pass(&gate.name).await;
    }
    if cue.delay_ms > 0 {
        tokio::time::sleep(Duration::from_millis(cue.delay_ms)).await;
    }
    match &cue.fault {
        Some(Fault::Status { status, kind, message, retry_after, body }) => {
            let message = message.clone().unwrap_or_else(|| reason(*status));
            let trouble = Trouble { status: *status, kind: kind.clone(), message };
            let text = body.clone().unwrap_or_else(|| cue.wire.error(&trouble, cue.number).to_string());
            let mut response = json(cue.wire, cue.number, *status, HttpBody::from(text));
            let retry_after = retry_after.as_deref().and_then(|value| HeaderValue::from_str(value).ok());
            if let Some(value) = retry_after {
                response.headers_mut().insert(header::RETRY_AFTER, value);
            }
            response
        }
        Some(Fault::StreamError { kind, message, .. }) if !cue.view.stream => {
            let status = if kind.contains("overloaded") { 529 } else { 500 };
            let trouble = Trouble { status, kind: Some(kind.clone()), message: message.clone() };
            refuse(cue.wire, cue.number, &trouble)
        }
        _ => speak(&cue, gates),
    }
}

/// An error response.
pub(crate) fn refuse(wire: Wire, number: u64, trouble: &Trouble) -> Response {
    let body = wire.error(trouble, number).to_string();
    json(wire, number, trouble.status, HttpBody::from(body))
}

fn reason(status: u16) -> String {
    match status {
        529 => "Overloaded".to_owned(),
        _ => {
            let status = StatusCode::from_u16(status).ok();
            status.and_then(|status| status.canonical_reason()).unwrap_or("Error").to_owned()
        }
    }
}

fn json(wire: Wire, number: u64, status: u16, body: HttpBody) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Ok(id) = HeaderValue::from_str(&format!("req_{number:06}")) {
        headers.insert(wire.request_id_header(), id);
    }
    response
}

fn speak(cue: &Cue, gates: Arc<Gates>) -> Response {
    let voice = Voice { reply: &cue.reply, view: &cue.view, cached: cue.cached, number: cue.number };
    let body = cue.wire.speak(&voice);
    let streams = matches!(body, Body::Events(_));
    let steps = steps(cue, body);
    let body = match &steps[..] {
        [Step::Send(whole)] if !streams => HttpBody::from(whole.clone()),
        _ => HttpBody::from_stream(perform(steps, gates)),
    };
    let mut response = json(cue.wire, cue.number, 200, body);
    if streams {
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    }
    response
}

/// The body as steps: chunks, with the gate, the pauses and the fault where the script wants them.
fn steps(cue: &Cue, body: Body) -> Vec<Step> {
    let chunks = chunks(body, cue.chunk_bytes);
    let (until, spoil) = spoil(cue);
    let gate = cue.gate.as_ref().filter(|gate| gate.after_chunks > 0);
    let mut steps = Vec::new();
    let total = chunks.len().min(until);
    for (index, chunk) in chunks.into_iter().take(until).enumerate() {
        if index > 0 && cue.chunk_delay_ms > 0 {
            steps.push(Step::Pause(Duration::from_millis(cue.chunk_delay_ms)));
        }
        steps.push(Step::Send(chunk));
        // A gate behind the end is at the end: the test must not wait for it in vain.
        if let Some(gate) = gate
            .filter(|gate| gate.after_chunks == index + 1)
            .or_else(|| gate.filter(|gate| index + 1 == total && gate.after_chunks > total))
        {
            steps.push(Step::Gate(gate.name.clone()));
        }
    }
    steps.extend(spoil);
    steps
}

/// After how many chunks the fault comes, and what it is.
fn spoil(cue: &Cue) -> (usize, Vec<Step>) {
    match &cue.fault {
        None | Some(Fault::Status { .. }) => (usize::MAX, Vec::new()),
        Some(Fault::StreamError { after_chunks, kind, message }) => {
            let voice = Voice { reply: &cue.reply, view: &cue.view, cached: cue.cached, number: cue.number };
            let trouble = Trouble { status: 500, kind: Some(kind.clone()), message: message.clone() };
            let event = cue.wire.stream_error(&trouble, &voice);
            (*after_chunks, vec![Step::Send(event.into())])
        }
        Some(Fault::Cut { after_chunks }) => (*after_chunks, vec![Step::Cut]),
        Some(Fault::Stall { after_chunks }) => (*after_chunks, vec![Step::Stall]),
        Some(Fault::Garbage { after_chunks, text }) => (*after_chunks, vec![Step::Send(text.clone().into())]),
    }
}

fn chunks(body: Body, bytes: Option<usize>) -> Vec<Bytes> {
    let events = match body {
        Body::Events(events) => events,
        Body::Json(value) => vec![value.to_string()],
    };
    match bytes {
        None => events.into_iter().map(Bytes::from).collect(),
        Some(size) => {
            let whole = events.concat().into_bytes();
            whole.chunks(size.max(1)).map(Bytes::copy_from_slice).collect()
        }
    }
}

/// The body as it is sent, by a task that ends when the client goes away.
fn perform(steps: Vec<Step>, gates: Arc<Gates>) -> Chunks {
    let (sender, receiver) = mpsc::channel(CHUNKS_WAITING);
    tokio::spawn(async move {
        for step in steps {
            let sent = match step {
                Step::Send(chunk) => sender.send(Ok(chunk)).await,
                Step::Cut => sender.send(Err(io::Error::other("cut by the script"))).await,
                Step::Pause(time) => {
                    tokio::time::sleep(time).await;
                    Ok(())
                }
                Step::Gate(name) => {
                    tokio::select! {
                        () = gates.pass(&name) => Ok(()),
                        () = sender.closed() => return,
                    }
                }
                Step::Stall => return sender.closed().await,
            };
            if sent.is_err() {
                return;
            }
        }
    });
    Chunks { receiver, flushed: true }
}

/// Hands out one chunk at a time and lets the connection flush it before the next. Otherwise chunks would be joined,
/// and those before a cut would be lost with the connection.
struct Chunks {
    receiver: mpsc::Receiver<io::Result<Bytes>>,
    flushed: bool,
}

impl Stream for Chunks {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if !self.flushed {
            self.flushed = true;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let next = self.receiver.poll_recv(context);
        self.flushed = next.is_pending();
        next
    }
}
