//! What was opened in the name of a session ends with that session.

use std::time::Duration;

use reqwest::{Method, Response};
use serde_json::json;

use crate::events::Stream;
use crate::login::{Browser, no, refused, stranger};
use crate::stage::{PATIENCE, Stage, conversation, gated, reply, speaks, text, with};

/// Shorter than the time between two heartbeats: a stream that only notices with a heartbeat is too late.
const BEFORE_A_HEARTBEAT: Duration = Duration::from_secs(10);

/// The stream token that a session asks for.
async fn stream_token(stage: &Stage, session: &str) -> String {
    let request = stranger(stage, Method::POST, "/auth/stream-token").bearer_auth(session);
    let (status, fresh) = reply(with(request, &json!({ "projectId": stage.project }))).await;
    assert_eq!(status, 200, "{fresh}");
    text(&fresh["token"])
}

fn stream_path(stage: &Stage, token: &str) -> String {
    format!("/events?projectId={}&token={token}", stage.project)
}

/// Opens the live stream with a stream token, and hears the first event.
async fn open_stream(stage: &Stage, token: &str) -> Stream {
    let answer = stranger(stage, Method::GET, &stream_path(stage, token)).send().await.unwrap();
    started(answer).await
}

async fn started(answer: Response) -> Stream {
    assert_eq!(answer.status(), 200);
    let mut stream = Stream::new(answer);
    assert_eq!(stream.next().await.unwrap().name, "snapshot");
    stream
}

async fn hears_that_the_session_ended(mut stream: Stream) {
    let last = tokio::time::timeout(BEFORE_A_HEARTBEAT, stream.next()).await.expect("the stream goes on");
    assert_eq!(last.unwrap().name, "auth_expired");
    assert!(stream.next().await.is_none(), "nothing comes after it");
}

/// Revokes the only session there is.
async fn revoke(stage: &Stage) {
    let (_, listed) = stage.get("/auth/sessions").await;
    let id = text(&listed["sessions"][0]["id"]);
    assert_eq!(stage.delete(&format!("/auth/sessions/{id}")).await.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn revoked_session_ends_its_streams_and_stream_tokens() {
    let stage = Stage::set(json!([])).await;
    let session = Browser::new().log_in(&stage).await;
    let token = stream_token(&stage, &session).await;
    let unused = stream_token(&stage, &session).await;
    let by_token = open_stream(&stage, &token).await;
    let path = format!("/events?projectId={}", stage.project);
    let direct = stranger(&stage, Method::GET, &path).bearer_auth(&session).send().await.unwrap();
    let direct = started(direct).await;
    let mut of_another = stage.listen(None).await;

    revoke(&stage).await;
    hears_that_the_session_ended(by_token).await;
    hears_that_the_session_ended(direct).await;
    for token in [token, unused] {
        let again = stranger(&stage, Method::GET, &stream_path(&stage, &token));
        assert_eq!(refused(again).await, no(401, "unauthenticated"));
    }
    // The stream of somebody else goes on.
    assert_eq!(of_another.next().await.unwrap().name, "snapshot");
    stage.task("One").await;
    assert_eq!(of_another.next().await.unwrap().name, "commit");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn logout_ends_the_streams_of_the_session_and_of_no_other() {
    let stage = Stage::set(json!([])).await;
    let (one, two) = (Browser::new().log_in(&stage).await, Browser::new().log_in(&stage).await);
    let leaving = open_stream(&stage, &stream_token(&stage, &one).await).await;
    let mut staying = open_stream(&stage, &stream_token(&stage, &two).await).await;
    let out = with(stranger(&stage, Method::POST, "/auth/logout").bearer_auth(&one), &json!({}));
    assert_eq!(reply(out).await.1, json!({ "loggedOut": true }));
    hears_that_the_session_ended(leaving).await;
    stage.task("One").await;
    assert_eq!(staying.next().await.unwrap().name, "commit");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn revoked_session_waits_for_no_task() {
    let script = conversation("Title: Root", vec![gated(speaks("A long answer in several pieces."), "half")]);
    let stage = Stage::set(json!([script])).await;
    let session = Browser::new().log_in(&stage).await;
    stage.act(&format!("/tasks/{}/message", stage.root), json!({ "content": "Speak." })).await;
    stage.model.gate_reached("half").await.unwrap();
    let path = stage.of(&format!("/tasks/{}/wait?seconds=300", stage.root));
    let waiting = tokio::spawn(refused(stranger(&stage, Method::GET, &path).bearer_auth(&session)));
    revoke(&stage).await;
    assert_eq!(waiting.await.unwrap(), no(401, "unauthenticated"));
    stage.model.open_gate("half").unwrap();
    let rests = |view: &serde_json::Value| view["life"]["turns"] == 1 && view["agent"]["state"] == "waiting";
    stage.until(&stage.root, "a rest", rests).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn revoked_session_ends_its_mcp_stream() {
    let stage = Stage::set(json!([])).await;
    let session = Browser::new().log_in(&stage).await;
    let ask = |method: Method| {
        stranger(&stage, method, "/mcp")
            .bearer_auth(&session)
            .header("accept", "application/json, text/event-stream")
    };
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
    }});
    let answer = with(ask(Method::POST), &hello).send().await.unwrap();
    let conversation = answer.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let stream = ask(Method::GET).header("mcp-session-id", &conversation);
    let stream = stream.header("mcp-protocol-version", "2025-06-18").send().await.unwrap();
    assert_eq!(stream.status(), 200);
    revoke(&stage).await;
    tokio::time::timeout(PATIENCE, stream.bytes()).await.expect("the stream goes on").unwrap();
    stage.end().await;
}
