//! Servers elsewhere: those that behave, and those that do not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::StreamExt as _;
use mxd_core::manifest::{Reconnect, Remote, ServerSpec, Transport};
use mxd_tools::mcp::{CallError, Era, Servers, Status};
use mxd_tools::sandbox::Mode;
use serde_json::{Value, json};

use super::scene::{Ground, echo, locked, name, odd, patience, until, within, words};
use super::web::{Asked, Reply, Web};

const TOKEN: &str = "canary-in-a-header-0123456789";

fn remote(url: &str) -> Remote {
    let headers = vec![("Authorization".parse().unwrap(), "Bearer $env:WEB_TOKEN".parse().unwrap())];
    Remote { endpoint: url.to_owned(), headers }
}

fn over_http(url: &str) -> ServerSpec {
    ServerSpec { transport: Transport::Http(remote(url)), ..odd("web", "") }
}

fn over_sse(url: &str) -> ServerSpec {
    ServerSpec { transport: Transport::Sse(remote(url)), ..odd("web", "") }
}

async fn ground() -> Ground {
    Ground::new(Mode::Off).await.knowing("WEB_TOKEN", TOKEN)
}

fn result(asked: &Asked, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": asked.body["id"], "result": result })
}

fn refusal(asked: &Asked) -> Value {
    json!({ "jsonrpc": "2.0", "id": asked.body["id"], "error": { "code": -32_601, "message": "no" } })
}

/// What a server of the older kind answers.
fn answer(asked: &Asked) -> Value {
    match asked.method() {
        "initialize" => {
            result(asked, json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} } }))
        }
        "tools/list" => {
            let tool = json!({
                "name": "echo",
                "description": "Says what it is told.",
                "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } } },
            });
            result(asked, json!({ "tools": [tool] }))
        }
        "tools/call" => {
            let text = &asked.body["params"]["arguments"]["text"];
            result(asked, json!({ "content": [{ "type": "text", "text": text }] }))
        }
        "ping" => result(asked, json!({})),
        _ => refusal(asked),
    }
}

/// A good server of the older kind, with a session.
fn good(asked: &Asked) -> Reply {
    match (asked.verb.as_str(), asked.method()) {
        ("GET", _) => Reply::status("405 Method Not Allowed", "", ""),
        ("DELETE", _) => Reply::status("200 OK", "", ""),
        (_, "server/discover") => Reply::status("400 Bad Request", "", "no session"),
        (_, "initialize") => Reply::json("mcp-session-id: s-1\r\n", &answer(asked)),
        (_, "notifications/initialized" | "notifications/cancelled") => Reply::status("202 Accepted", "", ""),
        _ => Reply::json("", &answer(asked)),
    }
}

/// A good server that keeps no state.
fn stateless(asked: &Asked) -> Reply {
    let about = json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } });
    match asked.method() {
        "server/discover" => Reply::json("", &result(asked, about)),
        _ => Reply::json("", &answer(asked)),
    }
}

/// A server that behaves.
type Base = fn(&Asked) -> Reply;

/// One of them but for one method.
fn but_of(
    base: Base,
    method: &'static str,
    reply: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
) -> impl Fn(&Asked) -> Reply {
    move |asked| if asked.method() == method { reply(asked) } else { base(asked) }
}

/// The good one of the older kind but for one method.
fn but(
    method: &'static str,
    reply: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
) -> impl Fn(&Asked) -> Reply {
    but_of(good, method, reply)
}

