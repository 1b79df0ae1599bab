//! Two tasks that change the same line: the second one's owner resolves it.

use mxd_core::tree::Status;
use serde_json::json;

use super::stage::{Stage, calls, capturing, conversation, expecting, git};

fn write_and_commit(line: &str) -> serde_json::Value {
    calls(&[("bash", json!({ "command": format!("echo '{line}' > README.md && git commit -qam '{line}'") }))])
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_of_a_conflict_resolves_it_and_both_changes_arrive() {
    let done = || calls(&[("done", json!({ "status": "passed", "summary": "Changed." }))]);
    let start =
        |child: &str| ("send_message", json!({ "taskId": child, "title": "go", "message": "Begin." }));
    let stage = Stage::set(json!([
        conversation("Title: Root", vec![
            calls(&[
                ("create_task", json!({ "title": "First", "description": "Change the line." })),
                ("create_task", json!({ "title": "Second", "description": "Change the line, too." })),
            ]),
            capturing(
                calls(&[start("$first"), start("$second")]),
                "(?s)Created the task (?<first>[0-9A-Z]{26}).*Created the task (?<second>[0-9A-Z]{26})",
            ),
            calls(&[("yield", json!({}))]),
            calls(&[("yield", json!({}))]),
            calls(&[("merge_task", json!({ "taskId": "$first" }))]),
            expecting(
                calls(&[("merge_task", json!({ "taskId": "$second" }))]),
                json!({ "tool_results": [{ "contains": "Merged First", "is_error": false }] }),
            ),
            expecting(
                calls(&[("send_message", json!({ "taskId": "$second", "title": "conflict", "message": "Resolve it, please." }))]),
                json!({ "tool_results": [{ "contains": ["README.md", "<<<<<<<"], "is_error": true }] }),
            ),
            calls(&[("yield", json!({}))]),
            calls(&[("merge_task", json!({ "taskId": "$second" }))]),
            expecting(done(), json!({ "tool_results": [{ "contains": "Merged Second", "is_error": false }] })),
        ]),
        conversation("Title: First", vec![write_and_commit("one"), done()]),
        conversation("Title: Second", vec![
            write_and_commit("two"),
            done(),
            expecting(
                calls(&[("bash", json!({
                    "command": "git merge -q main || true; printf 'one\\ntwo\\n' > README.md; git commit -qam both; git status --short"
                }))]),
                json!({ "user_texts": [{ "contains": "conflicts" }, { "contains": "Resolve it" }] }),
            ),
            done(),
        ]),
    ]))
    .await;
    let root = stage.root();
    stage.say(root, "Have both change it.").await;
    stage.until_status(root, Status::Passed).await;
    assert_eq!(std::fs::read_to_string(stage.repo().join("README.md")).unwrap(), "one\ntwo\n");
    assert_eq!(git(&stage.repo(), &["status", "--porcelain"]), "");
    stage.end().await;
}
