//! A model that answers at once and notes when it was asked and when it had answered.
//!
//! Which turn a request is for is read from the request itself: it holds as many tool results as turns were played. So
//! the same request gets the same answer, whoever asks.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use regex::bytes::Regex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::wires;

/// The model and its notes.
pub(crate) struct Model {
    pub(crate) address: SocketAddr,
    notes: Arc<Notes>,
}

/// When a conversation asked and was answered, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Talk {
    pub(crate) asked: Vec<Instant>,
    pub(crate) answered: Vec<Instant>,
}

#[derive(Debug)]
struct Notes {
    /// Turns with a tool call; then the conversation rests.
    turns: AtomicUsize,
    talks: Mutex<HashMap<String, Talk>>,
    asked: watch::Sender<usize>,
    /// From this turn on nothing is answered.
    silent_from: AtomicUsize,
    names: Regex,
    results: Regex,
}

impl Model {
    /// A model whose conversations call a tool so many times.
    pub(crate) fn start(turns: usize) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let notes = Arc::new(Notes {
            turns: AtomicUsize::new(turns),
            talks: Mutex::default(),
            asked: watch::Sender::new(0),
            silent_from: AtomicUsize::new(usize::MAX),
            names: Regex::new("agent-[0-9]{4}").unwrap(),
            results: Regex::new(wires::RESULTS).unwrap(),
        });
        let own = Arc::clone(&notes);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).unwrap();
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(serve(stream, Arc::clone(&own)));
                }
            });
        });
        Self { address, notes }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From this turn on requests are heard and not answered.
    pub(crate) fn fall_silent_from(&self, turn: usize) {
        self.notes.silent_from.store(turn, Ordering::SeqCst);
    }

    /// Forgets what was asked so far.
    pub(crate) fn forget(&self) {
        self.notes.talks.lock().unwrap().clear();
        self.notes.asked.send_replace(0);
    }

    /// Waits until so many requests have come since the last time everything was forgotten.
    pub(crate) fn wait_for(&self, requests: usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut asked = self.notes.asked.subscribe();
        runtime.block_on(asked.wait_for(|asked| *asked >= requests)).unwrap();
    }

    pub(crate) fn talks(&self) -> Vec<Talk> {
        self.notes.talks.lock().unwrap().values().cloned().collect()
    }
}

async fn serve(mut stream: TcpStream, notes: Arc<Notes>) {
    let _ = stream.set_nodelay(true);
    let mut buffer = Vec::new();
    while let Some((path, body)) = request(&mut stream, &mut buffer).await {
        let name = notes.names.find(&body).map(|name| String::from_utf8_lossy(name.as_bytes()).into_owned());
        let name = name.unwrap_or_default();
        let now = Instant::now();
        notes.talks.lock().unwrap().entry(name.clone()).or_default().asked.push(now);
        notes.asked.send_modify(|asked| *asked += 1);
        let turn = notes.results.find_iter(&body).count();
        if turn >= notes.silent_from.load(Ordering::SeqCst) {
            continue;
        }
        let over = turn >= notes.turns.load(Ordering::SeqCst);
        let reply = wires::reply(&path, &body, &wires::Turn { name: &name, turn, over });
        let kind = if reply.starts_with('{') { "application/json" } else { "text/event-stream" };
        let length = reply.len();
        let answer =
            format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n{reply}");
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
        notes.talks.lock().unwrap().entry(name).or_default().answered.push(Instant::now());
    }
}

/// The path and the body of the next request; none when the client is gone.
async fn request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<(String, Vec<u8>)> {
    loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&buffer[..end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
            let mut body = buffer.split_off(end + 4);
            buffer.clear();
            body.reserve(length.saturating_sub(body.len()));
            while body.len() < length {
                if stream.read_buf(&mut body).await.ok()? == 0 {
                    return None;
                }
            }
            buffer.extend(body.drain(length..));
            let path = head.split_whitespace().nth(1).unwrap_or_default();
            let path = path.split('?').next().unwrap_or_default().to_owned();
            return Some((path, body));
        }
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
}
