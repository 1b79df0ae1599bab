//! Clients that misbehave: slow, endless, half gone. Nobody else is disturbed.

use mxd_server::limits;
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::stage::{PATIENCE, Stage, reply};

async fn raw(stage: &Stage, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(stage.running().address()).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    stream
}

async fn answered(mut stream: TcpStream) -> String {
    let mut bytes = vec![0; 4_096];
    let count = tokio::time::timeout(PATIENCE, stream.read(&mut bytes)).await.unwrap().unwrap();
    String::from_utf8_lossy(&bytes[..count]).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_beyond_the_limit_are_refused_before_they_are_read() {
    let stage = Stage::set(json!([])).await;
    let huge = "x".repeat(limits::BODY_BYTES + 1);
    let request = stage.ask(Method::POST, &stage.of("/tasks")).header("content-type", "application/json");
    let (status, body) = reply(request.body(huge)).await;
    assert_eq!((status, &body["error"]["code"]), (413, &json!("too_large")));
    // One that only says that it is huge is not waited for.
    let token = &stage.running().contact().token;
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\ncontent-length: 99999999999\r\n\r\n{{",
        stage.of("/tasks"),
        stage.running().address()
    );
    let answer = answered(raw(&stage, &head).await).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    let endless = format!(
        "GET /health HTTP/1.1\r\nhost: {}\r\nx: {}\r\n\r\n",
        stage.running().address(),
        "y".repeat(limits::HEAD_BYTES * 2)
    );
    let mut stream = TcpStream::connect(stage.running().address()).await.unwrap();
    let _cut_off = stream.write_all(endless.as_bytes()).await;
    let mut answer = Vec::new();
    // It is told, or cut off before it could hear it.
    let _cut_off = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await.unwrap();
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 431"), "{}", String::from_utf8_lossy(&answer));
    assert_eq!(stage.get("/health").await.0, 200);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_who_say_half_a_word_keep_nobody_waiting() {
    let stage = Stage::set(json!([])).await;
    let mut lorises = Vec::new();
    for _ in 0..200 {
        lorises.push(raw(&stage, "GET /health HTTP/1.1\r\nhost: loc").await);
    }
    let mut streams = Vec::new();
    for _ in 0..50 {
        // Listens and never reads.
        streams.push(stage.listen(None).await);
    }
    for number in 0..50 {
        let path = stage.of(&format!("/tasks/{}", stage.root));
        assert_eq!(stage.patch(&path, json!({ "title": format!("T{number}") })).await.0, 200);
    }
    drop(streams);
    assert_eq!(stage.get("/health").await.1["status"], "ok");
    drop(lorises);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_with_silent_clients_ends_all_the_same() {
    let stage = Stage::set(json!([])).await;
    let stream = stage.listen(None).await;
    let half = raw(&stage, "POST /projects HTTP/1.1\r\n").await;
    tokio::time::timeout(PATIENCE, stage.end()).await.unwrap();
    drop((stream, half));
}
