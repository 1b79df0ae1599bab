//! Many who listen while many agents talk: everybody hears every durable event once and in order.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use memchr::memmem;
use mxd_server::{Contact, raise_file_limit};
use rehearse::{Rehearsal, Script, Wire};
use reqwest::{Client, RequestBuilder, Response};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;

use crate::events::Stream;
use crate::process::{Process, url};
use crate::rounds;
use crate::stage::{make_repository, text, with, write_settings};

/// How often each agent is written to, and so how often it answers.
const MESSAGES: usize = 3;
/// How long anything may take before it counts as stuck.
const CROWD_PATIENCE: Duration = Duration::from_secs(600);
/// Words of an answer.
const WORDS: usize = 120;

/// How many there are.
#[derive(Clone, Copy)]
struct Crowd {
    clients: usize,
    agents: usize,
    /// Of so many clients one looks at what the events say, and not only at their numbers.
    attentive: usize,
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_hears_everything_once_and_in_order_while_many_agents_talk() {
    let crowd = Crowd {
        clients: rounds::size(300, 1_000),
        agents: rounds::size(10, 100),
        attentive: rounds::size(1, 50),
    };
    for _round in rounds::seeds(1) {
        println!("{}", listened_to(crowd).await);
    }
}

/// What a commit says, without what it did to the tree.
#[derive(Deserialize)]
struct Told<'a> {
    seq: u64,
    #[serde(borrow)]
    events: Vec<&'a RawValue>,
}

/// What one client heard.
#[derive(Default)]
struct Heard {
    /// The commit it began after.
    begin: u64,
    commits: u64,
    deltas: u64,
    /// How often it was taken for gone and came back.
    returns: u64,
    /// The events of each commit, where somebody looks at them.
    events: Vec<String>,
}

/// Listens until the last commit was heard, and checks that none is missing or told twice. Whoever reads so slowly that
/// the daemon takes it for gone comes back, as a browser does, and goes on where it was.
async fn listen(
    stand: Arc<Ground>,
    mut answer: Response,
    look: bool,
    mut last: watch::Receiver<Option<u64>>,
) -> Heard {
    let (mut heard, mut next) = (Heard::default(), None::<u64>);
    loop {
        let mut buffer = Vec::new();
        loop {
            if let (Some(next), Some(end)) = (next, *last.borrow_and_update())
                && next > end
            {
                return heard;
            }
            let chunk = tokio::select! {
                chunk = answer.chunk() => chunk,
                _ = last.changed() => continue,
            };
            let Ok(Some(chunk)) = chunk else { break };
            buffer.extend_from_slice(&chunk);
            let mut read = 0;
            while let Some(length) = memmem::find(&buffer[read..], b"\n\n") {
                let frame = std::str::from_utf8(&buffer[read..read + length]).unwrap();
                take(frame, look, &mut next, &mut heard);
                read += length + 2;
            }
            buffer.drain(..read);
        }
        heard.returns += 1;
        answer = stand.stream(next.map(|next| next - 1)).await;
    }
}

fn take(frame: &str, look: bool, next: &mut Option<u64>, heard: &mut Heard) {
    let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let number = || field("id").unwrap().rsplit_once('-').unwrap().1.parse::<u64>().unwrap();
    match field("event").unwrap() {
        "snapshot" => {
            // A later one is what a client gets that fell behind; it goes on from where that client was.
            let begin = *next.get_or_insert(number() + 1);
            heard.begin = if heard.commits == 0 { begin - 1 } else { heard.begin };
            assert_eq!(begin, number() + 1, "a snapshot is of where the client is");
        }
        "commit" => {
            assert_eq!(Some(number()), *next, "no commit is missing, and none is told twice");
            *next = Some(number() + 1);
            heard.commits += 1;
            if look {
                let told: Told<'_> = serde_json::from_str(field("data").unwrap()).unwrap();
                assert_eq!(told.seq, number());
                heard.events.extend(told.events.iter().map(|event| event.get().to_owned()));
            }
        }
        "delta" => heard.deltas += 1,
        _ => {}
    }
}

/// What the daemon answers. In a crowd that may take a while on a small machine, and is no failure.
async fn said(request: RequestBuilder) -> Value {
    let answer = tokio::time::timeout(CROWD_PATIENCE, request.send()).await.unwrap().unwrap();
    let (good, bytes) = (answer.status().is_success(), answer.bytes().await.unwrap());
    assert!(good, "{}", String::from_utf8_lossy(&bytes));
    serde_json::from_slice(&bytes).unwrap()
}

struct Ground {
    client: Client,
    contact: Contact,
    project: String,
}

impl Ground {
    async fn post(&self, path: &str, body: &Value) -> Value {
        let path = url(&self.contact, &format!("/projects{path}"));
        said(with(self.client.post(path).bearer_auth(&self.contact.token), body)).await
    }

    async fn get(&self, path: &str) -> Value {
        let path = url(&self.contact, &format!("/projects/{}{path}", self.project));
        said(self.client.get(path).bearer_auth(&self.contact.token)).await
    }

