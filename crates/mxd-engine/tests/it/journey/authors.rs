//! Whose commits they are: the user's, who said so in the settings of the home folder and nowhere else.

use mxd_core::tree::Status;
use serde_json::json;

use super::stage::{Stage, calls, capturing, conversation, git};

fn root_that_merges() -> serde_json::Value {
    let done = || calls(&[("done", json!({ "status": "passed", "summary": "Merged." }))]);
    conversation(
        "Title: Root",
        vec![
            calls(&[("create_task", json!({ "title": "Write", "description": "Write a file." }))]),
            capturing(
                calls(&[("send_message", json!({ "taskId": "$child", "title": "go", "message": "Begin." }))]),
                "Created the task (?<child>[0-9A-Z]{26})",
            ),
            calls(&[("yield", json!({}))]),
            calls(&[("merge_task", json!({ "taskId": "$child" }))]),
            done(),
        ],
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_and_merges_of_agents_are_by_the_user_of_the_global_settings() {
    let stage = Stage::set(json!([
        root_that_merges(),
        conversation(
            "Title: Write",
            vec![
                calls(&[(
                    "bash",
                    json!({ "command": "echo new > new.txt && git add -A && git commit -qm new" })
                )]),
                calls(&[("done", json!({ "status": "passed", "summary": "Written." }))]),
            ]
        ),
    ]))
    .await;
    let root = stage.root();
    stage.say(root, "Have a file written.").await;
    stage.until_status(root, Status::Passed).await;
    let repo = stage.repo();
    let of = |range: &str| git(&repo, &["log", "--format=%an <%ae> %cn <%ce>", range]);
    let user = "User <user@example.org> User <user@example.org>";
    assert_eq!(of("-1"), user, "the merge");
    assert_eq!(git(&repo, &["rev-list", "--count", "--merges", "HEAD"]), "1");
    assert_eq!(of("HEAD^1..HEAD^2"), user, "the commit of the agent");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_without_an_identity_does_not_begin_and_says_what_to_run() {
    let stage = Stage::furnished(
        json!([conversation(
            "Title: Root",
            vec![
                calls(&[("create_task", json!({ "title": "Write", "description": "Write a file." }))]),
                capturing(
                    calls(&[(
                        "send_message",
                        json!({ "taskId": "$child", "title": "go", "message": "Begin." })
                    )]),
                    "Created the task (?<child>[0-9A-Z]{26})",
                ),
                calls(&[("yield", json!({}))]),
                json!({ "reply": { "blocks": [{ "text": "The user has to say who they are." }] } }),
            ]
        )]),
        |ground| {
            std::fs::remove_file(ground.join(".gitconfig")).unwrap();
            json!({})
        },
    )
    .await;
    stage.say(stage.root(), "Have a file written.").await;
    stage
        .until("a task that did not begin", |state| {
            let mut nodes = state.tree().nodes().values();
            nodes.any(|node| node.title == "Write" && node.status() == Some(Status::Failed))
        })
        .await;
    let story = stage.story();
    assert!(story.contains("user.name and user.email are not set"), "{story}");
    assert!(story.contains("git config --global user.name"), "{story}");
}
