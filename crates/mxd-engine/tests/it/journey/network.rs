//! Commands of agents reach the hosts that the settings allow, and nobody else.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use mxd_core::event::body::RestReason;
use mxd_tools::proxy::Verdict;
use serde_json::{Value, json};

use super::stage::{Stage, calls, conversation, expecting, speaks};

/// A small site on this machine; where it is.
fn site() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for visitor in listener.incoming() {
            let mut visitor = visitor.unwrap();
            let _asked = visitor.read(&mut [0; 4096]).unwrap();
            visitor
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\nwelcome")
                .unwrap();
        }
    });
    port
}

/// A command that asks the site through the proxy, if there is one.
fn visit(port: u16) -> Value {
    let script = format!(
        "import os, urllib.request as u\nproxy = os.environ.get('http_proxy')\n\
         way = u.ProxyHandler({{'http': proxy}} if proxy else {{}})\n\
         print(u.build_opener(way).open('http://127.0.0.1:{port}/', timeout=20).read())"
    );
    calls(&[("bash", json!({ "command": format!("env -u no_proxy -u NO_PROXY python3 -c \"{script}\"") }))])
}

fn answers(words: &str) -> Value {
    json!({ "tool_results": [{ "call": "mcp__mxd__bash", "contains": words }] })
}

async fn play(port: u16, settings: Value, words: &str) -> Stage {
    let turns = vec![visit(port), expecting(speaks("I see."), answers(words))];
    let stage = Stage::set_with(json!([conversation("Title: Root", turns)]), settings).await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    stage
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_allowed_is_reached_and_the_visit_is_remembered() {
    let port = site();
    let network = json!({ "allowPrivate": [format!("127.0.0.1:{port}")] });
    let stage = play(port, json!({ "sandbox": { "network": network } }), "welcome").await;
    let visits = stage.project().visits().await;
    assert!(visits.iter().any(|visit| visit.verdict == Verdict::Allowed), "{visits:?}");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_not_allowed_is_refused() {
    let port = site();
    let network = json!({ "allow": ["example.org"] });
    let stage = play(port, json!({ "sandbox": { "network": network } }), "403").await;
    let visits = stage.project().visits().await;
    assert!(!visits.is_empty(), "a refusal is remembered");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_host_in_the_settings_there_is_no_way_out() {
    let port = site();
    let stage = play(port, json!({}), "refused").await;
    assert!(stage.project().visits().await.is_empty());
    stage.end().await;
}
