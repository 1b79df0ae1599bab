//! Worktrees that go and come again, and conversations that are counted.

use mxd_core::decide::{Actor, NewTask, Op};
use mxd_core::event::EventBody;
use mxd_core::event::body::{Counter, RestReason};
use mxd_core::id::TaskId;
use mxd_core::tree::Status;
use serde_json::{Value, json};

use super::stage::{Stage, calls, conversation, expecting, speaks};

fn worktree(stage: &Stage, task: TaskId) -> Option<String> {
    stage.project().look(|state| state.tree().get(task).unwrap().task().unwrap().worktree_path.clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reset_task_begins_again_in_a_new_worktree_when_the_old_one_is_gone() {
    let stage = Stage::set(json!([
        conversation(
            "The first attempt.",
            vec![
                calls(&[("write_file", json!({ "path": "draft.txt", "content": "old\n" }))]),
                speaks("So far."),
                speaks("I wait."),
            ]
        ),
        conversation(
            "The second attempt.",
            vec![
                calls(&[("bash", json!({ "command": "cat draft.txt || echo nothing is here" }))]),
                expecting(
                    speaks("It is clean."),
                    json!({ "tool_results": [{ "contains": "nothing is here" }] })
                ),
                speaks("I wait."),
            ]
        ),
    ]))
    .await;
    let new = NewTask::new(stage.root(), "Draft", "A draft.");
    let task = stage.project().wish(Actor::User, Op::CreateTask(new)).await.unwrap().node.unwrap();
    stage.say(task, "The first attempt.").await;
    stage.until_rest(task, &RestReason::EndTurn).await;
    let old = worktree(&stage, task).expect("a worktree");
    stage.project().wish(Actor::User, Op::ResetTask { task }).await.unwrap();
    // It is called while the old one may still be going: the new one waits for that.
    stage.say(task, "The second attempt.").await;
    stage.until_rest(task, &RestReason::EndTurn).await;
    let events = stage.events();
    let names: Vec<&str> = events
        .iter()
        .filter(|event| event.task == task && event.type_name().starts_with("worktree"))
        .map(|event| event.type_name())
        .collect();
    assert_eq!(names, ["worktree_created", "worktree_dismissed", "worktree_removed", "worktree_created"]);
    assert_eq!(worktree(&stage, task), Some(old), "at the same place");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_task_has_no_worktree_any_more() {
    let stage = Stage::set(json!([
        conversation("Title: Root", vec![speaks("I see."), speaks("I see that, too.")]),
        conversation(
            "Title: Draft",
            vec![calls(&[("done", json!({ "status": "failed", "summary": "It cannot be done." }))])]
        ),
    ]))
    .await;
    let new = NewTask::new(stage.root(), "Draft", "A draft.");
    let task = stage.project().wish(Actor::User, Op::CreateTask(new)).await.unwrap().node.unwrap();
    let root = stage.root();
    stage.say(task, "Begin.").await;
    stage.until_status(task, Status::Failed).await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let folder = worktree(&stage, task).expect("a worktree");
    stage.project().wish(Actor::User, Op::CloseTask { task }).await.unwrap();
    stage
        .until("the end of the worktree", |state| {
            state.tree().get(task).unwrap().task().unwrap().worktree_path.is_none()
        })
        .await;
    assert!(!std::path::Path::new(&folder).exists());
    // The root is told what the user did.
    stage
        .until("the root has read it", |state| {
            let session = state.session(root);
            session.life().turns == 2 && !session.is_busy()
        })
        .await;
    stage.end().await;
}

/// A model with little room.
fn small_model() -> Value {
    json!({
        "model": "small",
        "models": [{
            "name": "small", "vendor": "anthropic", "contextWindow": 40_000, "maxOutputTokens": 2_000,
            "thinking": "none", "images": false,
            "prices": { "input": 1, "output": 5, "cacheRead": 0.1, "cacheWrite5m": 1.25, "cacheWrite1h": 2 }
        }],
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn close_to_the_limit_the_provider_counts_and_the_work_goes_on() {
    let mut nearly = calls(&[("bash", json!({ "command": "head -c 8000 /dev/zero | tr '\\0' x" }))]);
    nearly["reply"]["usage"] = json!({ "input_tokens": 31_000, "output_tokens": 100 });
    let stage = Stage::set_with(
        json!([conversation(
            "Title: Root",
            vec![nearly, expecting(speaks("I go on."), json!({ "tool_results": [{ "contains": "xxxx" }] }))]
        )]),
        small_model(),
    )
    .await;
    let root = stage.root();
    stage.say(root, "Work.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let counted: Vec<Counter> = stage
        .events()
        .into_iter()
        .filter_map(|event| match event.body {
            EventBody::ContextCounted(counted) => Some(counted.by),
            _ => None,
        })
        .collect();
    assert_eq!(counted, [Counter::Provider]);
    stage.end().await;
}
