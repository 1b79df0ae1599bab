//! Messages posted while the daemon is killed at random: every acknowledged one is there exactly once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mxd_core::id::Ulid;
use mxd_server::Contact;
use reqwest::Client;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{Notify, watch};

use crate::dice::Dice;
use crate::process::{Process, url};
use crate::rounds;
use crate::stage::{make_repository, reply, text, with};

/// Who posts at the same time.
const POSTERS: usize = 8;
/// Messages that one inbox takes.
const PER_TASK: usize = 400;

/// What all posters share.
struct Post {
    client: Client,
    /// Where the daemon is; none while there is none.
    daemon: watch::Receiver<Option<Contact>>,
    tasks: Vec<String>,
    acknowledged: AtomicUsize,
    progress: Notify,
}

impl Post {
    /// Posts a message until somebody says that it is there; its commit.
    async fn deliver(&self, number: usize) -> (String, u64) {
        let id = Ulid::from_parts(1_800_000_000_000, number as u128).to_string();
        let body = json!({ "id": id, "content": format!("Message {number}") });
        let mut daemon = self.daemon.clone();
        loop {
            let contact = daemon.wait_for(Option::is_some).await.unwrap().clone().unwrap();
            let path = url(&contact, &self.tasks[number / PER_TASK]);
            let sent = with(self.client.post(path).bearer_auth(&contact.token), &body).send().await;
            // Killed before, during or after: whoever does not know asks again, with the same id.
            let Ok(answer) = sent else {
                daemon.changed().await.unwrap();
                continue;
            };
            let status = answer.status().as_u16();
            let Ok(bytes) = answer.bytes().await else { continue };
            assert_eq!(status, 202, "{}", String::from_utf8_lossy(&bytes));
            let posted: Value = serde_json::from_slice(&bytes).unwrap();
            self.acknowledged.fetch_add(1, Ordering::SeqCst);
            self.progress.notify_one();
            return (id, posted["seq"].as_u64().unwrap());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_acknowledged_message_is_there_exactly_once_however_often_the_daemon_dies() {
    for seed in rounds::seeds(1) {
        killed(seed, rounds::size(600, 10_000), rounds::size(4, 40)).await;
    }
}

async fn killed(seed: u64, total: usize, kills: usize) {
    let (ground, mut dice) = (TempDir::new().unwrap(), Dice::new(seed));
    let data = ground.path().join("data");
    make_repository(&ground.path().join("repo"));
    let mut process = Process::start(&data).await;
    let client = Client::builder().no_proxy().build().unwrap();
    let (project, tasks) = prepare(&client, &process.contact, (ground.path(), total)).await;
    let (told, daemon) = watch::channel(Some(process.contact.clone()));
    let paths = tasks.iter().map(|task| format!("/projects/{project}/tasks/{task}/message")).collect();
    let post = Arc::new(Post {
        client: client.clone(),
        daemon,
        tasks: paths,
        acknowledged: AtomicUsize::new(0),
        progress: Notify::new(),
    });
    let posters: Vec<_> = (0..POSTERS)
        .map(|poster| {
            let post = Arc::clone(&post);
            tokio::spawn(async move {
                let mut seen = Vec::new();
                for number in (poster..total).step_by(POSTERS) {
                    seen.push(post.deliver(number).await);
                }
                seen
            })
        })
        .collect();
    let mut moments: Vec<usize> =
        (0..kills).map(|_| usize::try_from(dice.below(total as u64)).unwrap()).collect();
    moments.sort_unstable();
    for moment in moments {
        while post.acknowledged.load(Ordering::SeqCst) < moment {
            post.progress.notified().await;
        }
        told.send_replace(None);
        process.kill().await;
        process = Process::start(&data).await;
        told.send_replace(Some(process.contact.clone()));
    }
    let mut acknowledged = BTreeMap::new();
    for poster in posters {
        acknowledged.extend(poster.await.unwrap());
    }
    assert_eq!(acknowledged.len(), total);
    let mut found = BTreeSet::new();
    for task in &tasks {
        for (id, seq) in messages(&client, &process.contact, &project, task).await {
            assert_eq!(acknowledged.get(&id), Some(&seq), "seed {seed}: {id} is where it was said to be");
            assert!(found.insert(id.clone()), "seed {seed}: {id} is there twice");
        }
    }
    assert_eq!(found.len(), total, "seed {seed}");
    process.kill().await;
}

/// A project with tasks that wait for another one, so that messages stay in their inboxes.
async fn prepare(
    client: &Client,
    contact: &Contact,
    (ground, total): (&Path, usize),
) -> (String, Vec<String>) {
    let ask = |path: String, body: Value| {
        let request = client.post(url(contact, &path)).bearer_auth(&contact.token);
        async move {
            let (status, value) = reply(with(request, &body)).await;
            assert_eq!(status, 201, "{value}");
            text(&value["id"])
        }
    };
    let project = ask("/projects".to_owned(), json!({ "path": ground.join("repo") })).await;
    let first = ask(format!("/projects/{project}/tasks"), json!({ "title": "First" })).await;
    let mut tasks = Vec::new();
    for number in 0..total.div_ceil(PER_TASK) {
        let wish = json!({ "title": format!("Waits {number}"), "after": [first] });
        tasks.push(ask(format!("/projects/{project}/tasks"), wish).await);
    }
    (project, tasks)
}

/// All messages of a task, with their commits.
async fn messages(client: &Client, contact: &Contact, project: &str, task: &str) -> Vec<(String, u64)> {
    let (mut found, mut before) = (Vec::new(), String::new());
    loop {
        let path = format!("/projects/{project}/tasks/{task}/events?limit=500{before}");
        let (status, page) = reply(client.get(url(contact, &path)).bearer_auth(&contact.token)).await;
        assert_eq!(status, 200, "{page}");
        let events = page["events"].as_array().unwrap();
        let posted = events.iter().filter(|event| event["body"]["source"] == "user");
        found.extend(posted.map(|event| (text(&event["id"]), event["seq"].as_u64().unwrap())));
        if page["hasMore"] == json!(false) {
            return found;
        }
        before = format!("&before={}", events[0]["seq"]);
    }
}
