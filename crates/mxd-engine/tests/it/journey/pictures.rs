//! Pictures in results of tools, for models that see them and for models that do not.

use std::io::Write as _;
use std::path::Path;

use base64::Engine as _;
use mxd_core::event::body::RestReason;
use serde_json::{Value, json};

use super::stage::{Stage, calls, conversation, expecting, git, speaks};

/// A PNG of one pixel.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/// Settings with a model that sees pictures or not, and a picture in the repository.
fn settings(ground: &Path, sees_pictures: bool) -> Value {
    let picture = base64::engine::general_purpose::STANDARD.decode(PICTURE).unwrap();
    std::fs::File::create(ground.join("repo/pixel.png")).unwrap().write_all(&picture).unwrap();
    git(&ground.join("repo"), &["add", "pixel.png"]);
    git(&ground.join("repo"), &["commit", "-qm", "a picture"]);
    let model = json!({
        "name": "reader", "vendor": "anthropic", "contextWindow": 100_000, "maxOutputTokens": 1_000,
        "thinking": "none", "images": sees_pictures,
        "prices": { "input": 1, "output": 1, "cacheRead": 1, "cacheWrite5m": 1, "cacheWrite1h": 1 }
    });
    json!({ "models": [model], "model": "reader" })
}

/// An agent looks at a picture, and goes on after a restart. The scripted model refuses a request that does not begin
/// with the bytes of the one before it.
async fn look_at_picture(sees_pictures: bool, expected: Value) {
    let turns = vec![
        calls(&[("read_file", json!({ "path": "pixel.png" }))]),
        expecting(speaks("I have looked."), expected),
        speaks("I have looked again."),
    ];
    let furnish = |ground: &Path| settings(ground, sees_pictures);
    let mut stage = Stage::furnished(json!([conversation("Title: Root", turns)]), furnish).await;
    let root = stage.root();
    stage.say(root, "Look.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    stage.restart().await;
    stage.say(root, "Again.").await;
    stage
        .until("three turns", |state| state.session(root).life().turns == 3 && !state.session(root).is_busy())
        .await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn model_that_sees_pictures_gets_them() {
    look_at_picture(true, json!({ "image_count": 1 })).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn text_only_model_reads_a_placeholder() {
    let placeholder = "a picture of type image/png, about 72 bytes, which you cannot see";
    let result = json!({ "call": "mcp__mxd__read_file", "contains": placeholder });
    look_at_picture(false, json!({ "image_count": 0, "tool_results": [result] })).await;
}
