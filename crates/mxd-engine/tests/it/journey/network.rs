//! Commands of agents reach the hosts that the settings or the user allow, and nobody else.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use mxd_core::decide::{Actor, Op, SessionOp};
use mxd_core::event::EventBody;
use mxd_core::event::body::{ApprovalScope, RestReason, Verdict};
use mxd_engine::config::{self, Layer, Places};
use mxd_tools::proxy::Verdict as Judged;
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
    let visits = stage.project().visits();
    assert!(visits.iter().any(|visit| visit.verdict == Judged::Allowed), "{visits:?}");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_not_allowed_is_refused() {
    let port = site();
    let network = json!({ "allow": ["example.org"] });
    let stage = play(port, json!({ "sandbox": { "network": network } }), "403").await;
    let visits = stage.project().visits();
    assert!(!visits.is_empty(), "a refusal is remembered");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_host_and_without_asking_there_is_no_way_out() {
    let port = site();
    let network = json!({ "ask": false });
    let stage = play(port, json!({ "sandbox": { "network": network } }), "refused").await;
    assert!(stage.project().visits().is_empty());
    stage.end().await;
}

/// A host that no rule speaks of. It is this machine, so that whoever is let through to it is told that its address is
/// private, and nothing depends on a network.
const HOST: &str = "localhost";

/// A command that asks the host through the proxy and prints what it is told.
fn reach_host() -> Value {
    let command = format!(
        "env -u no_proxy -u NO_PROXY python3 - <<'END'\n\
         import os, urllib.error, urllib.request as u\n\
         way = u.build_opener(u.ProxyHandler({{'http': os.environ['http_proxy']}}))\n\
         try:\n  print(way.open('http://{HOST}/').read())\n\
         except urllib.error.HTTPError as error:\n  print(error.code, error.read())\n\
         END"
    );
    calls(&[("bash", json!({ "command": command }))])
}

fn requests(stage: &Stage) -> Vec<String> {
    let events = stage.events().into_iter();
    let hosts = events.filter_map(|event| match event.body {
        EventBody::HostApprovalRequested(request) => Some(request.host),
        _ => None,
    });
    hosts.collect()
}

/// Waits until the user is asked about a host, and answers.
async fn decide(stage: &Stage, verdict: Verdict, scope: ApprovalScope) {
    let root = stage.root();
    stage.until("a question", |state| state.session(root).host_requests().len() == 1).await;
    let (id, request) = stage.project().look(|state| {
        let (id, request) = state.session(root).host_requests().iter().next().unwrap();
        (*id, request.clone())
    });
    assert_eq!(request.host, HOST);
    let op = SessionOp::Approve { id, verdict, scope, reason: None };
    stage.project().wish(Actor::User, Op::Session { task: root, op }).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn new_host_waits_for_the_user_and_an_answer_reaches_the_command() {
    for (verdict, told) in [(Verdict::Allow, "is private"), (Verdict::Deny, "the user refused it")] {
        let turns = vec![reach_host(), expecting(speaks("I see."), answers(told))];
        let stage = Stage::set(json!([conversation("Title: Root", turns)])).await;
        stage.say(stage.root(), "Begin.").await;
        decide(&stage, verdict, ApprovalScope::Once).await;
        stage.until_rest(stage.root(), &RestReason::EndTurn).await;
        assert_eq!(requests(&stage), [HOST]);
        stage.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn host_allowed_for_a_task_is_asked_about_once() {
    let turns = vec![
        reach_host(),
        expecting(reach_host(), answers("is private")),
        expecting(speaks("I see."), answers("is private")),
    ];
    let stage = Stage::set(json!([conversation("Title: Root", turns)])).await;
    stage.say(stage.root(), "Begin.").await;
    decide(&stage, Verdict::Allow, ApprovalScope::Task).await;
    stage.until_rest(stage.root(), &RestReason::EndTurn).await;
    assert_eq!(requests(&stage), [HOST]);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn host_rule_written_meanwhile_spares_the_question() {
    let turns = vec![
        reach_host(),
        expecting(speaks("Refused."), answers("the user refused it")),
        reach_host(),
        expecting(speaks("I see."), answers("is private")),
    ];
    let stage = Stage::set(json!([conversation("Title: Root", turns)])).await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    decide(&stage, Verdict::Deny, ApprovalScope::Once).await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let places = Places::user_only(stage.ground.path().join("data"));
    config::set(&places, Layer::User, "sandbox.network.allow", json!([HOST])).unwrap();
    stage.say(root, "Again.").await;
    stage.until("the second answer", |state| state.session(root).life().turns == 4).await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    assert_eq!(requests(&stage), [HOST]);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn question_about_a_host_ends_with_its_command() {
    let stage = Stage::set(json!([conversation("Title: Root", vec![reach_host()])])).await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until("a question", |state| state.session(root).host_requests().len() == 1).await;
    let stop = Op::Session { task: root, op: SessionOp::Stop { reason: None } };
    stage.project().wish(Actor::User, stop).await.unwrap();
    stage.until("the end", |state| state.session(root).host_requests().is_empty()).await;
    assert_eq!(requests(&stage), [HOST]);
    stage.end().await;
}
