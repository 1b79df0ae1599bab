//! The least that could do the same: axum alone, in a process of its own.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::process::Stdio;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Uri, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use bytes::Bytes;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::sync::broadcast;

/// A bare server.
pub(crate) struct Bare {
    _child: Child,
    pub(crate) address: SocketAddr,
}

pub(crate) async fn start() -> Bare {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .arg("--bare")
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    let address = said.next_line().await.unwrap().unwrap().parse().unwrap();
    Bare { _child: child, address }
}

pub(crate) async fn serve() {
    let frames: broadcast::Sender<Bytes> = broadcast::Sender::new(1_024);
    let router = Router::new()
        .route("/hello", get(async || "hello"))
        .route("/stream", get(stream))
        .route("/send", post(send))
        .with_state(frames);
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    println!("{}", listener.local_addr().unwrap());
    axum::serve(listener, router).await.unwrap();
}

async fn stream(State(frames): State<broadcast::Sender<Bytes>>) -> Response {
    let frames = futures_util::stream::unfold(frames.subscribe(), |mut frames| async move {
        let frame = frames.recv().await.ok()?;
        Some((Ok::<_, Infallible>(frame), frames))
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(frames)).into_response()
}

async fn send(State(frames): State<broadcast::Sender<Bytes>>, uri: Uri) -> &'static str {
    let bytes = uri.query().and_then(|query| query.strip_prefix("bytes=")?.parse().ok()).unwrap_or(1_000);
    let frame = Bytes::from(format!("{}\n\n", "x".repeat(bytes - 2)));
    let _nobody = frames.send(frame);
    "sent"
}
