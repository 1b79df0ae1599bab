//! A user who steers: writes to a working agent, answers, stops and wakes.

use mxd_core::decide::{Actor, Op, SessionOp};
use mxd_core::event::EventBody;
use mxd_core::event::body::RestReason;
use mxd_core::tree::Status;
use serde_json::json;

use super::stage::{Stage, calls, conversation, expecting, gated, speaks, write};

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_turn_is_waiting_and_a_message_goes_on() {
    let stage = Stage::set(json!([conversation(
        "Title: Root",
        vec![
            speaks("What shall I do?"),
            expecting(speaks("I see."), json!({ "user_texts": [{ "contains": "Nothing, thank you" }] })),
        ]
    )]))
    .await;
    let root = stage.root();
    stage.say(root, "Hello.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    stage.say(root, "Nothing, thank you.").await;
    stage
        .until("a second turn", |state| {
            state.session(root).life().turns == 2 && !state.session(root).is_busy()
        })
        .await;
    assert_eq!(
        stage.project().look(|state| state.tree().get(root).unwrap().status()),
        Some(Status::InProgress)
    );
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_waits_for_its_answer() {
    let stage = Stage::set(json!([conversation(
        "Title: Root",
        vec![
            calls(&[("clarify", json!({ "question": "Red or blue?\nBoth are possible." }))]),
            calls(&[("yield", json!({}))]),
            expecting(speaks("Blue it is."), json!({ "user_texts": [{ "contains": "the blue one" }] })),
        ]
    )]))
    .await;
    let root = stage.root();
    stage.say(root, "Choose a colour.").await;
    stage.until_rest(root, &RestReason::Yield).await;
    let id = stage.project().look(|state| *state.session(root).questions().keys().next().unwrap());
    let answer = SessionOp::AnswerQuestion { id, answer: "the blue one".into() };
    stage.project().wish(Actor::User, Op::Session { task: root, op: answer }).await.unwrap();
    stage.until_rest(root, &RestReason::EndTurn).await;
    assert!(stage.project().look(|state| state.session(root).questions().is_empty()));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_agent_stays_stopped_until_somebody_writes() {
    let stage = Stage::set(json!([conversation(
        "Title: Root",
        vec![
            gated(speaks("I will count to a million: one, two, three"), "counting"),
            expecting(speaks("Yes?"), json!({ "user_texts": [{ "contains": "Still there" }] })),
        ]
    )]))
    .await;
    let root = stage.root();
    stage.say(root, "Count.").await;
    stage.model.gate_reached("counting").await.unwrap();
    let stop = Op::Session { task: root, op: SessionOp::Stop { reason: None } };
    stage.project().wish(Actor::User, stop).await.unwrap();
    stage.until("the end of the call", |state| state.session(root).asking().is_none()).await;
    stage.model.open_gate("counting").unwrap();
    assert_eq!(stage.project().look(|state| state.session(root).rest().cloned()), Some(RestReason::Stopped));
    assert_eq!(
        stage.project().look(|state| state.tree().get(root).unwrap().status()),
        Some(Status::InProgress)
    );
    stage.say(root, "Still there?").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_turn_keeps_what_was_said_and_the_agent_goes_on() {
    let stage = Stage::set(json!([conversation(
        "Title: Root",
        vec![
            gated(speaks("First I will do this and then that."), "speaking"),
            speaks("All right, something else."),
        ]
    )]))
    .await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.model.gate_reached("speaking").await.unwrap();
    stage.project().wish(Actor::User, Op::Session { task: root, op: SessionOp::Interrupt }).await.unwrap();
    stage.until_rest(root, &RestReason::Interrupted).await;
    stage.model.open_gate("speaking").unwrap();
    stage.say(root, "No, something else.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let interrupted =
        stage.events().iter().filter(|event| matches!(event.body, EventBody::AgentInterrupted(_))).count();
    assert_eq!(interrupted, 1);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_user_writes_to_a_working_agent_is_read_with_the_next_results() {
    let stage = Stage::set(json!([conversation(
        "Title: Root",
        vec![
            calls(&[(
                "bash",
                json!({ "command": "until [ -e go ]; do read -t 0.05 < /dev/zero; done; echo over" })
            )]),
            expecting(
                speaks("Blue, then."),
                json!({
                    "tool_results": [{ "contains": "over", "is_error": false }],
                    "user_texts": [{ "contains": "Make it blue" }], "user_text_count": 1
                })
            ),
        ]
    )]))
    .await;
    let root = stage.root();
    stage.say(root, "Paint it.").await;
    stage.until("a running call", |state| state.session(root).calls().len() == 1).await;
    stage.say(root, "Make it blue.").await;
    assert_eq!(stage.model.requests().len(), 1, "nobody is asked while a tool runs");
    write(stage.view().join("go"), "");
    stage.until_rest(root, &RestReason::EndTurn).await;
    assert_eq!(stage.project().look(|state| state.session(root).life().turns), 2);
    stage.end().await;
}
