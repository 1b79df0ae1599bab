//! What agents do, told to a real collector over HTTP; and collectors that are none.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, Uri};
use mxd_engine::config::TelemetrySettings;
use mxd_server::Collector;
use mxd_tools::secrets::Vault;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::python;
use crate::stage::{PATIENCE, Stage, calls, conversation, speaks, text};

/// Something that a collector was told.
#[derive(Debug)]
struct Told {
    path: String,
    authorization: Option<String>,
    body: Value,
}

/// A collector that takes everything, or answers with this status; and what it is told.
async fn collector(status: StatusCode) -> (String, mpsc::Receiver<Told>) {
    let (tell, told) = mpsc::channel(1_000);
    let answer = move |uri: Uri, headers: HeaderMap, body: Bytes| async move {
        assert_eq!(headers["content-type"], "application/json");
        let authorization = headers.get("authorization").map(|value| value.to_str().unwrap().to_owned());
        let body = serde_json::from_slice(&body).unwrap();
        tell.send(Told { path: uri.path().to_owned(), authorization, body }).await.unwrap();
        (status, "{}")
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(answer)).await });
    (url, told)
}

fn at(endpoint: &str, content: bool) -> Collector {
    let settings = TelemetrySettings { endpoint: Some(endpoint.to_owned()), content };
    let headers = |name: &str| {
        (name == "OTEL_EXPORTER_OTLP_HEADERS").then(|| "authorization=Bearer%20of-the-collector".to_owned())
    };
    Collector::find(&settings, headers, &Vault::default()).unwrap().unwrap()
}

fn story() -> Value {
    json!([
        conversation("Title: Root", vec![speaks("Good.")]),
        conversation(
            "Title: Poem of a canary",
            vec![
                calls(&[("bash", json!({ "command": "echo canary in a command; exit 3" }))]),
                calls(&[("done", json!({ "status": "passed", "summary": "A canary in words." }))]),
            ]
        ),
    ])
}

async fn play(stage: &Stage) -> String {
    let task = stage.task("Poem of a canary").await;
    stage.act(&format!("/tasks/{task}/message"), json!({ "content": "Begin." })).await;
    stage.until_status(&task, "passed").await;
    let rested = |view: &Value| view["life"]["turns"] == 1 && view["agent"]["state"] == "waiting";
    stage.until(&stage.root, "a rest", rested).await;
    task
}

/// Attributes as a plain object.
fn attributes(of: &Value) -> BTreeMap<String, Value> {
    let value = |value: &Value| match value["arrayValue"]["values"].as_array() {
        Some(values) => values.iter().map(|value| value["stringValue"].clone()).collect(),
        None => value.as_object().unwrap().values().next().unwrap().clone(),
    };
    let all = of["attributes"].as_array().unwrap().iter();
    all.map(|attribute| (text(&attribute["key"]), value(&attribute["value"]))).collect()
}

fn spans(told: &[Told]) -> Vec<Value> {
    let traces = told.iter().filter(|told| told.path == "/v1/traces");
    let spans = traces
        .flat_map(|told| told.body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone());
    spans.collect()
}

fn named<'s>(spans: &'s [Value], task: &str, operation: &str) -> Vec<&'s Value> {
    let of = |span: &&Value| {
        let attributes = attributes(span);
        attributes["gen_ai.conversation.id"] == task && attributes["gen_ai.operation.name"] == operation
    };
    spans.iter().filter(of).collect()
}

