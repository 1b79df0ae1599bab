//! How tasks end: with evidence, or not.

use mxd_core::event::EventBody;
use mxd_core::event::body::RestReason;
use mxd_core::tree::Status;
use serde_json::json;

use super::stage::{Stage, calls, capturing, conversation, expecting};

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_passed_only_when_its_checks_pass_on_what_is_committed() {
    // Git ignores the last one: it is not in the way of an end, and no part of what is checked.
    let commit =
        |file: &str| format!("echo x > {file} && git add -A && git commit -q -m {file} && touch .worktrees");
    let stage = Stage::set(json!([
        conversation("Title: Root", vec![
            calls(&[("create_task", json!({
                "title": "Make it", "description": "Make the file.", "checks": ["test -f wanted.txt && test ! -e .worktrees"]
            }))]),
            capturing(
                calls(&[("send_message", json!({ "taskId": "$child", "title": "go", "message": "Begin." }))]),
                "Created the task (?<child>[0-9A-Z]{26})",
            ),
            calls(&[("yield", json!({}))]),
            calls(&[("yield", json!({}))]),
        ]),
        conversation("Title: Make it", vec![
            calls(&[("bash", json!({ "command": commit("other.txt") }))]),
            calls(&[("done", json!({ "status": "passed", "summary": "Done." }))]),
            expecting(
                calls(&[("write_file", json!({ "path": "wanted.txt", "content": "here" }))]),
                json!({ "tool_results": [{ "call": "mcp__mxd__done", "contains": "test -f wanted.txt", "is_error": true }] }),
            ),
            calls(&[("done", json!({ "status": "passed", "summary": "Done." }))]),
            expecting(
                calls(&[("bash", json!({ "command": commit("wanted.txt") }))]),
                json!({ "tool_results": [{ "call": "mcp__mxd__done", "contains": "not committed", "is_error": true }] }),
            ),
            calls(&[("done", json!({ "status": "passed", "summary": "Now it is." }))]),
        ]),
    ]))
    .await;
    let root = stage.root();
    stage.say(root, "Have it made.").await;
    stage
        .until("the report is read", |state| {
            state.session(root).life().turns == 4 && state.session(root).rest() == Some(&RestReason::Yield)
        })
        .await;
    let child = stage.task("Make it");
    assert_eq!(stage.project().look(|state| state.tree().get(child).unwrap().status()), Some(Status::Passed));
    let events = stage.events();
    let checks: Vec<Option<i32>> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::CheckFinished(check) => Some(check.exit_code),
            _ => None,
        })
        .collect();
    assert_eq!(checks, [Some(1), Some(0)]);
    stage.end().await;
}
