//! Settings that name another model while conversations go on.

use std::path::Path;

use mxd_core::event::EventBody;
use mxd_core::event::body::RestReason;
use mxd_core::money::Usd;
use mxd_core::tree::Status;
use serde_json::{Value, json};

use super::stage::{Stage, breaking, calls, capturing, conversation, expecting, speaks, write};

/// Two models, of which one costs ten times as much.
fn models(chosen: Value) -> Value {
    let model = |name: &str, price: u64| {
        json!({
            "name": name, "vendor": "anthropic", "contextWindow": 100_000, "maxOutputTokens": 1_000,
            "thinking": "none", "images": false,
            "prices": { "input": price, "output": price, "cacheRead": price, "cacheWrite5m": price, "cacheWrite1h": price }
        })
    };
    let mut settings = json!({ "models": [model("cheap", 1), model("dear", 10)], "budgetUsd": 5 });
    for (name, value) in chosen.as_object().unwrap() {
        settings[name] = value.clone();
    }
    settings
}

/// The settings with other ones in them.
fn change(ground: &Path, name: &str, value: Value) {
    let file = ground.join("data/config.json");
    let mut settings: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    settings[name] = value;
    write(file, &settings.to_string());
}

fn used(mut turn: Value, tokens: u64) -> Value {
    turn["reply"]["usage"] = json!({ "input_tokens": tokens, "output_tokens": 0 });
    turn
}

/// The models that were asked, in order.
fn asked(stage: &Stage) -> Vec<String> {
    let requests = stage.model.requests();
    requests
        .iter()
        .map(|request| request.body.as_ref().unwrap()["model"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_goes_on_with_the_model_of_the_settings_at_its_price() {
    let mut stage = Stage::set_with(
        json!([conversation(
            "Title: Root",
            vec![
                used(calls(&[("bash", json!({ "command": "echo one" }))]), 10_000),
                used(speaks("I saw one."), 10_000),
                expecting(
                    used(breaking(speaks("I remember.")), 10_000),
                    json!({ "user_texts": [{ "contains": "Do you remember" }], "tool_results": [] }),
                ),
            ]
        )]),
        models(json!({ "model": "cheap" })),
    )
    .await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    stage.restart_after(|ground| change(ground, "model", json!("dear"))).await;
    stage.say(root, "Do you remember?").await;
    stage.until("another answer", |state| state.session(root).life().turns == 4).await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    assert_eq!(asked(&stage), ["cheap", "cheap", "dear"]);
    let cost = |event| match event {
        EventBody::TurnEnded(ended) => Some(ended.cost_usd),
        _ => None,
    };
    let costs: Vec<Usd> = stage.events().into_iter().filter_map(|event| cost(event.body)).collect();
    let cents = |cents| Usd::from_cents(cents).unwrap();
    assert_eq!(costs, [cents(1), cents(1), Usd::ZERO, cents(10)], "one call was not made");
    stage.end().await;
}

/// What a fork shares with the root is in the cache of the root's model.
#[tokio::test(flavor = "multi_thread")]
async fn a_fork_of_the_root_goes_on_with_the_roots_model_at_its_price() {
    let created = "# Your task\\s+Task: (?<own>[0-9A-Z]{26})";
    let fork = json!({ "sourceTaskId": "$own", "targetTaskId": "$child" });
    let go = json!({ "taskId": "$child", "title": "go", "message": "Say the word." });
    let mut root = conversation(
        "Title: Root",
        vec![
            capturing(
                calls(&[("create_task", json!({ "title": "Heir", "description": "Go on." }))]),
                created,
            ),
            capturing(calls(&[("fork_task_context", fork)]), "Created the task (?<child>[0-9A-Z]{26})"),
            calls(&[("send_message", go)]),
            calls(&[("yield", json!({}))]),
            calls(&[("done", json!({ "status": "passed", "summary": "It is said." }))]),
        ],
    );
    root["id"] = json!("root");
    let said = calls(&[("done", json!({ "status": "passed", "summary": "heliotrope" }))]);
    let mut heir = conversation("You are the one who inherits", vec![used(said, 10_000)]);
    heir["fork_of"] = json!({ "conversation": "root", "at_turn": 2 });
    let settings = models(json!({ "model": "dear", "childModel": "cheap" }));
    let stage = Stage::set_with(json!([root, heir]), settings).await;
    let root = stage.root();
    stage.say(root, "Remember the word: heliotrope.").await;
    stage.until_status(root, Status::Passed).await;
    assert!(asked(&stage).iter().all(|model| model == "dear"), "{:?}", asked(&stage));
    let heir = stage.task("Heir");
    let cost = stage.project().look(|state| state.tree().get(heir).unwrap().task().unwrap().cost_usd);
    assert_eq!(cost, Usd::from_cents(10).unwrap(), "for the price of the model that was asked");
    stage.end().await;
}
