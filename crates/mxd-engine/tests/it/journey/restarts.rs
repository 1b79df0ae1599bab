//! What is taken up again after the program ended in the middle.

use std::path::Path;

use futures_util::future::join_all;
use mxd_core::decide::{Actor, Op, TaskPatch};
use mxd_core::event::body::RestReason;
use mxd_core::state::State;
use serde_json::json;

use super::stage::{Stage, calls, conversation, expecting, gated, speaks};

#[tokio::test(flavor = "multi_thread")]
async fn a_model_call_that_was_cut_off_is_made_again_with_the_same_words() {
    let mut stage = Stage::set(json!([conversation(
        "Title: Root",
        vec![
            calls(&[("bash", json!({ "command": "echo one" }))]),
            expecting(
                gated(speaks("never heard"), "lost"),
                json!({ "tool_results": [{ "contains": "one" }] })
            ),
            speaks("heard"),
        ]
    )]))
    .await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.model.gate_reached("lost").await.unwrap();
    stage.restart().await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    stage.model.open_gate("lost").unwrap();
    assert_eq!(stage.project().look(|state| state.session(root).life().turns), 2);
    assert!(stage.story().contains("heard"), "{}", stage.story());
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_was_running_is_not_run_again_and_its_outcome_is_unknown() {
    let mut stage = Stage::set(json!([conversation(
        "Title: Root",
        vec![
            calls(&[("bash", json!({ "command": "tail -f /dev/null" }))]),
            expecting(
                speaks("I will look first."),
                json!({ "tool_results": [{ "call": "mcp__mxd__bash", "contains": "outcome is unknown", "is_error": true }] }),
            ),
        ]
    )]))
    .await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until("a running call", |state| state.session(root).calls().len() == 1).await;
    stage.restart().await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_waits_is_not_disturbed_by_a_restart() {
    let mut stage = Stage::set(json!([conversation(
        "Title: Root",
        vec![
            calls(&[("yield", json!({}))]),
            expecting(speaks("Here I am."), json!({ "user_texts": [{ "contains": "Wake up" }] })),
        ]
    )]))
    .await;
    let root = stage.root();
    stage.say(root, "Wait.").await;
    stage.until_rest(root, &RestReason::Yield).await;
    let asked = stage.model.requests().len();
    stage.restart().await;
    assert_eq!(stage.model.requests().len(), asked, "waiting costs no call");
    stage.say(root, "Wake up.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    stage.end().await;
}

/// Everything that is kept beside the log to be quicker.
const CACHE: &str = "data/project/log/cache";

#[tokio::test(flavor = "multi_thread")]
async fn what_is_kept_at_the_end_spares_the_next_start_the_log_and_says_the_same() {
    let mut stage = Stage::set(json!([conversation("Title: Root", vec![speaks("Here I am.")])])).await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let before = stage.project().look(State::clone);
    stage.restart().await;
    assert!(stage.project().log().report().from_snapshot);
    assert_eq!(stage.project().look(State::clone), before, "from what was kept");
    stage.restart_after(|ground| std::fs::remove_dir_all(ground.join(CACHE)).unwrap()).await;
    assert!(!stage.project().log().report().from_snapshot);
    assert_eq!(stage.project().look(State::clone), before, "from the log");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_state_is_kept_now_and_then_for_those_who_are_killed() {
    let stage = Stage::set(json!([conversation("Title: Root", vec![speaks("Here I am.")])])).await;
    let (project, task) = (stage.project(), stage.root());
    stage.say(task, "Begin.").await;
    stage.until_rest(task, &RestReason::EndTurn).await;
    let rename = |number: usize| {
        let patch = TaskPatch { title: Some(format!("Name {number}")), ..TaskPatch::default() };
        project.wish(Actor::User, Op::UpdateTask { task, patch })
    };
    let is_kept = |ground: &Path| ground.join(CACHE).join("snapshot").exists();
    join_all((0..1_000).map(rename)).await;
    assert!(!is_kept(stage.ground.path()), "not yet");
    join_all((1_000..2_000).map(rename)).await;
    // The loop keeps it before it takes the next wish.
    rename(2_000).await.unwrap();
    assert!(is_kept(stage.ground.path()));
    stage.end().await;
}
