//! Long lives: a conversation that is summarised, a command that outlives turns.

use std::path::Path;

use mxd_core::event::body::{AssistantText, RestReason};
use mxd_core::event::{Event, EventBody};
use mxd_core::id::{TaskId, Ulid};
use mxd_store::{Draft, Log, Options};
use serde_json::json;

use super::stage::{Stage, apart, breaking, calls, conversation, expecting, speaks, write};

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

/// The line that makes the summary the conversation is written in part: the conversation is what it was.
#[tokio::test(flavor = "multi_thread")]
async fn a_summary_whose_line_is_torn_leaves_the_old_conversation() {
    let mut full = calls(&[("bash", json!({ "command": "echo working" }))]);
    full["reply"]["usage"] = json!({ "input_tokens": 36_000, "output_tokens": 100 });
    let summary = "## Current phase\nIn the middle of it.";
    let worked = json!({ "tool_results": [{ "contains": "working" }] });
    let goes_on = json!({ "user_texts": [{ "contains": "In the middle of it" }], "tool_result_count": 0 });
    let mut stage = Stage::set_with(
        json!([conversation(
            "Title: Root",
            vec![
                full,
                expecting(speaks(summary), worked),
                expecting(breaking(speaks("I go on.")), goes_on.clone()),
                breaking(speaks(summary)),
                expecting(breaking(speaks("I go on again.")), goes_on),
            ]
        )]),
        small_model(),
    )
    .await;
    let root = stage.root();
    stage.say(root, "Work.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let asked = |stage: &Stage, turn: usize| {
        let requests = stage.model.requests();
        requests.into_iter().find(|request| request.turn == Some(turn)).unwrap().shape
    };
    let torn = |text: &str| {
        let at = text.find(r#""type":"compact_marker""#).unwrap();
        text[..at].to_owned()
    };
    stage.restart_with(torn).await;
    assert!(stage.project().log().report().torn.is_some(), "half a line is there");
    stage.until_rest(root, &RestReason::EndTurn).await;
    assert_eq!(asked(&stage, 4), asked(&stage, 2), "the same words are to be summarised");
    stage.end().await;
}

/// Forty megabytes in which no letter is one byte long, each part begun at another place of the buffers it is read by.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_conversation_in_letters_of_many_bytes_comes_back_whole() {
    let words = |part: usize| format!("{}{}", "x".repeat(part), "€ß漢🌱".repeat(21_000));
    let fill = move |ground: &Path| {
        let log = Log::open(&ground.join("data/project/log"), Options::default(), &mut ()).unwrap();
        let root = TaskId::from(Ulid::from_parts(1, 1));
        let draft = |part: usize| {
            let mut draft = Draft::new(1);
            let said = AssistantText { content: words(part) };
            draft.push(&Event::new(root, said).to_json().unwrap()).unwrap();
            draft
        };
        for part in 0..160 {
            log.append(draft(part)).unwrap();
        }
        log.upkeep().unwrap();
        json!({})
    };
    let fill = |ground: &Path| apart(|| fill(ground));
    let stage = Stage::furnished(json!([conversation("Title: Root", vec![speaks("Here.")])]), fill).await;
    let said = stage.events().into_iter().filter_map(|event| match event.body {
        EventBody::AssistantText(said) => Some(said.content),
        _ => None,
    });
    let said: Vec<String> = said.collect();
    assert!(said.iter().map(String::len).sum::<usize>() > 38 << 20);
    assert!(said.iter().enumerate().all(|(part, said)| *said == words(part)));
    let root = stage.root();
    stage.say(root, "Are you there?").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
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
    write(stage.view().join("go"), "");
    stage.until_rest(root, &RestReason::EndTurn).await;
    assert!(stage.project().look(|state| state.session(root).background().is_empty()));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_whose_window_stays_exceeded_is_not_asked_for_ever() {
    let exceeded = || {
        let mut turn = breaking(speaks("I was about to"));
        turn["reply"]["stop_reason"] = json!("model_context_window_exceeded");
        turn
    };
    let summary = || speaks("## Current phase\nIn the middle of it.");
    let turns = vec![exceeded(), summary(), exceeded(), summary(), exceeded()];
    let stage = Stage::set_with(json!([conversation("Title: Root", turns)]), small_model()).await;
    let root = stage.root();
    stage.say(root, "Work.").await;
    stage.until_rest(root, &RestReason::Failed).await;
    let said = stage.events().iter().any(|event| match &event.body {
        EventBody::Error(error) => error.message.contains("window is exceeded, also after 2 summaries"),
        _ => false,
    });
    assert!(said, "{}", stage.story());
    stage.end().await;
}
