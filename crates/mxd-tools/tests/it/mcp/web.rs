//! A service of HTTP that does what it is told to, byte for byte.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) verb: String,
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
}

impl Asked {
    pub(crate) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// A response: what is written, and whether the connection stays open behind it.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) bytes: Vec<u8>,
    pub(crate) stays_open: bool,
}

impl Reply {
    pub(crate) fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), stays_open: false }
    }

    pub(crate) fn status(status: &str, headers: &str, body: &str) -> Self {
        let length = body.len();
        Self::raw(format!(
            "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
        ))
    }

    pub(crate) fn json(headers: &str, body: &Value) -> Self {
        Self::status("200 OK", &format!("content-type: application/json\r\n{headers}"), &body.to_string())
    }

    pub(crate) fn events(events: &str) -> Self {
        let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n";
        Self::raw(format!("{head}{events}"))
    }

    pub(crate) fn open(mut self) -> Self {
        self.stays_open = true;
        self
    }
}

type Script = Arc<dyn Fn(&Asked) -> Reply + Send + Sync>;

/// A running service. What it was asked is remembered.
pub(crate) struct Web {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    _tasks: JoinSet<()>,
}

impl Web {
    pub(crate) async fn new(script: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, script): (Arc<Mutex<Vec<Asked>>>, Script) = (Arc::default(), Arc::new(script));
        let mut tasks = JoinSet::new();
        let remembered = Arc::clone(&asked);
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, Arc::clone(&script), Arc::clone(&remembered)));
            }
        });
        Self { address, asked, _tasks: tasks }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(stream: TcpStream, script: Script, remembered: Arc<Mutex<Vec<Asked>>>) {
    let mut stream = BufReader::new(stream);
    let Some(asked) = read(&mut stream).await else { return };
    let reply = script(&asked);
    remembered.lock().unwrap().push(asked);
    if stream.get_mut().write_all(&reply.bytes).await.is_ok() && reply.stays_open {
        // Until the other side has had enough.
        let _closed = stream.read(&mut [0; 1]).await;
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Asked> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok().filter(|read| *read > 0)?;
    let mut words = line.split(' ').map(str::to_owned);
    let (verb, path) = (words.next()?, words.next()?);
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(Asked { verb, path, headers, body: serde_json::from_slice(&body).unwrap_or_default() })
}
