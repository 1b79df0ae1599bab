//! What is taken up again after the program ended in the middle.

use mxd_core::event::body::RestReason;
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
