//! A root that delegates, a child that works, and the merge.

use mxd_core::event::body::RestReason;
use mxd_core::tree::Status;
use serde_json::json;

use super::stage::{Stage, calls, capturing, conversation, expecting, git, speaks};

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

#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_directly_below_is_merged() {
    let created = |name: &str| format!("Created the task (?<{name}>[0-9A-Z]{{26}})");
    let middle = json!({ "title": "Middle", "description": "In between." });
    let leaf = json!({ "title": "Leaf", "description": "Below it.", "parentId": "$middle" });
    let refused = json!({ "tool_results": [{
        "call": "mcp__mxd__merge_task", "contains": "only a task directly below yours can be merged", "is_error": true
    }] });
    let turns = vec![
        calls(&[("create_task", middle)]),
        capturing(calls(&[("create_task", leaf)]), &created("middle")),
        capturing(calls(&[("merge_task", json!({ "taskId": "$leaf" }))]), &created("leaf")),
        expecting(speaks("It is not mine to merge."), refused),
    ];
    let stage = Stage::set(json!([conversation("Title: Root", turns)])).await;
    let root = stage.root();
    stage.say(root, "Merge what is two below.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_root_writes_nothing_into_the_users_checkout() {
    let told = |tool: &str| json!({ "tool_results": [{ "call": format!("mcp__mxd__{tool}"), "contains": "only to be looked at", "is_error": true }] });
    let edit = json!({ "path": "README.md", "old_string": "small", "new_string": "large" });
    let seen = json!({ "tool_results": [{ "call": "mcp__mxd__bash", "contains": "A small program" }] });
    let command = "cat README.md; echo by hand > by-hand.txt; echo more >> README.md; git commit -qam more";
    let turns = vec![
        calls(&[("write_file", json!({ "path": "by-tool.txt", "content": "by tool\n" }))]),
        expecting(calls(&[("edit_file", edit)]), told("write_file")),
        expecting(calls(&[("bash", json!({ "command": command }))]), told("edit_file")),
        expecting(speaks("I only look."), seen),
    ];
    let stage = Stage::set(json!([conversation("Title: Root", turns)])).await;
    let (root, head) = (stage.root(), git(&stage.repo(), &["rev-parse", "HEAD"]));
    stage.say(root, "Write something.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    assert_eq!(git(&stage.repo(), &["status", "--porcelain"]), "");
    assert_eq!(git(&stage.repo(), &["rev-parse", "HEAD"]), head);
    stage.end().await;
}
