//! Long lives: a conversation that is summarised, a command that outlives turns.

use mxd_core::event::EventBody;
use mxd_core::event::body::RestReason;
use serde_json::json;

use super::stage::{Stage, calls, conversation, expecting, speaks, write};

/// A model with little room.
fn small_model() -> serde_json::Value {
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
async fn a_full_conversation_is_summarised_and_the_work_goes_on() {
    let mut full = calls(&[("bash", json!({ "command": "echo working" }))]);
    full["reply"]["usage"] = json!({ "input_tokens": 36_000, "output_tokens": 100 });
    let mut after = speaks("I go on.");
    after["breaks_prefix"] = json!(true);
    let summary = "## Current phase\nIn the middle of it.\n\n## Pending work\nThe rest of it.";
    let stage = Stage::set_with(
        json!([conversation("Title: Root", vec![
            full,
            expecting(speaks(summary), json!({ "tool_results": [{ "contains": "working" }] })),
            expecting(
                after,
                json!({ "user_texts": [{ "contains": ["In the middle of it", "Never touch the moon"] }], "tool_result_count": 0 }),
            ),
        ])]),
        small_model(),
    )
    .await;
    let root = stage.root();
    stage.say(root, "Work. Never touch the moon.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let markers =
        stage.events().iter().filter(|event| matches!(event.body, EventBody::CompactMarker(_))).count();
    assert_eq!(markers, 1);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_in_the_background_outlives_turns_and_its_end_is_told() {
    let wait = "until [ -e go ]; do read -t 0.05 < /dev/zero; done; echo gone";
    let stage = Stage::set(json!([conversation(
        "Title: Root",
        vec![
            calls(&[("bash", json!({ "command": wait, "run_in_background": true }))]),
            calls(&[("bash", json!({ "command": "echo still here" }))]),
            expecting(
                calls(&[("background", json!({ "action": "list" }))]),
                json!({ "tool_results": [{ "contains": "still" }] })
            ),
            expecting(calls(&[("yield", json!({}))]), json!({ "tool_results": [{ "contains": "bg-1" }] })),
            expecting(
                speaks("It ended."),
                json!({ "user_texts": [{ "contains": ["background_complete", "gone"] }] })
            ),
        ]
    )]))
    .await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_rest(root, &RestReason::Yield).await;
    write(stage.repo().join("go"), "");
    stage.until_rest(root, &RestReason::EndTurn).await;
    assert!(stage.project().look(|state| state.session(root).background().is_empty()));
    stage.end().await;
}
