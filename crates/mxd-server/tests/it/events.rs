//! The live stream: what a client sees of it, however it is cut off, slow or late.

use std::collections::BTreeSet;

use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::stage::{PATIENCE, Stage, conversation, gated, speaks, text};

/// One event of a stream.
#[derive(Debug, Clone)]
pub(crate) struct Heard {
    pub(crate) name: String,
    pub(crate) id: Option<String>,
    pub(crate) data: Value,
}

/// A client of a stream.
pub(crate) struct Stream {
    answer: Response,
    buffer: String,
}

impl Stage {
    /// Listens to the project, from a cursor on.
    pub(crate) async fn listen(&self, cursor: Option<&str>) -> Stream {
        let mut request = self.ask(Method::GET, &format!("/events?projectId={}", self.project));
        if let Some(cursor) = cursor {
            request = request.header("last-event-id", cursor);
        }
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        Stream { answer, buffer: String::new() }
    }
}

impl Stream {
    pub(crate) fn new(answer: Response) -> Self {
        Self { answer, buffer: String::new() }
    }

    /// The next event; none when the stream has ended.
    pub(crate) async fn next(&mut self) -> Option<Heard> {
        loop {
            if let Some(end) = self.buffer.find("\n\n") {
                let frame: String = self.buffer.drain(..end + 2).collect();
                return Some(parse(&frame));
            }
            let chunk =
                tokio::time::timeout(PATIENCE, self.answer.chunk()).await.expect("silence").ok()??;
            self.buffer.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// The next event of this name.
    pub(crate) async fn named(&mut self, name: &str) -> Heard {
        let waiting = async {
            loop {
                let heard = self.next().await.unwrap_or_else(|| panic!("the stream ended before a {name}"));
                if heard.name == name {
                    return heard;
                }
            }
        };
        tokio::time::timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("there was no {name}"))
    }

    /// The next commit.
    pub(crate) async fn commit(&mut self) -> Heard {
        self.named("commit").await
    }
}

fn parse(frame: &str) -> Heard {
    let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    Heard {
        name: field("event").unwrap().to_owned(),
        id: field("id").map(str::to_owned),
        data: serde_json::from_str(field("data").unwrap()).unwrap(),
    }
}

fn seq(heard: &Heard) -> u64 {
    heard.data["seq"].as_u64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_begins_with_the_tree_and_hears_every_change_once() {
    let stage = Stage::set(json!([])).await;
    let mut stream = stage.listen(None).await;
    let first = stream.next().await.unwrap();
    assert_eq!((first.name.as_str(), &first.data["rootId"]), ("snapshot", &json!(stage.root)));
    assert_eq!(first.id.as_deref(), first.data["cursor"].as_str());
    let start: u64 = text(&first.data["cursor"]).rsplit_once('-').unwrap().1.parse().unwrap();

    let task = stage.task("One").await;
    let made = stream.commit().await;
    assert_eq!(seq(&made), start + 1);
    assert_eq!(made.data["events"][0]["type"], "task_created");
    assert_eq!(made.data["events"][0]["line"], "created: One");
    let changed: BTreeSet<String> =
        made.data["tasks"].as_array().unwrap().iter().map(|task| text(&task["id"])).collect();
    assert_eq!(changed, BTreeSet::from([task.clone(), stage.root.clone()]));

    let folder = stage.act("/tasks", json!({ "kind": "folder", "title": "Folder" })).await;
    stream.commit().await;
    stage.patch(&stage.of(&format!("/tasks/{task}")), json!({ "parentId": folder["id"] })).await;
    let moved = stream.commit().await;
    let changed: BTreeSet<String> =
        moved.data["tasks"].as_array().unwrap().iter().map(|task| text(&task["id"])).collect();
    assert_eq!(changed, BTreeSet::from([task.clone(), stage.root.clone(), text(&folder["id"])]));
    stage.delete(&stage.of(&format!("/tasks/{task}"))).await;
    let gone = stream.commit().await;
    assert_eq!(gone.data["removed"], json!([task]));
    assert_eq!(view_of(&gone, &text(&folder["id"]))["children"], json!([]));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_comes_back_misses_nothing_also_after_a_restart() {
    let mut stage = Stage::set(json!([])).await;
    let mut stream = stage.listen(None).await;
    stream.next().await.unwrap();
    stage.task("Heard").await;
    let last = stream.commit().await;
    drop(stream);
    let missed = [stage.task("Missed one").await, stage.task("Missed two").await];
    hears_what_was_missed(&stage, &last, &missed).await;
    stage.restart().await;
    // Another start has another epoch, and the commits have the same numbers.
    hears_what_was_missed(&stage, &last, &missed).await;
    let mut ahead = stage.listen(Some("0-999999")).await;
    assert_eq!(ahead.next().await.unwrap().name, "snapshot");
    stage.end().await;
}

/// What a commit says of a task.
fn view_of<'a>(heard: &'a Heard, task: &str) -> &'a Value {
    let tasks = heard.data["tasks"].as_array().unwrap();
    tasks.iter().find(|view| view["id"] == task).unwrap_or_else(|| panic!("no {task} in {}", heard.data))
}

async fn hears_what_was_missed(stage: &Stage, last: &Heard, missed: &[String]) {
    let mut stream = stage.listen(last.id.as_deref()).await;
    for (index, task) in missed.iter().enumerate() {
        let heard = stream.next().await.unwrap();
        assert_eq!((heard.name.as_str(), seq(&heard)), ("commit", seq(last) + 1 + index as u64));
        assert_eq!(heard.data["events"][0]["task"], json!(task));
        assert_eq!(heard.data.get("tasks"), None);
    }
    let snapshot = stream.named("snapshot").await;
    assert_eq!(snapshot.data["tasks"].as_array().unwrap().len(), 4);
    stage.patch(&stage.of(&format!("/tasks/{}", missed[0])), json!({ "color": "red" })).await;
    let live = stream.commit().await;
    assert_eq!(view_of(&live, &missed[0])["color"], "red");
    stage.patch(&stage.of(&format!("/tasks/{}", missed[0])), json!({ "color": null })).await;
    let live = stream.commit().await;
    assert_eq!(view_of(&live, &missed[0]).get("color"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_client_holds_nobody_up_and_still_gets_everything() {
    let stage = Stage::set(json!([])).await;
    let mut slow = stage.listen(None).await;
    let snapshot = slow.next().await.unwrap();
    let start: u64 = text(&snapshot.data["cursor"]).rsplit_once('-').unwrap().1.parse().unwrap();
    let mut quick = stage.listen(None).await;
    quick.next().await.unwrap();
    // More than the channel holds, and far more than a socket takes: descriptions of a kilobyte each.
    let path = stage.of(&format!("/tasks/{}", stage.root));
    let total = 400;
    for number in 0..total {
        let words = format!("{number} {}", "x".repeat(900));
        assert_eq!(stage.patch(&path, json!({ "description": words })).await.0, 200);
    }
    for expected in start + 1..=start + total {
        assert_eq!(seq(&quick.commit().await), expected);
    }
    let mut expected = start + 1;
    while expected <= start + total {
        let heard = slow.next().await.unwrap();
        match heard.name.as_str() {
            "commit" => {
                assert_eq!(seq(&heard), expected);
                expected += 1;
            }
            "snapshot" | "heartbeat" => {}
            other => panic!("{other}"),
        }
    }
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn words_arrive_while_they_are_written_and_before_what_they_become() {
    let stage = Stage::set(json!([conversation(
        "Title: Root",
        vec![gated(speaks("A long answer that comes in several pieces."), "half")]
    )]))
    .await;
    let mut stream = stage.listen(None).await;
    stage.act(&format!("/tasks/{}/message", stage.root), json!({ "content": "Speak." })).await;
    stage.model.gate_reached("half").await.unwrap();
    stage.model.open_gate("half").unwrap();
    let mut words = String::new();
    loop {
        let heard = stream.next().await.unwrap();
        assert!(
            heard.name != "delta" || heard.id.is_none(),
            "what is for the eye has no place to go on from"
        );
        if heard.name == "delta" && heard.data["type"] == "text_delta" {
            words.push_str(heard.data["content"].as_str().unwrap());
        }
        let events = heard.data["events"].as_array().cloned().unwrap_or_default();
        if let Some(said) = events.iter().find(|event| event["type"] == "assistant_text") {
            assert_eq!(said["content"], json!(words));
            break;
        }
    }
    stage
        .until(&stage.root, "a rest", |view| {
            view["life"]["turns"] == 1 && view["agent"]["state"] == "waiting"
        })
        .await;
    stage.end().await;
}
