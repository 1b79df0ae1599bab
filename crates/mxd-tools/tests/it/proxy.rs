//! The proxy, with real sockets: what reaches a host, what does not, and what is remembered.
#![expect(clippy::unwrap_used, reason = "a panic is how a test speaks")]

mod access;
mod asking;
mod ends;
mod forwarder;
mod http;
mod limits;
mod properties;
mod strangers;
mod tunnels;

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mxd_core::time::Millis;
use mxd_tools::proxy::{Answers, HostRules, Limits, Listen, Options, Proxy, Resolver, Visit};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::mpsc;

/// The name under which origins of these tests are known.
const SITE: &str = "site.test";

pub(crate) fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// A proxy at a socket file.
struct Fixture {
    proxy: Proxy,
    reports: mpsc::Receiver<Visit>,
    folder: TempDir,
}

fn socket(folder: &TempDir) -> PathBuf {
    folder.path().join("private/proxy.sock")
}

fn options(rules: HostRules, listen: Listen) -> Options {
    Options {
        policy: Arc::new(rules),
        listen,
        limits: Limits::default(),
        resolver: Resolver::Fixed(Answers::default().then(SITE, &[ip("127.0.0.1")])),
        clock: || Millis(42),
        reports: None,
    }
}

impl Fixture {
    async fn new(rules: HostRules) -> Self {
        Self::with(rules, |_| {}).await
    }

    async fn with(rules: HostRules, change: impl FnOnce(&mut Options)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (sender, reports) = mpsc::channel(4096);
        let mut options = options(rules, Listen::Unix { socket: socket(&folder), port: 3128 });
        options.reports = Some(sender);
        change(&mut options);
        Self { proxy: Proxy::start(options).await.unwrap(), reports, folder }
    }

    async fn connect(&self) -> UnixStream {
        UnixStream::connect(socket(&self.folder)).await.unwrap()
    }

    /// Sends bytes, closes that side, and gives all that comes back.
    async fn ask(&self, request: &str) -> String {
        let mut stream = self.connect().await;
        // A proxy that has said its no may close before everything is sent.
        let _ = stream.write_all(request.as_bytes()).await;
        let _ = stream.shutdown().await;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    async fn visit(&mut self) -> Visit {
        self.reports.recv().await.unwrap()
    }
}

/// The rules under which an origin is reached by its name.
fn rules_for(origin: &Origin) -> HostRules {
    HostRules::default().allow_private(&format!("{SITE}:{}", origin.port)).unwrap()
}

/// A server that keeps what it is sent and gives the same answer to everybody.
struct Origin {
    port: u16,
    requests: mpsc::Receiver<String>,
    connections: Arc<AtomicUsize>,
}

impl Origin {
    async fn answering(answer: &'static str) -> Self {
        Self::at("127.0.0.1:0", answer).await
    }

    async fn hello() -> Self {
        Self::answering("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").await
    }

    async fn at(address: &str, answer: &'static str) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, requests) = mpsc::channel(64);
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                count.fetch_add(1, Ordering::SeqCst);
                let sender = sender.clone();
                tokio::spawn(async move {
                    let request = read_request(&mut stream).await;
                    sender.send(request).await.unwrap();
                    let _ = stream.write_all(answer.as_bytes()).await;
                    let _ = stream.shutdown().await;
                });
            }
        });
        Self { port, requests, connections }
    }

    async fn request(&mut self) -> String {
        self.requests.recv().await.unwrap()
    }

    fn visitors(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Reads a head and the body it announces.
async fn read_request(stream: &mut TcpStream) -> String {
    let mut request = read_head(stream).await;
    let lower = request.to_ascii_lowercase();
    if let Some((_, length)) = lower.split_once("content-length: ") {
        let mut body = vec![0; length.lines().next().unwrap().parse().unwrap()];
        stream.read_exact(&mut body).await.unwrap();
        request.push_str(&String::from_utf8(body).unwrap());
    } else if lower.contains("transfer-encoding: chunked") {
        while !request.ends_with("0\r\n\r\n") {
            request.push(char::from(stream.read_u8().await.unwrap()));
        }
    }
    request
}

/// Reads up to the empty line and no further.
async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(char::from(byte)),
            Err(_) => break,
        }
    }
    head
}

fn get(authority: &str) -> String {
    format!("GET http://{authority}/ HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n")
}

fn status(answer: &str) -> u16 {
    let words = answer.strip_prefix("HTTP/1.1 ").or_else(|| answer.strip_prefix("HTTP/1.0 "));
    words.unwrap_or_else(|| panic!("no answer: {answer:?}"))[..3].parse().unwrap()
}

fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").unwrap().1
}
