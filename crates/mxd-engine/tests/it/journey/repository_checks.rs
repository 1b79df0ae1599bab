//! Checks that a repository brings, beside those of the user.

use mxd_core::event::body::RestReason;
use mxd_core::tree::Status;
use serde_json::json;

use super::stage::{Stage, calls, capturing, conversation, expecting, git, speaks, write};

/// A root that has one file written, merges it, and says what came of it.
fn story(expected: serde_json::Value) -> serde_json::Value {
    json!([
        conversation(
            "Title: Root",
            vec![
                calls(&[("create_task", json!({ "title": "Write it", "description": "A file." }))]),
                capturing(
                    calls(&[(
                        "send_message",
                        json!({ "taskId": "$child", "title": "go", "message": "Begin." })
                    )]),
                    "Created the task (?<child>[0-9A-Z]{26})",
                ),
                calls(&[("yield", json!({}))]),
                calls(&[("merge_task", json!({ "taskId": "$child" }))]),
                expecting(speaks("That is what came of it."), expected),
            ]
        ),
        conversation(
            "Title: Write it",
            vec![
                calls(&[(
                    "bash",
                    json!({ "command": "echo work > work.txt && git add -A && git commit -qm work" })
                )]),
                calls(&[("done", json!({ "status": "passed", "summary": "It is there." }))]),
            ]
        ),
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn no_check_of_a_repository_makes_a_failed_check_of_the_user_pass() {
    for of_the_repository in ["true", "false || true", "exit 0", "true ) || ( true", "true #"] {
        let refused = json!({ "tool_results": [{ "call": "mcp__mxd__merge_task", "contains": "the check failed",
                                                 "is_error": true }] });
        let stage = Stage::furnished(story(refused), |ground| {
            let repository = ground.join("repo");
            let settings = json!({ "checks": [of_the_repository] }).to_string();
            write(repository.join(".mxd/config.json"), &settings);
            git(&repository, &["add", "-A"]);
            git(&repository, &["commit", "-q", "-m", "settings"]);
            json!({ "checks": ["test -f missing.txt"] })
        })
        .await;
        let root = stage.root();
        stage.say(root, "Begin.").await;
        stage.until_status(stage_task(&stage).await, Status::Passed).await;
        stage.until_rest(root, &RestReason::EndTurn).await;
        assert!(!stage.repo().join("work.txt").exists(), "{of_the_repository}");
        stage.end().await;
    }
}

/// The child, once it is there.
async fn stage_task(stage: &Stage) -> mxd_core::id::TaskId {
    let is_there = |state: &mxd_core::state::State| state.tree().nodes().len() > 1;
    stage.until("a task below the root", is_there).await;
    stage.task("Write it")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_of_a_repository_that_fails_keeps_a_merge_back() {
    let refused = json!({ "tool_results": [{ "call": "mcp__mxd__merge_task", "contains": "of-the-repository",
                                             "is_error": true }] });
    let stage = Stage::furnished(story(refused), |ground| {
        let repository = ground.join("repo");
        write(
            repository.join(".mxd/config.json"),
            &json!({ "checks": ["test -f of-the-repository"] }).to_string(),
        );
        git(&repository, &["add", "-A"]);
        git(&repository, &["commit", "-q", "-m", "settings"]);
        json!({ "checks": ["true"] })
    })
    .await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    stage.end().await;
}
