//! The least that can speak HTTP: one connection that stays, answers by their length, streams by their frames.

use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::time::Instant;

use memchr::memmem;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A connection.
pub(crate) struct Client {
    stream: TcpStream,
    head: String,
    buffer: Vec<u8>,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr, token: &str) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, head: head(address, token), buffer: Vec::new() }
    }

    /// Asks and waits for the answer: its status and its body.
    pub(crate) async fn ask(&mut self, method: &str, path: &str, body: Option<&Value>) -> (u16, String) {
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = request((method, path), &self.head, &body);
        self.stream.write_all(request.as_bytes()).await.unwrap();
        self.answer().await
    }

    async fn answer(&mut self) -> (u16, String) {
        loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                let head = String::from_utf8_lossy(&self.buffer[..end]).to_ascii_lowercase();
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                let length: usize = length.unwrap_or("0").parse().unwrap();
                if self.buffer.len() >= end + 4 + length {
                    let status = head[9..12].parse().unwrap();
                    let body = String::from_utf8_lossy(&self.buffer[end + 4..end + 4 + length]).into_owned();
                    self.buffer.drain(..end + 4 + length);
                    return (status, body);
                }
            }
            assert!(self.stream.read_buf(&mut self.buffer).await.unwrap() > 0, "the connection ended");
        }
    }
}

fn find(bytes: &[u8], mark: &[u8]) -> Option<usize> {
    memmem::find(bytes, mark)
}

/// One request after the other by one thread that waits for each answer itself. Where the time of a single request is
/// measured, waking a second thread of the client would be measured with it.
pub(crate) struct Lone {
    stream: std::net::TcpStream,
    head: String,
    buffer: Vec<u8>,
}

impl Lone {
    pub(crate) fn connect(address: SocketAddr, token: &str) -> Self {
        let stream = std::net::TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, head: head(address, token), buffer: vec![0; 16 << 10] }
    }

    /// Asks and waits for the answer: its status. Answers that short come whole.
    pub(crate) fn post(&mut self, path: &str, body: &Value) -> u16 {
        let request = request(("POST", path), &self.head, &body.to_string());
        self.stream.write_all(request.as_bytes()).unwrap();
        let read = self.stream.read(&mut self.buffer).unwrap();
        let answer = std::str::from_utf8(&self.buffer[..read]).unwrap();
        assert!(answer.ends_with('}'), "an answer in one piece: {answer}");
        answer[9..12].parse().unwrap()
    }
}

fn head(address: SocketAddr, token: &str) -> String {
    format!("host: {address}\r\nauthorization: Bearer {token}\r\n")
}

fn request((method, path): (&str, &str), head: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\n{head}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// A stream of frames.
pub(crate) struct Listener {
    stream: TcpStream,
    buffer: Vec<u8>,
    seen: usize,
    /// Bytes that came since the head of the answer.
    pub(crate) bytes: usize,
}

impl Listener {
    pub(crate) async fn connect((address, token): (SocketAddr, &str), path: &str) -> Self {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\n{}\r\n", head(address, token));
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut listener = Self { stream, buffer: Vec::with_capacity(64 << 10), seen: 0, bytes: 0 };
        while find(&listener.buffer, b"\r\n\r\n").is_none() {
            assert!(listener.stream.read_buf(&mut listener.buffer).await.unwrap() > 0);
        }
        let end = find(&listener.buffer, b"\r\n\r\n").unwrap() + 4;
        listener.buffer.drain(..end);
        listener.bytes = listener.buffer.len();
        listener
    }

    /// Waits for this many frames more. A frame ends with an empty line.
    pub(crate) async fn frames(&mut self, count: usize) {
        let wanted = self.seen + count;
        loop {
            let mut read = 0;
            for end in memmem::find_iter(&self.buffer, b"\n\n") {
                read = end + 2;
                self.seen += 1;
            }
            self.buffer.drain(..read);
            if self.seen >= wanted {
                return;
            }
            let more = self.stream.read_buf(&mut self.buffer).await.unwrap();
            assert!(more > 0, "the stream ended");
            self.bytes += more;
        }
    }
}

/// Requests per second of several connections at once.
#[expect(clippy::cast_precision_loss, reason = "numbers of requests")]
pub(crate) async fn storm(
    (address, token): (SocketAddr, &str),
    path: &str,
    (width, requests): (usize, usize),
) -> f64 {
    let mut clients = Vec::new();
    for _ in 0..width {
        clients.push(Client::connect(address, token).await);
    }
    let begin = Instant::now();
    let each = clients.into_iter().map(|mut client| {
        let path = path.to_owned();
        tokio::spawn(async move {
            for _ in 0..requests / width {
                let (status, _) = client.ask("GET", &path, None).await;
                assert_eq!(status, 200);
            }
        })
    });
    let each: Vec<_> = each.collect();
    for client in each {
        client.await.unwrap();
    }
    requests as f64 / begin.elapsed().as_secs_f64()
}
