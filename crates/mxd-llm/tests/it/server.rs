//! A real HTTP server that plays back bytes, as well or as badly as a test wants.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};

/// What a connection does after it has read a request.
#[derive(Clone)]
pub(crate) enum Step {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Sends these bytes in pieces of this size.
    Pieces(Vec<u8>, usize),
    /// Waits until the test opens the gate.
    Gate(Arc<Semaphore>),
    /// Sends nothing more and waits until the client hangs up.
    Hang,
}

/// What the server saw.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// A request: its first line and headers in lower case, and its body.
    Request { head: String, body: String },
    /// The client hung up while the connection hung.
    HungUp,
}

/// A server with one script per connection; the last one is played for all further ones.
pub(crate) struct Server {
    url: String,
    seen: mpsc::Receiver<Seen>,
    requests: Arc<AtomicUsize>,
}

impl Server {
    pub(crate) async fn start(scripts: Vec<Vec<Step>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (tell, seen) = mpsc::channel(256);
        let requests = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&requests);
        tokio::spawn(async move {
            for number in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                let script = scripts.get(number).or(scripts.last()).unwrap().clone();
                let (tell, counter) = (tell.clone(), Arc::clone(&counter));
                tokio::spawn(async move {
                    // A client that hangs up early is no failure of the server.
                    let _ = play(stream, script, tell, counter).await;
                });
            }
        });
        Self { url, seen, requests }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// How many requests came so far.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    /// The next thing it sees.
    pub(crate) async fn seen(&mut self) -> Seen {
        self.seen.recv().await.unwrap()
    }

    /// The next request.
    pub(crate) async fn request(&mut self) -> (String, String) {
        match self.seen().await {
            Seen::Request { head, body } => (head, body),
            Seen::HungUp => panic!("the client hung up"),
        }
    }
}

async fn play(
    mut stream: TcpStream,
    script: Vec<Step>,
    tell: mpsc::Sender<Seen>,
    counter: Arc<AtomicUsize>,
) -> std::io::Result<()> {
    let request = read_request(&mut stream).await?;
    counter.fetch_add(1, Ordering::SeqCst);
    let _ = tell.send(request).await;
    for step in script {
        match step {
            Step::Send(bytes) => stream.write_all(&bytes).await?,
            Step::Pieces(bytes, size) => {
                for piece in bytes.chunks(size) {
                    stream.write_all(piece).await?;
                    stream.flush().await?;
                    tokio::task::yield_now().await;
                }
            }
            Step::Gate(gate) => gate.acquire().await.unwrap().forget(),
            Step::Hang => {
                let mut rest = [0; 64];
                while matches!(stream.read(&mut rest).await, Ok(1..)) {}
                let _ = tell.send(Seen::HungUp).await;
            }
        }
    }
    stream.shutdown().await
}

async fn read_request(stream: &mut TcpStream) -> std::io::Result<Seen> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.map_or(0, |length| length.parse().unwrap());
    while bytes.len() < end + length {
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(Seen::Request { head, body: String::from_utf8_lossy(&bytes[end..]).into_owned() })
}

/// The head of a stream that ends when the connection does.
pub(crate) fn streaming() -> Step {
    Step::Send(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n".to_vec())
}

/// A whole response.
pub(crate) fn answer(status: u16, headers: &str, body: &str) -> Vec<Step> {
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {status} X\r\n{headers}content-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    vec![Step::Send(text.into_bytes())]
}
