//! The server over HTTP: who is let in, and that it is the same server.

use std::sync::Arc;

use mxd_tools::serve::{Door, Endpoint, Token};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::client::{meta, permissions, server};
use crate::scene::Scene;

const TOKEN: &str = "a-token-of-this-test-0123456789";

struct Served {
    address: std::net::SocketAddr,
    serving: JoinHandle<()>,
    _scene: Arc<Scene>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn served(door: Door) -> Served {
    let scene = Arc::new(Scene::new().await);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let endpoint = Endpoint::new(&server(&scene.scope, permissions()), door);
    let serving = tokio::spawn(async move {
        endpoint.listen(listener).await.unwrap();
    });
    Served { address, serving, _scene: scene }
}

/// One request in the stateless era, with these headers instead of the usual ones.
async fn post(served: &Served, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
    let host = served.address.to_string();
    let mut all = vec![
        ("host", host.as_str()),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/list"),
        ("connection", "close"),
    ];
    all.retain(|(name, _)| !headers.iter().any(|(other, _)| other == name));
    all.extend(headers);
    let lines: String = all.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let request = format!("POST {path} HTTP/1.1\r\n{lines}content-length: {}\r\n\r\n{body}", body.len());
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status =
        answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_else(|| panic!("{answer}"));
    (status, answer)
}

fn list() -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta(json!({})) } })
        .to_string()
}

#[tokio::test]
async fn only_who_shows_the_token_is_let_in() {
    let served = served(Door::Token(Token::new(TOKEN).unwrap())).await;
    let bearer = |token: &str| format!("Bearer {token}");
    let (almost, longer, shown) = (bearer(&TOKEN[1..]), bearer(&format!("{TOKEN}x")), bearer(TOKEN));
    for wrong in [
        None,
        Some(""),
        Some(TOKEN),
        Some("Basic x"),
        Some("Bearer "),
        Some(almost.as_str()),
        Some(longer.as_str()),
    ] {
        let headers: Vec<(&str, &str)> = wrong.iter().map(|value| ("authorization", *value)).collect();
        let (status, answer) = post(&served, "/mcp", &headers, &list()).await;
        assert_eq!(status, 401, "{wrong:?}");
        assert!(
            answer.to_lowercase().contains("www-authenticate: bearer") && !answer.contains("bash"),
            "{answer}"
        );
    }
    let (status, answer) = post(&served, "/mcp", &[("authorization", &shown)], &list()).await;
    assert!(status == 200 && answer.contains("\"bash\""), "{answer}");
}

#[tokio::test]
async fn no_page_from_elsewhere_and_no_other_name_is_let_in() {
    let served = served(Door::Open).await;
    for (header, value) in [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("origin", "https://localhost"),
        ("origin", "http://localhost.evil.example"),
        ("origin", "http://127.0.0.1.evil.example:80"),
        ("host", "evil.example"),
        ("host", "127.0.0.1.evil.example"),
    ] {
        let (status, answer) = post(&served, "/mcp", &[(header, value)], &list()).await;
        assert_eq!(status, 403, "{header}: {value}: {answer}");
    }
    let (status, answer) = post(&served, "/mcp", &[("origin", "http://localhost:3000")], &list()).await;
    assert_eq!(status, 200, "a page of this machine: {answer}");
    for (path, status) in [("/", 404), ("/mcp/", 404), ("/other", 404), ("/mcp", 200)] {
        assert_eq!(post(&served, path, &[], &list()).await.0, status, "{path}");
    }
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused_and_the_next_one_works() {
    let served = served(Door::Open).await;
    let long = format!("{{\"x\":\"{}\"}}", "x".repeat(mxd_tools::serve::limits::MAX_MESSAGE_BYTES));
    let (status, _) = post(&served, "/mcp", &[], &long).await;
    assert_eq!(status, 413);
    let (status, _) = post(&served, "/mcp", &[], "no json").await;
    assert!((400..500).contains(&status), "{status}");
    assert_eq!(post(&served, "/mcp", &[], &list()).await.0, 200);
}

#[tokio::test]
async fn closing_the_stream_ends_the_call() {
    let scene = Arc::new(Scene::new().await);
    let mut ear = scene.ear("pipe");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let endpoint = Endpoint::new(&server(&scene.scope, permissions()), Door::Open);
    let serving = tokio::spawn(endpoint.listen(listener));
    let args = json!({ "command": "exec 3>pipe; echo held >&3; exec tail -f /dev/null" });
    let params = json!({ "name": "bash", "arguments": args, "_meta": meta(json!({})) });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: bash\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    assert_eq!(ear.line().await, "held");
    drop(stream);
    ear.silence().await;
    serving.abort();
}

#[test]
fn a_token_that_could_be_guessed_or_not_be_sent_is_none() {
    for bad in ["", "short", "with a space in its middle", "with\na line break in it", &"x".repeat(2_000)] {
        let error = Token::new(bad).unwrap_err();
        assert_eq!(error.given, bad.len());
        assert!(bad.len() < 3 || !error.to_string().contains(bad), "a token is not repeated");
    }
    let fresh = mxd_tools::serve::fresh_token().unwrap();
    assert!(Token::new(&fresh).is_ok() && fresh != mxd_tools::serve::fresh_token().unwrap());
    let shown: Value = json!(format!("{:?}", Token::new(&fresh).unwrap()));
    assert!(!shown.to_string().contains(&fresh));
}
