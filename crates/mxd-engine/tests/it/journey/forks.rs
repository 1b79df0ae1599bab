//! Tasks that begin with the conversation of another, and those that begin with theirs.

use mxd_core::tree::Status;
use serde_json::{Value, json};

use super::stage::{Stage, calls, capturing, conversation, expecting};

/// A conversation with a name, so that forks can say where they come from.
fn named(id: &str, mut conversation: Value) -> Value {
    conversation["id"] = json!(id);
    conversation
}

/// A conversation that begins as another did when it made its second request.
fn fork_of(parent: &str, mut conversation: Value) -> Value {
    conversation["fork_of"] = json!({ "conversation": parent, "at_turn": 2 });
    conversation
}

/// The turns in which a task has a fork of its conversation go on, and waits for it.
fn forks_itself(own: &str, child: &str) -> Vec<Value> {
    let go = json!({ "taskId": "$child", "title": "go", "message": "Say the word." });
    let create = calls(&[("create_task", json!({ "title": child, "description": "Go on from here." }))]);
    vec![
        capturing(create, own),
        capturing(
            calls(&[("fork_task_context", json!({ "sourceTaskId": "$own", "targetTaskId": "$child" }))]),
            "Created the task (?<child>[0-9A-Z]{26})",
        ),
        expecting(
            calls(&[("send_message", go)]),
            json!({ "tool_results": [{ "contains": "You are the one who called" }] }),
        ),
        calls(&[("yield", json!({}))]),
    ]
}

fn done(words: &str) -> Value {
    calls(&[("done", json!({ "status": "passed", "summary": words }))])
}

/// The scripted model holds each fork to the beginning it shares, byte for byte.
#[tokio::test(flavor = "multi_thread")]
async fn a_fork_and_a_fork_of_it_begin_with_the_words_of_where_they_come_from() {
    let mut root = forks_itself("# Your task\\s+Task: (?<own>[0-9A-Z]{26})", "Second");
    root.push(expecting(
        done("Both are back."),
        json!({ "user_texts": [{ "contains": "heliotrope from the second" }] }),
    ));
    let mut second = forks_itself("Your task is (?<own>[0-9A-Z]{26})", "Third");
    second.push(expecting(
        done("heliotrope from the second"),
        json!({ "user_texts": [{ "contains": "heliotrope from the third" }] }),
    ));
    let stage = Stage::set(json!([
        named("root", conversation("Title: Root", root)),
        named("second", fork_of("root", conversation("You are the one who inherits", second))),
        named(
            "third",
            fork_of(
                "second",
                conversation("You are the one who inherits", vec![done("heliotrope from the third")])
            )
        ),
    ]))
    .await;
    let root = stage.root();
    stage.say(root, "Remember the word: heliotrope.").await;
    stage.until_status(root, Status::Passed).await;
    let requests = stage.model.requests();
    let first = requests.iter().find(|request| request.conversation.as_deref() == Some("second")).unwrap();
    let later = |line: &&String| line.starts_with("assistant call") && line.contains("send_message");
    assert_eq!(first.shape.iter().find(later), None, "what the root said after the fork is the root's alone");
    for title in ["Second", "Third"] {
        let task = stage.task(title);
        assert_eq!(
            stage.project().look(|state| state.tree().get(task).unwrap().status()),
            Some(Status::Passed)
        );
    }
    stage.end().await;
}
