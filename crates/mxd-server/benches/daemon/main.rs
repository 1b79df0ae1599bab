//! What the daemon costs: each number beside the least that could do the same, on the same machine, in one run.
//!
//! Prints one JSON object per metric; `cargo xtask bench daemon` makes a table of them. With `--quick` a tenth is done.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot run has nothing to say")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "standard output is the report")]
#![expect(clippy::disallowed_methods, reason = "measuring time is what this is for")]

mod bare;
mod client;
mod daemon;
#[path = "../../../../testing/row.rs"]
mod row;

use std::io::Write as _;
use std::time::{Duration, Instant};

use client::{Client, Listener};
use daemon::Daemon;
use row::{Row, median};
use serde_json::{Value, json};

/// Connections that ask at the same time.
const WIDTH: usize = 8;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    mxd_server::raise_file_limit();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--bare"] => runtime.block_on(bare::serve()),
        [] => runtime.block_on(run(Scale {
            requests: 20_000,
            posts: 800,
            clients: 1_000,
            commits: 200,
            tasks: 1_000,
        })),
        ["--quick"] => {
            runtime.block_on(run(Scale {
                requests: 2_000,
                posts: 200,
                clients: 200,
                commits: 40,
                tasks: 200,
            }));
        }
        other => eprintln!("unknown arguments: {other:?}; known is --quick"),
    }
}

/// How much is done.
struct Scale {
    requests: usize,
    posts: usize,
    clients: usize,
    commits: usize,
    tasks: usize,
}

async fn run(scale: Scale) {
    let ground = tempfile::TempDir::new().unwrap();
    let daemon = Daemon::start(&ground).await;
    let bare = bare::start().await;
    reading(&daemon, &bare, scale.requests).await;
    posting(&daemon, scale.posts).await;
    fan_out(&daemon, &bare, &scale).await;
    drop(daemon);
    starting(scale.tasks).await;
}

async fn reading(daemon: &Daemon, bare: &bare::Bare, requests: usize) {
    let path = format!("/projects/{}/tasks/{}", daemon.project, daemon.root);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _round in 0..5 {
        ours.push(client::storm((daemon.address, &daemon.token), &path, (WIDTH, requests)).await);
        theirs.push(client::storm((bare.address, ""), "/hello", (WIDTH, requests)).await);
    }
    let (value, baseline) = (median(ours), Some(median(theirs)));
    let metric = "reading a task, against a bare hello-world".to_owned();
    Row { metric, unit: "requests/s", value, baseline, bar: Some(">= 0.5") }.tell();
}

/// From the first byte of a message to the answer that it is durable.
async fn posting(daemon: &Daemon, posts: usize) {
    let tasks = daemon.waiting_tasks(posts.div_ceil(400)).await;
    let mut client = Client::connect(daemon.address, &daemon.token).await;
    let mut raw = std::fs::File::create(daemon.folder.join("raw")).unwrap();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let line = vec![b'x'; 400];
    for number in 0..posts {
        let path = format!("/projects/{}/tasks/{}/message", daemon.project, tasks[number / 400]);
        let begin = Instant::now();
        let (status, _) =
            client.ask("POST", &path, Some(&json!({ "content": "A message of usual length." }))).await;
        ours.push(begin.elapsed().as_secs_f64() * 1e6);
        assert_eq!(status, 202);
        let begin = Instant::now();
        raw.write_all(&line).unwrap();
        raw.sync_data().unwrap();
        theirs.push(begin.elapsed().as_secs_f64() * 1e6);
    }
    let (value, baseline) = (median(ours), Some(median(theirs)));
    let metric = "a message, from post to durable 202, against write and fdatasync".to_owned();
    Row { metric, unit: "us", value, baseline, bar: Some("<= 1.5") }.tell();
}

