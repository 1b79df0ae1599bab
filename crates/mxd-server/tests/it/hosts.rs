//! A host that a command wants to reach is put to the user, who allows it for as long as it says.

use serde_json::{Value, json};

use crate::stage::{Stage, calls, conversation, speaks};

/// A command that asks the proxy for a host, with nothing but what every shell has.
fn reach_host() -> Value {
    let command = "way=${http_proxy#http://}; name=${way%@*}; port=${way##*:}
exec 3<>/dev/tcp/127.0.0.1/$port
printf 'GET http://localhost/ HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n' >&3
printf 'Proxy-Authorization: Basic %s\\r\\n\\r\\n' \"$(printf %s \"$name\" | base64 -w0)\" >&3
cat <&3";
    calls(&[("bash", json!({ "command": command }))])
}

/// A project whose agent wants to reach a host; the need as the daemon shows it.
async fn asked() -> (Stage, Value) {
    let turns = vec![reach_host(), speaks("Over.")];
    let stage = Stage::set(json!([conversation("Title: Root", turns)])).await;
    stage.act(&format!("/tasks/{}/message", stage.root), json!({ "content": "Go." })).await;
    let view = stage.until(&stage.root, "asking", |view| view["agent"]["state"] == "asking").await;
    assert_eq!(view["agent"]["why"], "it needs your permission to reach localhost");
    let need = stage.see("/needs").await["approvals"][0].clone();
    assert_eq!((&need["host"], &need["args"]), (&json!("localhost"), &json!({ "host": "localhost" })));
    assert_eq!(view["approvals"], json!([need["approvalId"]]));
    (stage, need)
}

fn word(stage: &Stage, need: &Value, decision: &str) -> Value {
    json!({ "taskId": stage.root, "approvalId": need["approvalId"], "decision": decision, "argsDigest": need["argsDigest"] })
}

async fn allowed_hosts(stage: &Stage) -> Value {
    stage.see("/config").await["sandbox"]["network"]["allow"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn host_allowed_always_is_in_the_settings_of_the_project() {
    let (stage, need) = asked().await;
    assert_eq!(allowed_hosts(&stage).await, Value::Null);
    let other = json!({ "taskId": stage.root, "approvalId": need["approvalId"], "decision": "always", "argsDigest": "host:other" });
    let (status, said) = stage.post(&stage.of("/approve"), other).await;
    assert_eq!((status, &said["error"]["code"]), (409, &json!("other_call")));
    assert_eq!(allowed_hosts(&stage).await, Value::Null);
    stage.act("/approve", word(&stage, &need, "always")).await;
    assert_eq!(allowed_hosts(&stage).await, json!(["localhost"]));
    stage.until(&stage.root, "a rest", |view| view["agent"]["state"] == "waiting").await;
    assert_eq!(stage.see("/needs").await["approvals"], json!([]));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn host_allowed_once_is_in_no_settings() {
    let (stage, need) = asked().await;
    stage.act("/approve", word(&stage, &need, "once")).await;
    stage.until(&stage.root, "a rest", |view| view["agent"]["state"] == "waiting").await;
    assert_eq!(allowed_hosts(&stage).await, Value::Null);
    let (status, _) = stage.post(&stage.of("/approve"), word(&stage, &need, "once")).await;
    assert_eq!(status, 409, "a word counts once");
    stage.end().await;
}
