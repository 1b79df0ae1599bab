//! What the daemon itself does for agents, cut off at every step: the next daemon finds out what came of it and finishes it.
//! No agent reads that the outcome is unknown.

use mxd_core::event::EventBody;
use mxd_core::event::body::RestReason;
use mxd_core::tree::Status;
use serde_json::{Value, json};

use super::stage::{Stage, calls, capturing, conversation, expecting, git, speaks, write};
use crate::git::crashes::{Brittle, Watch, When};
use crate::rounds::size;

fn done(words: &str) -> Value {
    calls(&[("done", json!({ "status": "passed", "summary": words }))])
}

/// The root has a child made, waits for the user's word, and merges.
fn script() -> Value {
    let commit = "echo new > new.txt && git add new.txt && git commit -qm new";
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
                speaks("It is ready."),
                calls(&[("merge_task", json!({ "taskId": "$child" }))]),
                expecting(
                    done("It is merged."),
                    json!({ "tool_results": [{
                    "matches": "Merged Child as [0-9a-f]{40}: 1 file.*, 1 line.* added, 0 removed. The checkout in .* follows",
                    "is_error": false
                }] }),
                ),
            ]
        ),
        conversation(
            "Title: Child",
            vec![calls(&[("bash", json!({ "command": commit }))]), done("Child is ready."),]
        ),
    ])
}

/// Has a merge stop at this call of git and the daemon end there; whether it stopped.
async fn stops_at(at: usize, when: When) -> bool {
    let mut stage = Stage::set_with(script(), json!({ "checks": ["test -e new.txt"] })).await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let brittle = Brittle::new(stage.ground.path().join("brittle"));
    stage.restart_with_git(|git| brittle.git(git)).await;
    brittle.set(at, when);
    let Watch { stopped, gone } = brittle.watch();
    stage.say(root, "Merge it.").await;
    let stopped = tokio::select! {
        _ = stopped => true,
        () = stage.until_status(root, Status::Passed) => {
            brittle.end_watch();
            false
        }
    };
    // A git that runs after the merge was told is no part of it, and the model has been asked again meanwhile.
    let is_told = stage.events().iter().any(
        |event| matches!(&event.body, EventBody::ToolResult(result) if result.tool == "mcp__mxd__merge_task"),
    );
    stage.restart().await;
    gone.await.unwrap();
    if !(stopped && is_told) {
        stage.until_status(root, Status::Passed).await;
    }
    let merges = git(&stage.repo(), &["rev-list", "--merges", "main"]);
    assert_eq!(merges.lines().count(), 1, "it is merged once");
    assert_eq!(std::fs::read_to_string(stage.repo().join("new.txt")).unwrap(), "new\n");
    assert_eq!(git(&stage.repo(), &["status", "--porcelain"]), "");
    assert_eq!(git(&stage.repo(), &["for-each-ref", "refs/mxd/merge"]), "");
    if !(stopped && is_told) {
        stage.end().await;
    }
    stopped
}

#[tokio::test(flavor = "multi_thread")]
async fn merge_is_found_out_and_finished_at_the_next_start() {
    let whens = &[When::Before, When::After][..size(1, 2)];
    for at in (1..200).step_by(size(4, 1)) {
        for when in whens {
            if !stops_at(at, *when).await {
                assert!(at > 8, "a merge has more steps than {at}");
                return;
            }
        }
    }
    panic!("it never ends");
}

/// A conflict is told to its owner once, also when the daemon ends between that and its own result.
#[tokio::test(flavor = "multi_thread")]
async fn owner_of_a_conflict_is_told_once() {
    let change = |line: &str| {
        calls(&[("bash", json!({ "command": format!("echo {line} > README.md && git commit -qam {line}") }))])
    };
    let mut stage = Stage::set(json!([
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
                speaks("It is ready."),
                calls(&[("merge_task", json!({ "taskId": "$child" }))]),
                expecting(
                    calls(&[("yield", json!({}))]),
                    json!({ "tool_results": [{ "contains": "there are conflicts", "is_error": true }] }),
                ),
                done("I see."),
            ]
        ),
        conversation(
            "Title: Child",
            vec![
                change("child"),
                done("Child is ready."),
                calls(&[("done", json!({ "status": "failed", "summary": "I cannot." }))]),
            ]
        ),
    ]))
    .await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let folder = stage.repo();
    write(folder.join("README.md"), "user\n");
    git(&folder, &["commit", "-qam", "user"]);
    stage.say(root, "Merge it.").await;
    stage.until_status(root, Status::Passed).await;
    let child = stage.task("Child");
    let told = |stage: &Stage| {
        let is_conflict = |event: &&mxd_core::event::Event| {
            let EventBody::Message(posted) = &event.body else { return false };
            event.task == child && posted.body.kind() == mxd_core::message::MessageKind::Notice
        };
        stage.events().iter().filter(is_conflict).count()
    };
    assert_eq!(told(&stage), 1);
    // The commit that tells the owner is the last one that was written.
    stage.model.declare_break("#1");
    stage
        .die_after(|event| {
            matches!(&event.body, EventBody::Message(posted) if event.task == child
        && posted.body.kind() == mxd_core::message::MessageKind::Notice)
        })
        .await;
    stage.until("a result of the merge", |state| state.session(root).calls().is_empty()).await;
    assert_eq!(told(&stage), 1, "{}", stage.story());
    stage.project().close().await;
}