async fn fan_out(daemon: &Daemon, bare: &bare::Bare, scale: &Scale) {
    let stream = format!("/events?projectId={}", daemon.project);
    let mut listeners = listen((daemon.address, &daemon.token), &stream, scale.clients).await;
    for listener in &mut listeners {
        listener.frames(1).await;
    }
    let path = format!("/projects/{}/tasks/{}", daemon.project, daemon.root);
    let begin = Instant::now();
    let waiting = tokio::spawn(all(listeners, scale.commits));
    let title = |number| Some(json!({ "title": format!("T{number}") }));
    let bytes = write((daemon.address, &daemon.token), ("PATCH", &path, title), scale.commits).await;
    waiting.await.unwrap();
    let ours = per_second(scale, begin.elapsed());

    let listeners = listen((bare.address, ""), "/stream", scale.clients).await;
    let begin = Instant::now();
    let waiting = tokio::spawn(all(listeners, scale.commits));
    let path = format!("/send?bytes={}", bytes + 300);
    write((bare.address, ""), ("POST", &path, |_| None), scale.commits).await;
    waiting.await.unwrap();
    let baseline = Some(per_second(scale, begin.elapsed()));
    let metric = format!("commits to {} streams, against a bare broadcast", scale.clients);
    Row { metric, unit: "frames/s", value: ours, baseline, bar: Some(">= 0.7") }.tell();
}

/// What a request says, by its number.
type Body = fn(usize) -> Option<Value>;

/// Has something sent to all streams so many times, by several at once: what is measured is how it spreads, and one alone
/// would wait for the disk in between. The bytes of an answer.
async fn write(
    (address, token): (std::net::SocketAddr, &str),
    (method, path, body): (&'static str, &str, Body),
    times: usize,
) -> usize {
    let each = (0..WIDTH).map(|writer| {
        let (token, path) = (token.to_owned(), path.to_owned());
        tokio::spawn(async move {
            let mut client = Client::connect(address, &token).await;
            let mut bytes = 0;
            for number in (writer..times).step_by(WIDTH) {
                let (status, answer) = client.ask(method, &path, body(number).as_ref()).await;
                assert_eq!(status, 200);
                bytes = answer.len();
            }
            bytes
        })
    });
    let mut bytes = 0;
    for one in each.collect::<Vec<_>>() {
        bytes = one.await.unwrap();
    }
    bytes
}

#[expect(clippy::cast_precision_loss, reason = "numbers of frames")]
fn per_second(scale: &Scale, all: Duration) -> f64 {
    (scale.clients * scale.commits) as f64 / all.as_secs_f64()
}

async fn listen(whom: (std::net::SocketAddr, &str), path: &str, count: usize) -> Vec<Listener> {
    let mut listeners = Vec::new();
    for _ in 0..count {
        listeners.push(Listener::connect(whom, path).await);
    }
    listeners
}

async fn all(listeners: Vec<Listener>, frames: usize) {
    let each = listeners.into_iter().map(|mut listener| {
        tokio::spawn(async move {
            listener.frames(frames).await;
        })
    });
    let each: Vec<_> = each.collect();
    for listener in each {
        listener.await.unwrap();
    }
}

/// A daemon with many tasks that do nothing.
async fn starting(tasks: usize) {
    let ground = tempfile::TempDir::new().unwrap();
    let daemon = Daemon::start(&ground).await;
    let mut client = Client::connect(daemon.address, &daemon.token).await;
    for number in 0..tasks.div_ceil(200) {
        let path = format!("/projects/{}/tasks", daemon.project);
        let (_, made) = client.ask("POST", &path, Some(&json!({ "title": format!("Group {number}") }))).await;
        let made: serde_json::Value = serde_json::from_str(&made).unwrap();
        for below in 0..200.min(tasks) {
            let wish = json!({ "title": format!("Task {below}"), "description": "Something.", "parentId": made["id"] });
            let (status, _) = client.ask("POST", &path, Some(&wish)).await;
            assert_eq!(status, 201);
        }
    }
    daemon.kill().await;
    let mut times = Vec::new();
    let mut memory = 0.0;
    for _round in 0..5 {
        let begin = Instant::now();
        let daemon = Daemon::begin(&ground).await;
        times.push(begin.elapsed().as_secs_f64() * 1e3);
        memory = daemon.memory_mb();
        daemon.kill().await;
    }
    let metric = format!("start to ready with {tasks} idle tasks");
    Row { metric, unit: "ms", value: median(times), baseline: Some(1_000.0), bar: Some("<= 1") }.tell();
    let metric = format!("memory then, with {tasks} idle tasks");
    Row { metric, unit: "MB", value: memory, baseline: Some(64.0), bar: Some("<= 1") }.tell();
}
