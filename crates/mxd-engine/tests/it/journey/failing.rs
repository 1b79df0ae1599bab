//! A child that fails, and goes on when the task above says how.

use mxd_core::tree::Status;
use serde_json::json;

use super::stage::{Stage, calls, capturing, conversation, expecting};

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_failed_is_resumed_with_what_it_knows_and_passes() {
    let done = |status: &str, words: &str| calls(&[("done", json!({ "status": status, "summary": words }))]);
    let say = |words: &str| {
        calls(&[("send_message", json!({ "taskId": "$child", "title": "go", "message": words }))])
    };
    let stage = Stage::set(json!([
        conversation(
            "Title: Root",
            vec![
                calls(&[(
                    "create_task",
                    json!({ "title": "Find the key", "description": "Write it to key.txt." })
                )]),
                capturing(say("Begin."), "Created the task (?<child>[0-9A-Z]{26})"),
                calls(&[("yield", json!({}))]),
                expecting(
                    say("It is under the mat."),
                    json!({ "user_texts": [{ "contains": "There is no key" }] })
                ),
                calls(&[("yield", json!({}))]),
                calls(&[("merge_task", json!({ "taskId": "$child" }))]),
                expecting(
                    done("passed", "The key is merged."),
                    json!({ "tool_results": [{ "contains": "Merged", "is_error": false }] })
                ),
            ]
        ),
        conversation(
            "Title: Find the key",
            vec![
                calls(&[("bash", json!({ "command": "cat key.txt" }))]),
                expecting(
                    done("failed", "There is no key."),
                    json!({ "tool_results": [{ "contains": "No such file", "is_error": true }] })
                ),
                expecting(
                    calls(&[(
                        "bash",
                        json!({ "command": "echo mat > key.txt && git add -A && git commit -qm key" })
                    )]),
                    json!({ "user_texts": [{ "contains": "under the mat" }] })
                ),
                done("passed", "The key was under the mat."),
            ]
        ),
    ]))
    .await;
    let root = stage.root();
    stage.say(root, "Have the key found.").await;
    stage
        .until("a failed child", |state| {
            let mut nodes = state.tree().nodes().values();
            nodes.any(|node| node.title == "Find the key" && node.status() == Some(Status::Failed))
        })
        .await;
    stage.until_status(root, Status::Passed).await;
    let child = stage.task("Find the key");
    assert_eq!(stage.project().look(|state| state.tree().get(child).unwrap().status()), Some(Status::Passed));
    assert_eq!(std::fs::read_to_string(stage.repo().join("key.txt")).unwrap(), "mat\n");
    stage.end().await;
}
