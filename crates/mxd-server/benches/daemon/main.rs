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

use client::{Client, Listener, Lone};
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
    for _round in 0..9 {
        ours.push(client::storm((daemon.address, &daemon.token), &path, (WIDTH, requests)).await);
        theirs.push(client::storm((bare.address, ""), "/hello", (WIDTH, requests)).await);
    }
    let (value, baseline) = (median(ours), Some(median(theirs)));
    let metric = "reading a task, against a bare hello-world".to_owned();
    Row { metric, unit: "requests/s", value, baseline, bar: Some(">= 0.5") }.tell();
}

/// From the first byte of a message to the answer that it is durable, in turns with a record of the same length that is
/// appended to a file in the same folder, by one thread.
async fn posting(daemon: &Daemon, posts: usize) {
    let tasks = daemon.waiting_tasks(posts.div_ceil(400)).await;
    let paths: Vec<String> =
        tasks.iter().map(|task| format!("/projects/{}/tasks/{task}/message", daemon.project)).collect();
    let (log, mut client) = (daemon.log_bytes(), Lone::connect(daemon.address, &daemon.token));
    let body = json!({ "content": "A message of usual length." });
    assert_eq!(client.post(&paths[0], &body), 202);
    let line = vec![b'x'; daemon.log_bytes() - log];
    let mut raw = std::fs::File::create(daemon.folder.join("raw")).unwrap();
    let measure = move || {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for number in 0..posts {
            let begin = Instant::now();
            assert_eq!(client.post(&paths[number / 400], &body), 202);
            ours.push(begin.elapsed().as_secs_f64() * 1e6);
            let begin = Instant::now();
            raw.write_all(&line).unwrap();
            raw.sync_data().unwrap();
            theirs.push(begin.elapsed().as_secs_f64() * 1e6);
        }
        (median(ours), median(theirs))
    };
    let (value, baseline) = tokio::task::spawn_blocking(measure).await.unwrap();
    let metric = "a message, from post to durable 202, against write and fdatasync".to_owned();
    Row { metric, unit: "us", value, baseline: Some(baseline), bar: Some("<= 1.5") }.tell();
}

/// Rounds of the two sides in turns.
const ROUNDS: usize = 9;

async fn fan_out(daemon: &Daemon, bare: &bare::Bare, scale: &Scale) {
    let stream = format!("/events?projectId={}", daemon.project);
    let mut ours = listen((daemon.address, &daemon.token), &stream, scale.clients).await;
    // The tree as it is comes first.
    ours = all(ours, 1).await;
    let mut theirs = listen((bare.address, ""), "/stream", scale.clients).await;
    let path = format!("/projects/{}/tasks/{}", daemon.project, daemon.root);
    let title: Body = |number| Some(json!({ "title": format!("T{number}") }));
    let (mut our_speeds, mut their_speeds) = (Vec::new(), Vec::new());
    for _round in 0..ROUNDS {
        let (begin, before) = (Instant::now(), ours[0].bytes);
        let hearing = tokio::spawn(all(ours, scale.commits));
        write((daemon.address, &daemon.token), ("PATCH", &path, title), scale.commits).await;
        ours = hearing.await.unwrap();
        our_speeds.push(per_second(scale, begin.elapsed()));
        // As many bytes as a stream had of us, with what HTTP puts around them.
        let bytes = (ours[0].bytes - before) / scale.commits;

        let begin = Instant::now();
        let hearing = tokio::spawn(all(theirs, scale.commits));
        let send = format!("/send?bytes={bytes}");
        write((bare.address, ""), ("POST", &send, |_| None), scale.commits).await;
        theirs = hearing.await.unwrap();
        their_speeds.push(per_second(scale, begin.elapsed()));
    }
    let (value, baseline) = (median(our_speeds), Some(median(their_speeds)));
    let metric = format!("commits to {} streams, against a bare broadcast", scale.clients);
    Row { metric, unit: "frames/s", value, baseline, bar: Some(">= 0.7") }.tell();
}

/// What a request says, by its number.
type Body = fn(usize) -> Option<Value>;

/// Has something sent to all streams so many times, by several at once: what is measured is how it spreads, and one alone
/// would wait for the disk in between.
async fn write(
    (address, token): (std::net::SocketAddr, &str),
    (method, path, body): (&'static str, &str, Body),
    times: usize,
) {
    let each = (0..WIDTH).map(|writer| {
        let (token, path) = (token.to_owned(), path.to_owned());
        tokio::spawn(async move {
            let mut client = Client::connect(address, &token).await;
            for number in (writer..times).step_by(WIDTH) {
                let (status, _) = client.ask(method, &path, body(number).as_ref()).await;
                assert_eq!(status, 200);
            }
        })
    });
    for one in each.collect::<Vec<_>>() {
        one.await.unwrap();
    }
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

async fn all(listeners: Vec<Listener>, frames: usize) -> Vec<Listener> {
    let each = listeners.into_iter().map(|mut listener| {
        tokio::spawn(async move {
            listener.frames(frames).await;
            listener
        })
    });
    let mut listeners = Vec::new();
    for listener in each.collect::<Vec<_>>() {
        listeners.push(listener.await.unwrap());
    }
    listeners
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
