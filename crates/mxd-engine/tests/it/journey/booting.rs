//! What is taken up when several tasks are owed something at once.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use mxd_core::decide::AnswerItem;
use mxd_core::event::body::RestReason;
use mxd_core::event::{Event, EventBody};
use mxd_core::state::State;
use serde_json::json;

use super::stage::{Stage, apart, breaking, calls, capturing, conversation, expecting, speaks};
use crate::waiting::{self, Asked, Crowd};

/// The root has written to its child and the daemon dies before the message is delivered. The child waits for an
/// answer of the user, so both are looked at after the start; the message wakes the child, which is asked once.
#[tokio::test(flavor = "multi_thread")]
async fn who_is_woken_by_the_start_of_another_is_asked_once() {
    let send =
        |title: &str| ("send_message", json!({ "taskId": "$child", "title": title, "message": "Begin." }));
    let mut stage = Stage::set(json!([
        conversation(
            "Title: Root",
            vec![
                calls(&[("create_task", json!({ "title": "Child", "description": "Ask." }))]),
                capturing(calls(&[send("go")]), "Created the task (?<child>[0-9A-Z]{26})"),
                speaks("It works."),
                calls(&[send("again")]),
                speaks("Written."),
                speaks("Written, as far as I know for the first time."),
            ]
        ),
        conversation(
            "Title: Child",
            vec![
                calls(&[("clarify", json!({ "question": "Red or blue?" }))]),
                calls(&[("yield", json!({}))]),
                expecting(calls(&[("yield", json!({}))]), json!({ "user_texts": [{ "contains": "again" }] })),
                // The message is another one after the start: it had not been delivered.
                breaking(calls(&[("yield", json!({}))])),
            ]
        ),
    ]))
    .await;
    let root = stage.root();
    stage.say(root, "Have somebody ask.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let child = stage.task("Child");
    stage.until_rest(child, &RestReason::Yield).await;
    stage.say(root, "Write once more.").await;
    let read =
        |state: &State| state.session(child).life().turns == 3 && state.session(root).life().turns == 5;
    stage.until("the message is read", read).await;
    stage.until_rest(child, &RestReason::Yield).await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let wrote = |event: &Event| match &event.body {
        EventBody::TurnEnded(ended) => ended.calls.iter().any(|call| call.tool.ends_with("send_message")),
        _ => false,
    };
    stage.die_after(wrote).await;
    stage.until("the message is read again", read).await;
    stage.until_rest(child, &RestReason::Yield).await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    stage.end().await;
}

/// Everything in a folder, each with when it last changed.
fn looks(top: &Path) -> BTreeMap<PathBuf, (i64, i64)> {
    let mut seen = BTreeMap::new();
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let about = path.symlink_metadata().unwrap();
            if about.is_dir() {
                folders.push(path.clone());
            }
            seen.insert(path, (about.ctime(), about.ctime_nsec()));
        }
    }
    seen
}

/// One waits for anything, one for the user's answer, one has said what it had to say.
fn waits(asked: Asked) -> AnswerItem {
    match (asked.agent % 3, asked.turn) {
        (1, 1) => waiting::calls(asked, "clarify", r#"{"question":"Red or blue?"}"#),
        (0 | 1, _) => waiting::calls(asked, "yield", "{}"),
        _ => AnswerItem::Text("So it is.".to_owned()),
    }
}

/// From the log and from what was kept of it, with the folders of all of them there.
#[tokio::test(flavor = "multi_thread")]
async fn a_start_with_a_thousand_agents_that_wait_asks_nobody_and_makes_nothing() {
    let mut laid = BTreeMap::new();
    let fill = |ground: &Path| {
        apart(|| Crowd { agents: 1_000, answer: waits }.fill(ground));
        laid = looks(&ground.join("repo"));
        json!({})
    };
    // What it was told about the others is more than it reads at once.
    let root = conversation("Title: Root", vec![speaks("I see."), speaks("Here I am.")]);
    let mut stage = Stage::furnished(json!([root]), fill).await;
    assert!(laid.len() > 1_000, "the folders of the agents are there");
    let head = *stage.project().log().head().borrow();
    let forget = |ground: &Path| std::fs::remove_dir_all(ground.join("data/project/log/cache")).unwrap();
    for start in ["the first", "from the log", "from what was kept"] {
        match start {
            "from the log" => stage.restart_after(forget).await,
            "from what was kept" => stage.restart().await,
            _ => {}
        }
        assert_eq!(stage.project().log().report().from_snapshot, start == "from what was kept");
        let resting = |state: &State| {
            let sessions = state.sessions().values();
            sessions.filter(|session| session.rest().is_some() && !session.is_busy()).count()
        };
        assert_eq!(stage.project().look(resting), 1_000, "{start}");
        assert_eq!(stage.project().agents_in_memory(), 0, "nobody's session is built: {start}");
        assert_eq!(*stage.project().log().head().borrow(), head, "nothing happened: {start}");
        assert!(looks(&stage.repo()) == laid, "nothing was touched: {start}");
        assert!(!stage.ground.path().join("data/project/agents").exists(), "nobody has a room: {start}");
        assert!(stage.model.requests().is_empty(), "nobody was asked: {start}");
    }
    let root = stage.root();
    stage.say(root, "Are you there?").await;
    stage.until("two answers", |state| state.session(root).life().turns == 2).await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    assert_eq!(stage.project().agents_in_memory(), 1, "who works has a session");
    stage.end().await;
}
