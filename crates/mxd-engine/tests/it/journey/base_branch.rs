//! Where tasks start and where work is merged, whatever the user has checked out.

use mxd_core::event::EventBody;
use mxd_core::event::body::RestReason;
use mxd_core::message::Message;
use mxd_core::tree::Status;
use serde_json::{Value, json};

use super::stage::{Stage, calls, capturing, conversation, expecting, git, speaks, write};

/// A child writes a file, and the root merges it.
fn one_file(file: &str) -> Value {
    let work = format!("echo text > {file} && git add {file} && git commit -qm work");
    json!([
        conversation(
            "Title: Root",
            vec![
                calls(&[("create_task", json!({ "title": "Child", "description": "Work." }))]),
                capturing(
                    calls(&[(
                        "send_message",
                        json!({ "taskId": "$child", "title": "go", "message": "Begin." })
                    )]),
                    "Created the task (?<child>[0-9A-Z]{26})",
                ),
                calls(&[("yield", json!({}))]),
                calls(&[("merge_task", json!({ "taskId": "$child" }))]),
                expecting(
                    calls(&[("done", json!({ "status": "passed", "summary": "Merged." }))]),
                    json!({ "tool_results": [{ "call": "mcp__mxd__merge_task", "contains": "Merged", "is_error": false }] }),
                ),
            ]
        ),
        conversation(
            "Title: Child",
            vec![
                calls(&[("bash", json!({ "command": work }))]),
                calls(&[("done", json!({ "status": "passed", "summary": "There." }))]),
            ]
        ),
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn work_goes_to_the_stored_branch_while_another_one_is_checked_out() {
    let stage = Stage::set(one_file("work.txt")).await;
    git(&stage.repo(), &["checkout", "-qb", "feature"]);
    write(stage.repo().join("feature.txt"), "of the user\n");
    git(&stage.repo(), &["add", "feature.txt"]);
    git(&stage.repo(), &["commit", "-qm", "feature"]);
    let feature = git(&stage.repo(), &["rev-parse", "feature"]);
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_status(root, Status::Passed).await;
    assert_eq!(git(&stage.repo(), &["rev-parse", "feature"]), feature);
    assert_eq!(git(&stage.repo(), &["show", "main:work.txt"]), "text");
    assert!(!git(&stage.repo(), &["ls-tree", "--name-only", "main"]).contains("feature.txt"));
    assert!(!stage.repo().join("work.txt").exists(), "what is checked out is not touched");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn work_goes_to_the_stored_branch_while_none_is_checked_out() {
    let stage = Stage::set(one_file("work.txt")).await;
    git(&stage.repo(), &["checkout", "-q", "--detach"]);
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_status(root, Status::Passed).await;
    assert_eq!(git(&stage.repo(), &["show", "main:work.txt"]), "text");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chosen_branch_holds_from_then_on_and_the_root_agent_is_told() {
    let stage = Stage::set(one_file("work.txt")).await;
    git(&stage.repo(), &["branch", "next"]);
    let unknown = stage.project().set_base_branch("nowhere").await.unwrap_err().to_string();
    assert_eq!(unknown, "there is no branch nowhere in the repository");
    let of_a_task = stage.project().set_base_branch("mxd/01M7QCG38S3QZXAA3BCSABCHA3/x").await;
    assert!(of_a_task.unwrap_err().to_string().contains("belongs to a task"));
    stage.project().set_base_branch("next").await.unwrap();
    stage.project().set_base_branch("next").await.unwrap();
    assert_eq!(stage.project().base_branch().as_deref(), Some("next"));
    let told = stage.events().into_iter().filter(|event| {
        matches!(&event.body, EventBody::Message(posted)
            if matches!(&posted.body, Message::Notice(notice) if notice.content.contains("base branch: next")))
    });
    assert_eq!(told.count(), 1, "once, although it was asked for twice");
    let root = stage.root();
    let main = git(&stage.repo(), &["rev-parse", "main"]);
    stage.say(root, "Begin.").await;
    stage.until_status(root, Status::Passed).await;
    assert_eq!(git(&stage.repo(), &["show", "next:work.txt"]), "text");
    assert_eq!(git(&stage.repo(), &["rev-parse", "main"]), main);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn branch_that_is_gone_is_named_with_the_way_out() {
    let stage = Stage::set(json!([conversation("Title: Root", vec![speaks("Now I see it.")])])).await;
    git(&stage.repo(), &["branch", "-m", "main", "trunk"]);
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until("the failure", |state| state.session(root).rest() == Some(&RestReason::Failed)).await;
    let told = stage.events().into_iter().find_map(|event| match event.body {
        EventBody::Error(error) => Some(error.message),
        _ => None,
    });
    let told = told.unwrap();
    assert_eq!(told, "the base branch main does not exist any more. `mxd base BRANCH` chooses another one");
    stage.project().set_base_branch("trunk").await.unwrap();
    stage.say(root, "Again.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    stage.end().await;
}