    /// A live stream, from after a commit on. Each has a connection of its own as long as it lasts.
    async fn stream(&self, after: Option<u64>) -> Response {
        let path = url(&self.contact, &format!("/events?projectId={}", self.project));
        let mut request = self.client.get(path).bearer_auth(&self.contact.token);
        if let Some(after) = after {
            request = request.header("last-event-id", format!("{}-{after}", self.contact.epoch));
        }
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 200);
        answer
    }

    /// All events up to a commit, from the log.
    async fn events_through(&self, end: u64) -> Vec<Value> {
        let (mut all, mut before) = (Vec::new(), format!("&before={}", end + 1));
        loop {
            let page = self.get(&format!("/events?limit=1000{before}")).await;
            let events = page["events"].as_array().unwrap();
            all.splice(0..0, events.iter().cloned());
            if page["hasMore"] == json!(false) {
                return all;
            }
            before = format!("&before={}", events[0]["seq"]);
        }
    }
}

/// Plays a round; how much there was to be heard.
async fn listened_to(crowd: Crowd) -> String {
    raise_file_limit();
    let ground = TempDir::new().unwrap();
    make_repository(&ground.path().join("repo"));
    let words = vec!["word"; WORDS].join(" ");
    let script = json!({ "conversations": [], "default_reply": { "blocks": [{ "text": words }] } });
    let model = Rehearsal::start(Script::parse("story.json", &script.to_string()).unwrap()).unwrap();
    let settings = json!({ "limits": { "agents": crowd.agents } });
    write_settings(ground.path(), &model.base_url(Wire::Anthropic), settings);
    let process = Process::start(&ground.path().join("data")).await;
    let client = Client::builder().no_proxy().build().unwrap();
    let mut stand = Ground { client, contact: process.contact.clone(), project: String::new() };
    stand.project = text(&stand.post("", &json!({ "path": ground.path().join("repo") })).await["id"]);
    let stand = Arc::new(stand);
    let (told, last) = watch::channel(None);
    let mut clients = Vec::new();
    for number in 0..crowd.clients {
        let (answer, look) = (stand.stream(None).await, number % crowd.attentive == 0);
        clients.push(tokio::spawn(listen(Arc::clone(&stand), answer, look, last.clone())));
    }
    let board = watch::Sender::new(Board::new());
    let agents: Vec<_> = (0..crowd.agents)
        .map(|number| tokio::spawn(talk(Arc::clone(&stand), number, board.subscribe())))
        .collect();
    let foreman = tokio::spawn(watch_over(Stream::new(stand.stream(None).await), board));
    for agent in agents {
        agent.await.unwrap();
    }
    foreman.abort();
    let cursor = text(&stand.get("/tasks").await["cursor"]);
    let end: u64 = cursor.rsplit_once('-').unwrap().1.parse().unwrap();
    told.send_replace(Some(end));
    let logged = stand.events_through(end).await;
    let (mut commits, mut deltas, mut returns) = (0, 0, 0);
    for client in clients {
        let heard = client.await.unwrap();
        assert!(heard.begin + heard.commits >= end);
        (commits, deltas, returns) =
            (commits + heard.commits, deltas + heard.deltas, returns + heard.returns);
        if !heard.events.is_empty() {
            check(&logged, &heard, end);
        }
    }
    process.kill().await;
    format!(
        "{} clients, {} agents: {end} commits in the log, {commits} heard, {deltas} deltas, {returns} returns",
        crowd.clients, crowd.agents
    )
}

/// Holds what a client heard against the log.
fn check(logged: &[Value], heard: &Heard, end: u64) {
    let seq = |event: &Value| event["seq"].as_u64().unwrap();
    let told = heard.events.iter().map(|event| serde_json::from_str::<Value>(event).unwrap());
    let told: Vec<Value> = told.filter(|event| seq(event) <= end).collect();
    let since: Vec<&Value> = logged.iter().filter(|event| seq(event) > heard.begin).collect();
    assert!(since.iter().copied().eq(&told), "what is told is what is in the log");
}

/// How each task stands: its turns, and what its agent does.
type Board = HashMap<String, (u64, String)>;

/// Keeps the board up to date by what one stream tells.
async fn watch_over(mut stream: Stream, board: watch::Sender<Board>) {
    while let Some(heard) = stream.next().await {
        let tasks = heard.data["tasks"].as_array().cloned().unwrap_or_default();
        board.send_modify(|board| {
            for task in tasks {
                let state = task["agent"]["state"].as_str().unwrap_or_default().to_owned();
                board.insert(text(&task["id"]), (task["life"]["turns"].as_u64().unwrap_or(0), state));
            }
        });
    }
}

/// Writes to an agent of its own, waits for each answer.
async fn talk(stand: Arc<Ground>, number: usize, mut board: watch::Receiver<Board>) {
    let path = format!("/{}/tasks", stand.project);
    let task = text(&stand.post(&path, &json!({ "title": format!("Agent {number}") })).await["id"]);
    for turn in 1..=MESSAGES as u64 {
        let content = json!({ "content": format!("Say something, {turn}.") });
        stand.post(&format!("{path}/{task}/message"), &content).await;
        let answered = |board: &Board| {
            board.get(&task).is_some_and(|(turns, state)| *turns >= turn && state == "waiting")
        };
        board.wait_for(answered).await.unwrap();
    }
}