/// What was sent, read by definitions that are not ours: how many spans, and how many measured values.
fn read_by_others(told: &[Told]) -> (u64, u64) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let python = python::python("otlp-venv", &folder.join("telemetry.txt"));
    let mut reader = Command::new(python)
        .arg(folder.join("telemetry.py"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = reader.stdin.take().unwrap();
    for Told { path, body, .. } in told {
        use std::io::Write as _;
        writeln!(input, "{}", json!({ "path": path, "body": body })).unwrap();
    }
    drop(input);
    let output = reader.wait_with_output().unwrap();
    assert!(output.status.success());
    let counted: Value = serde_json::from_slice(&output.stdout).unwrap();
    (counted["spans"].as_u64().unwrap(), counted["points"].as_u64().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_is_told_of_agents_model_calls_and_tools_and_not_what_was_said() {
    let (url, mut told) = collector(StatusCode::OK).await;
    let stage = Stage::set_told(story(), at(&url, false)).await;
    let task = play(&stage).await;
    let root = stage.root.clone();
    let metrics_before_the_end = stage.client.get(stage.url("/metrics"));
    let metrics_before_the_end = metrics_before_the_end.bearer_auth(&stage.running().contact().token);
    assert!(
        metrics_before_the_end
            .send()
            .await
            .unwrap()
            .text()
            .await
            .unwrap()
            .contains("mxd_spans_dropped_total 0")
    );
    stage.end().await;
    told.close();
    let mut all = Vec::new();
    while let Some(one) = told.recv().await {
        all.push(one);
    }
    assert!(all.iter().all(|told| told.authorization.as_deref() == Some("Bearer of-the-collector")));
    let spans = spans(&all);

    let agent = named(&spans, &task, "invoke_agent");
    assert_eq!(agent.len(), 1, "{spans:#?}");
    assert_eq!((&agent[0]["name"], &agent[0]["kind"]), (&json!("invoke_agent"), &json!(1)));
    assert!(agent[0].get("parentSpanId").is_none() && agent[0].get("status").is_none());
    let chats = named(&spans, &task, "chat");
    assert_eq!(chats.len(), 2);
    let model = text(&attributes(chats[0])["gen_ai.request.model"]);
    assert_eq!((&chats[0]["name"], &chats[0]["kind"]), (&json!(format!("chat {model}")), &json!(3)));
    let said = attributes(chats[0]);
    assert_eq!(said["gen_ai.provider.name"], "anthropic");
    assert_eq!(said["gen_ai.response.finish_reasons"], json!(["tool_use"]));
    assert_eq!(said["gen_ai.response.model"], json!(model), "the scripted model has no other name");
    let tokens = |span: &Value, kind: &str| {
        text(&attributes(span)[&format!("gen_ai.usage.{kind}_tokens")]).parse::<u64>().unwrap()
    };
    let (read, written) = (tokens(agent[0], "input"), tokens(agent[0], "output"));
    assert!(read > 0 && written > 0);
    assert_eq!(read, tokens(chats[0], "input") + tokens(chats[1], "input"));
    assert_eq!(written, tokens(chats[0], "output") + tokens(chats[1], "output"));

    let tools = named(&spans, &task, "execute_tool");
    let bash = tools.iter().find(|span| span["name"] == "execute_tool mcp__mxd__bash").unwrap();
    assert!(attributes(bash).contains_key("gen_ai.tool.call.id"));
    for span in chats.iter().chain(&tools) {
        assert_eq!(span["parentSpanId"], agent[0]["spanId"], "{span}");
        assert_eq!(span["traceId"], agent[0]["traceId"]);
        let time = |name: &str| text(&span[name]).parse::<u64>().unwrap();
        assert!(time("startTimeUnixNano") <= time("endTimeUnixNano"));
    }
    assert_eq!(named(&spans, &root, "invoke_agent").len(), 1);

    let everything: String = all.iter().map(|told| told.body.to_string()).collect();
    assert!(!everything.contains("canary") && !everything.contains("Begin."), "{everything}");
    let (count, points) = tokio::task::spawn_blocking(move || read_by_others(&all)).await.unwrap();
    assert_eq!(count, spans.len() as u64);
    // Tokens read, tokens written, and times, in each of the reports.
    assert!(points >= 3 && points % 3 == 0, "{points}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_is_told_where_the_user_wants_it() {
    let (url, mut told) = collector(StatusCode::OK).await;
    let stage = Stage::set_told(story(), at(&url, true)).await;
    let task = play(&stage).await;
    stage.end().await;
    told.close();
    let mut all = Vec::new();
    while let Some(one) = told.recv().await {
        all.push(one);
    }
    let spans = spans(&all);
    let agent = named(&spans, &task, "invoke_agent");
    assert_eq!(agent[0]["name"], "invoke_agent Poem of a canary");
    let tools = named(&spans, &task, "execute_tool");
    let bash = attributes(tools.iter().find(|span| span["name"] == "execute_tool mcp__mxd__bash").unwrap());
    assert!(text(&bash["gen_ai.tool.call.arguments"]).contains("echo canary in a command"));
    assert!(text(&bash["gen_ai.tool.call.result"]).starts_with("canary in a command\n"));
    let root = named(&spans, &stage_root(&spans, &task), "chat");
    assert!(text(&attributes(root[0])["gen_ai.output.messages"]).contains("Good."));
}

/// The other conversation there is.
fn stage_root(spans: &[Value], task: &str) -> String {
    let all = spans.iter().map(|span| text(&attributes(span)["gen_ai.conversation.id"]));
    all.into_iter().find(|id| id != task).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_hangs_or_refuses_disturbs_nobody() {
    // It takes connections and never says a word.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let stage = Stage::set_told(story(), at(&url, false)).await;
    play(&stage).await;
    let ended = tokio::time::timeout(PATIENCE, stage.end()).await;
    assert!(ended.is_ok(), "the daemon ends without the collector");

    let (url, mut told) = collector(StatusCode::BAD_REQUEST).await;
    let stage = Arc::new(Stage::set_told(story(), at(&url, false)).await);
    play(&stage).await;
    told.recv().await.unwrap();
    let counted = async {
        loop {
            let request = stage.client.get(stage.url("/metrics"));
            let request = request.bearer_auth(&stage.running().contact().token);
            let text = request.send().await.unwrap().text().await.unwrap();
            let line = |name: &str| {
                text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok())
            };
            assert_eq!(line("mxd_spans_sent_total "), Some(0));
            if line("mxd_spans_dropped_total ").unwrap() > 0 {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, counted).await.unwrap();
    Arc::into_inner(stage).unwrap().end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_collector_nothing_of_it_is_there() {
    let stage = Stage::set(json!([])).await;
    let request = stage.client.get(stage.url("/metrics")).bearer_auth(&stage.running().contact().token);
    assert!(!request.send().await.unwrap().text().await.unwrap().contains("mxd_spans"));
    stage.end().await;
}
