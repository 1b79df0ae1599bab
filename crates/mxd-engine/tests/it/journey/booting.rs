//! What is taken up when several tasks are owed something at once.

use mxd_core::event::body::RestReason;
use mxd_core::event::{Event, EventBody};
use mxd_core::state::State;
use serde_json::json;

use super::stage::{Stage, breaking, calls, capturing, conversation, expecting, speaks};

/// The root has written to its child and the daemon dies before the message is delivered. The child waits for an
/// answer of the user, so both are looked at after the start; the message wakes the child, which is asked once.
#[tokio::test(flavor = "multi_thread")]
async fn who_is_woken_by_the_start_of_another_is_asked_once() {
    let send =
        |title: &str| ("send_message", json!({ "taskId": "$child", "title": title, "message": "Begin." }));
    let mut stage = Stage::set(json!([
        conversation(
            "Title: Root",
            vec![
                calls(&[("create_task", json!({ "title": "Child", "description": "Ask." }))]),
                capturing(calls(&[send("go")]), "Created the task (?<child>[0-9A-Z]{26})"),
                speaks("It works."),
                calls(&[send("again")]),
                speaks("Written."),
                speaks("Written, as far as I know for the first time."),
            ]
        ),
        conversation(
            "Title: Child",
            vec![
                calls(&[("clarify", json!({ "question": "Red or blue?" }))]),
                calls(&[("yield", json!({}))]),
                expecting(calls(&[("yield", json!({}))]), json!({ "user_texts": [{ "contains": "again" }] })),
                // The message is another one after the start: it had not been delivered.
                breaking(calls(&[("yield", json!({}))])),
            ]
        ),
    ]))
    .await;
    let root = stage.root();
    stage.say(root, "Have somebody ask.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let child = stage.task("Child");
    stage.until_rest(child, &RestReason::Yield).await;
    stage.say(root, "Write once more.").await;
    let read =
        |state: &State| state.session(child).life().turns == 3 && state.session(root).life().turns == 5;
    stage.until("the message is read", read).await;
    stage.until_rest(child, &RestReason::Yield).await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let wrote = |event: &Event| match &event.body {
        EventBody::TurnEnded(ended) => ended.calls.iter().any(|call| call.tool.ends_with("send_message")),
        _ => false,
    };
    stage.die_after(wrote).await;
    stage.until("the message is read again", read).await;
    stage.until_rest(child, &RestReason::Yield).await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    stage.end().await;
}