/// One that answers calls like this.
fn calls(base: Base, reply: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Script {
    Box::new(but_of(base, "tools/call", reply))
}

fn event(message: &Value) -> String {
    format!("event: message\ndata: {message}\n\n")
}

type Script = Box<dyn Fn(&Asked) -> Reply + Send + Sync>;

/// What has to come of a server: what is told when it is connected, or when it is called. Nothing: it works.
enum Must {
    NotBeUsed(&'static str),
    FailTheCall(&'static str),
    Work,
}

use Must::{FailTheCall, NotBeUsed, Work};

type Kind = (&'static str, Script, Must);

fn kind(name: &'static str, script: Script, must: Must) -> Kind {
    (name, script, must)
}

/// Services that are odd from the beginning.
fn odd_beginnings() -> Vec<Kind> {
    vec![
        kind("good", Box::new(good), Work),
        kind(
            "redirects",
            Box::new(|_| Reply::status("307 Temporary Redirect", "location: http://127.0.0.2:9/mcp\r\n", "")),
            NotBeUsed("it redirects to http://127.0.0.2:9/mcp, and credentials do not follow"),
        ),
        kind(
            "fails",
            Box::new(|_| {
                Reply::status("500 Internal Server Error", "content-type: text/html\r\n", "<h1>oops</h1>")
            }),
            NotBeUsed("it answered with status 500: <h1>oops</h1>"),
        ),
        kind(
            "repeats credentials",
            Box::new(|asked| Reply::status("401 Unauthorized", "", asked.header("authorization"))),
            NotBeUsed("it answered with status 401: Bearer [redacted]"),
        ),
        kind(
            "answers with a page",
            Box::new(but("initialize", |_| {
                Reply::status("200 OK", "content-type: text/html\r\n", "<p>hello")
            })),
            NotBeUsed("it answered with `text/html`"),
        ),
        kind(
            "names its session oddly",
            Box::new(but("initialize", |asked| Reply::json("mcp-session-id: a b\u{e9}\r\n", &answer(asked)))),
            NotBeUsed("the name of its session is none"),
        ),
        kind(
            "names its session at length",
            Box::new(but("initialize", |asked| {
                Reply::json(&format!("mcp-session-id: {}\r\n", "s".repeat(2_000)), &answer(asked))
            })),
            NotBeUsed("the name of its session is none"),
        ),
        kind(
            "no HTTP",
            Box::new(|_| Reply::raw("220 smtp.example ESMTP\r\n")),
            NotBeUsed("it cannot be reached"),
        ),
        kind("closes at once", Box::new(|_| Reply::raw("")), NotBeUsed("it cannot be reached")),
    ]
}

/// Services that answer calls with odd events.
fn odd_events(base: Base) -> Vec<Kind> {
    vec![
        kind("answers with events", calls(base, |asked| Reply::events(&event(&answer(asked)))), Work),
        kind(
            "a giant event",
            calls(base, |_| Reply::events(&format!("data: {}", "x".repeat(2 << 20)))),
            FailTheCall("it sent a message of more than 1048576 bytes"),
        ),
        kind(
            "endless events that say nothing",
            calls(base, |_| Reply::events(&": ping\n\n".repeat(1_000)).open()),
            FailTheCall("did not answer within 1000 ms"),
        ),
        kind(
            "events that end too early",
            calls(base, |_| Reply::events("data: \n\n")),
            FailTheCall("it ended before the answer"),
        ),
        kind(
            "events that are no text",
            calls(base, |_| {
                let mut reply = Reply::events("");
                reply.bytes.extend(b"data: \xff\xfe\n\n");
                reply
            }),
            FailTheCall("it is no UTF-8"),
        ),
    ]
}

/// Services that answer calls with odd bodies.
fn odd_bodies(base: Base) -> Vec<Kind> {
    vec![
        kind(
            "redirects a call",
            calls(base, |_| Reply::status("302 Found", "location: https://elsewhere.example/\r\n", "")),
            FailTheCall("it redirects to https://elsewhere.example/"),
        ),
        kind(
            "a giant body",
            calls(base, |asked| Reply::json("", &result(asked, json!({ "content": "x".repeat(2 << 20) })))),
            FailTheCall("it sent a message of more than 1048576 bytes"),
        ),
        kind(
            "an answer about something else",
            calls(base, |asked| {
                let mut answer = answer(asked);
                answer["id"] = json!(4711);
                Reply::json("", &answer)
            }),
            FailTheCall("its answer is about something else"),
        ),
        kind(
            "half a body",
            calls(base, |_| {
                Reply::raw(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{\"json",
                )
            }),
            FailTheCall("it cannot be reached"),
        ),
        kind(
            "never answers a call",
            calls(base, |_| Reply::raw("").open()),
            FailTheCall("did not answer within 1000 ms"),
        ),
        kind(
            "drips",
            calls(base, |_| {
                Reply::raw(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{",
                )
                .open()
            }),
            FailTheCall("did not answer within 1000 ms"),
        ),
        kind(
            "accepts a call and says no more",
            calls(base, |_| Reply::status("202 Accepted", "", "")),
            FailTheCall("did not answer within 1000 ms"),
        ),
        kind(
            "a header of a megabyte",
            calls(base, |asked| Reply::json(&format!("x: {}\r\n", "y".repeat(1 << 20)), &answer(asked))),
            FailTheCall("it cannot be reached"),
        ),
    ]
}

/// Services without state that are odd in ways that only those can be.
fn odd_rounds() -> Vec<Kind> {
    let ask = |asked: &Asked, more: Value| {
        let mut required = json!({ "resultType": "input_required" });
        required.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Reply::json("", &result(asked, required))
    };
    let question = json!({ "method": "elicitation/create", "params": { "message": "Your key?" } });
    let many: serde_json::Map<String, Value> =
        (0..50).map(|number| (number.to_string(), question.clone())).collect();
    vec![
        kind("good", Box::new(stateless), Work),
        kind(
            "never satisfied",
            calls(stateless, move |asked| ask(asked, json!({ "requestState": "again" }))),
            FailTheCall("asked for input 10 times and still has no result"),
        ),
        kind(
            "asks whom it may not",
            calls(stateless, move |asked| ask(asked, json!({ "inputRequests": { "q": question } }))),
            FailTheCall("nobody can be asked at the moment"),
        ),
        kind(
            "asks too much at once",
            calls(stateless, move |asked| ask(asked, json!({ "inputRequests": many }))),
            FailTheCall("50 questions at once, more than 16"),
        ),
        kind(
            "a task that nobody wanted",
            calls(stateless, |asked| {
                Reply::json("", &result(asked, json!({ "resultType": "task", "taskId": "t" })))
            }),
            FailTheCall("a task, which nobody asked for"),
        ),
        kind(
            "requests in a stream",
            calls(stateless, |asked| {
                let roots = json!({ "jsonrpc": "2.0", "id": "r", "method": "roots/list" });
                let asks = event(&roots).repeat(300);
                Reply::events(&format!("{asks}{}", event(&answer(asked))))
            }),
            FailTheCall("it sent more than 200 messages that are none"),
        ),
        kind(
            "names a session although it has none",
            calls(stateless, |asked| Reply::json("mcp-session-id: a b\u{e9}\r\n", &answer(asked))),
            FailTheCall("the name of its session is none"),
        ),
    ]
}

async fn contained(script: Script, must: Must) -> Result<(), String> {
    let (ground, web) = (ground().await, Web::new(script).await);
    let servers =
        ground.connect(vec![locked(over_http(&web.url("/mcp"))), locked(odd("good", "good"))]).await;
    let status = servers.status(&name("web")).unwrap();
    let (told, expected) = match must {
        NotBeUsed(expected) => (words(&status), expected),
        FailTheCall(_) | Work if status != Status::Ready => return Err(words(&status)),
        FailTheCall(expected) => match within(&servers, "web", "hi", patience(expected)).await {
            Ok(said) => return Err(format!("it answered {said}")),
            Err(error) => (error.to_string(), expected),
        },
        Work => (echo(&servers, "web", "hi").await.map_err(|error| error.to_string())?, "hi"),
    };
    let is_named = matches!(must, Work) || told.contains("the server web");
    if !told.contains(expected) || !is_named || told.contains(TOKEN) {
        return Err(told);
    }
    let said = echo(&servers, "good", "hi").await.map_err(|error| error.to_string())?;
    servers.close().await;
    if said == "hi" { Ok(()) } else { Err(said) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_hostile_service_is_contained_and_named() {
    let in_era = |era: &'static str, kinds: Vec<Kind>| kinds.into_iter().map(move |kind| (era, kind));
    let eras: [(&str, Base); 2] = [("older", good), ("stateless", stateless)];
    let kinds = eras.into_iter().flat_map(|(era, base)| {
        in_era(era, odd_events(base)).chain(in_era(era, odd_bodies(base))).collect::<Vec<_>>()
    });
    let beginnings = in_era("older", odd_beginnings()).chain(in_era("stateless", odd_rounds()));
    let cases = futures_util::stream::iter(beginnings.chain(kinds))
        .map(|(era, (kind, script, must))| async move { (era, kind, contained(script, must).await) })
        .buffer_unordered(6);
    let failed: Vec<String> = cases
        .filter_map(
            |(era, kind, outcome)| async move { outcome.err().map(|why| format!("{era}, {kind}: {why}")) },
        )
        .collect()
        .await;
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
}

async fn connected(ground: &Ground, spec: ServerSpec) -> Servers {
    ground.connect(vec![locked(spec)]).await
}

#[tokio::test]
async fn requests_carry_credentials_session_and_version() {
    let (ground, web) = (ground().await, Web::new(good).await);
    let servers = connected(&ground, over_http(&web.url("/mcp"))).await;
    assert_eq!(echo(&servers, "web", "hi").await.unwrap(), "hi");
    servers.close().await;
    let asked = web.asked();
    assert!(asked.iter().all(|asked| asked.header("authorization") == format!("Bearer {TOKEN}")));
    assert!(asked.iter().all(|asked| asked.path == "/mcp"));
    let call = asked.iter().find(|asked| asked.method() == "tools/call").unwrap();
    assert_eq!((call.header("mcp-session-id"), call.header("mcp-protocol-version")), ("s-1", "2025-11-25"));
    assert!(asked.iter().any(|asked| asked.verb == "DELETE" && asked.header("mcp-session-id") == "s-1"));
}

#[tokio::test]
async fn a_server_without_state_is_told_in_headers_what_the_body_says() {
    let (ground, web) = (ground().await, Web::new(stateless).await);
    let servers = connected(&ground, over_http(&web.url("/mcp"))).await;
    assert_eq!(echo(&servers, "web", "hi").await.unwrap(), "hi");
    let era = servers.connection(&name("web")).unwrap().introduction().era.clone();
    assert_eq!(era, Era::Stateless("2026-07-28".to_owned()));
    let asked = web.asked();
    let call = asked.iter().find(|asked| asked.method() == "tools/call").unwrap();
    let headers = ["mcp-method", "mcp-name", "mcp-protocol-version"].map(|name| call.header(name));
    assert_eq!(headers, ["tools/call", "echo", "2026-07-28"]);
    let meta = &call.body["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert!(asked.iter().all(|asked| asked.method() != "initialize" && asked.verb == "POST"));
}

#[tokio::test]
async fn a_forgotten_session_is_begun_again_and_the_call_is_made_once_more() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let script = but("tools/call", move |asked| match counted.fetch_add(1, Ordering::SeqCst) {
        0 => Reply::status("404 Not Found", "", ""),
        _ => Reply::json("", &answer(asked)),
    });
    let (ground, web) = (ground().await, Web::new(script).await);
    let mut spec = over_http(&web.url("/mcp"));
    spec.reconnect = Reconnect::UpTo(3);
    let servers = connected(&ground, spec).await;
    assert_eq!(echo(&servers, "web", "hi").await.unwrap(), "hi");
    let greetings = web.asked().iter().filter(|asked| asked.method() == "initialize").count();
    assert_eq!((calls.load(Ordering::SeqCst), greetings), (2, 2));
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_resumed_where_it_was() {
    let script = |asked: &Asked| match (asked.verb.as_str(), asked.method(), asked.header("last-event-id")) {
        ("POST", "tools/call", _) => Reply::events("id: e-7\nretry: 1\ndata: \n\n"),
        ("GET", _, "e-7") => {
            let message = json!({ "jsonrpc": "2.0", "id": 3, "result": { "content": [{ "type": "text", "text": "resumed" }] } });
            Reply::events(&event(&message))
        }
        _ => good(asked),
    };
    let (ground, web) = (ground().await, Web::new(script).await);
    let servers = connected(&ground, over_http(&web.url("/mcp"))).await;
    assert_eq!(echo(&servers, "web", "hi").await.unwrap(), "resumed");
}

#[tokio::test]
async fn what_a_server_says_by_itself_is_heard() {
    let lists = AtomicUsize::new(0);
    let script = move |asked: &Asked| match (asked.verb.as_str(), asked.method()) {
        ("GET", _) => {
            let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
            Reply::events(&event(&changed)).open()
        }
        (_, "tools/list") if lists.fetch_add(1, Ordering::SeqCst) > 0 => {
            Reply::json("", &result(asked, json!({ "tools": [] })))
        }
        _ => good(asked),
    };
    let (ground, web) = (ground().await, Web::new(script).await);
    let servers = connected(&ground, over_http(&web.url("/mcp"))).await;
    let drifted = until(&servers, "web", |status| matches!(status, Status::Drifted(_))).await;
    assert!(words(&drifted).contains("echo is missing"), "{}", words(&drifted));
}

#[tokio::test]
async fn the_older_stream_works_and_never_leads_elsewhere() {
    let other = Web::new(|_| Reply::status("200 OK", "", "")).await;
    let elsewhere = format!("event: endpoint\ndata: {}\n\n", other.url("/steal"));
    for (events, told) in [
        (elsewhere.as_str(), "its endpoint is elsewhere"),
        ("data: hello\n\n", "it does not begin with an endpoint"),
        (": nothing\n\n", "it ended before it said where to"),
        ("event: endpoint\ndata: http://[\n\n", "its endpoint is no URL"),
    ] {
        let (ground, events) = (ground().await, events.to_owned());
        let web = Web::new(move |_| Reply::events(&events)).await;
        let servers = connected(&ground, over_sse(&web.url("/sse"))).await;
        let status = words(&servers.status(&name("web")).unwrap());
        assert!(status.contains(told) && status.contains("the server web"), "{status}");
    }
    assert!(other.asked().is_empty());
}

#[tokio::test]
async fn credentials_go_only_where_they_are_safe() {
    let ground = ground().await;
    for (url, told) in [
        ("http://example.org/mcp", "without TLS"),
        ("http://user:word@127.0.0.1/mcp", "holds a user or a password"),
        ("ftp://127.0.0.1/mcp", "is no way to reach a server"),
        ("not a url", "is no URL"),
    ] {
        let servers = connected(&ground, over_http(url)).await;
        let status = words(&servers.status(&name("web")).unwrap());
        assert!(status.contains(told), "{url}: {status}");
        let refused = echo(&servers, "web", "hi").await.unwrap_err();
        assert!(matches!(refused, CallError::Unavailable { .. }), "{refused}");
    }
}
