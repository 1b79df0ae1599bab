//! A root that delegates, a child that works, and the merge.

use mxd_core::tree::Status;
use serde_json::json;

use super::stage::{Stage, calls, capturing, conversation, expecting, git};

#[tokio::test(flavor = "multi_thread")]
async fn a_child_writes_a_file_and_its_work_arrives_in_the_base_branch() {
    let stage = Stage::set(json!([
        conversation("Title: Root", vec![
            calls(&[("create_task", json!({ "title": "Write the poem", "description": "A poem in poem.txt." }))]),
            capturing(
                calls(&[("send_message", json!({ "taskId": "$child", "title": "go", "message": "Begin." }))]),
                "Created the task (?<child>[0-9A-Z]{26})",
            ),
            calls(&[("yield", json!({}))]),
            expecting(
                calls(&[("merge_task", json!({ "taskId": "$child" }))]),
                json!({ "user_texts": [{ "contains": "The poem is there" }] }),
            ),
            expecting(
                calls(&[("done", json!({ "status": "passed", "summary": "The poem is merged." }))]),
                json!({ "tool_results": [{ "call": "mcp__mxd__merge_task", "contains": "Merged", "is_error": false }] }),
            ),
        ]),
        conversation("Title: Write the poem", vec![
            calls(&[("write_file", json!({ "path": "poem.txt", "content": "roses\n" }))]),
            expecting(
                calls(&[("bash", json!({ "command": "git add poem.txt && git commit -q -m poem && git log --oneline | head -1" }))]),
                json!({ "tool_results": [{ "call": "mcp__mxd__write_file", "is_error": false }] }),
            ),
            expecting(
                calls(&[("done", json!({ "status": "passed", "summary": "The poem is there." }))]),
                json!({ "tool_results": [{ "call": "mcp__mxd__bash", "contains": "poem", "is_error": false }] }),
            ),
        ]),
    ]))
    .await;
    let root = stage.root();
    stage.say(root, "Please have a poem written.").await;
    stage.until_status(root, Status::Passed).await;
    assert_eq!(std::fs::read_to_string(stage.repo().join("poem.txt")).unwrap(), "roses\n");
    assert_eq!(git(&stage.repo(), &["status", "--porcelain"]), "");
    let child = stage.task("Write the poem");
    assert_eq!(stage.project().look(|state| state.tree().get(child).unwrap().status()), Some(Status::Passed));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn work_of_the_third_level_arrives_through_the_second() {
    let start =
        || calls(&[("send_message", json!({ "taskId": "$child", "title": "go", "message": "Begin." }))]);
    let created = "Created the task (?<child>[0-9A-Z]{26})";
    let merged = json!({ "tool_results": [{ "call": "mcp__mxd__merge_task", "contains": "Merged", "is_error": false }] });
    let done = || calls(&[("done", json!({ "status": "passed", "summary": "It is there." }))]);
    let delegates = |title: &str| {
        vec![
            calls(&[("create_task", json!({ "title": title, "description": "A file." }))]),
            capturing(start(), created),
            calls(&[("yield", json!({}))]),
            calls(&[("merge_task", json!({ "taskId": "$child" }))]),
            expecting(done(), merged.clone()),
        ]
    };
    let stage = Stage::set(json!([
        conversation("Title: Root", delegates("Middle")),
        conversation("Title: Middle", delegates("Leaf")),
        conversation(
            "Title: Leaf",
            vec![
                calls(&[(
                    "bash",
                    json!({ "command": "echo leaf > leaf.txt && git add -A && git commit -qm leaf" })
                )]),
                done(),
            ]
        ),
    ]))
    .await;
    let root = stage.root();
    stage.say(root, "Have it made.").await;
    stage.until_status(root, Status::Passed).await;
    assert_eq!(std::fs::read_to_string(stage.repo().join("leaf.txt")).unwrap(), "leaf\n");
    stage.end().await;
}
