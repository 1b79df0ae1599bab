//! Approval rules hold for the next call, also when they were written while the agent works.

use mxd_core::event::body::RestReason;
use mxd_engine::config::{self, Layer, Places};
use serde_json::{Value, json};

use super::stage::{Stage, calls, conversation, expecting, speaks, write};

fn bash(command: &str) -> Value {
    calls(&[("bash", json!({ "command": command }))])
}

fn result(words: &str) -> Value {
    json!({ "tool_results": [{ "call": "mcp__mxd__bash", "contains": words }] })
}

/// An agent that calls a tool once, and once more after something has happened to the settings.
async fn play_around(happens: impl FnOnce(&Stage), second: &str) {
    let turns = vec![
        bash("echo first"),
        expecting(speaks("One."), result("first")),
        bash("echo second"),
        expecting(speaks("Two."), result(second)),
    ];
    let stage = Stage::set(json!([conversation("Title: Root", turns)])).await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    happens(&stage);
    stage.say(root, "Again.").await;
    let turns = |state: &mxd_core::state::State| state.session(root).life().turns;
    stage.until("the second call", |state| turns(state) == 4).await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tightened_rule_holds_for_next_call() {
    let tighten = |stage: &Stage| {
        let places = Places::user_only(stage.ground.path().join("data"));
        let rules = json!([{ "name": "no-shell", "tool": "mcp:mxd:bash", "ruling": "deny" }]);
        config::set(&places, Layer::User, "approvals.rules", rules).unwrap();
    };
    play_around(tighten, "no-shell").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unreadable_settings_let_no_call_run() {
    let spoil = |stage: &Stage| write(stage.ground.path().join("data/config.json"), "{ \"approvals\": ");
    play_around(spoil, "Not run: the settings cannot be read").await;
}
