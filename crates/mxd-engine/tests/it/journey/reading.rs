//! Resources and prompts of servers: agents read them where their manifest or the settings say so, and nowhere else.

use std::path::Path;

use mxd_core::event::EventBody;
use mxd_core::event::body::{RestReason, ToolVerdict, Verdict};
use serde_json::{Value, json};

use super::manifests::{tools_of, under};
use super::served::{self, manifest};
use super::stage::{Stage, calls, conversation, expecting, speaks, write};
use crate::npm;

fn read(server: &str, uri: &str) -> Value {
    calls(&[("read_resource", json!({ "server": server, "uri": uri }))])
}

fn told(tool: &str, words: &str, is_error: bool) -> Value {
    json!({ "tool_results": [{ "call": format!("mcp__mxd__{tool}"), "contains": words, "is_error": is_error }] })
}

fn verdicts(stage: &Stage) -> Vec<ToolVerdict> {
    let verdict = |event: mxd_core::event::Event| match event.body {
        EventBody::ToolVerdict(verdict) => Some(verdict),
        _ => None,
    };
    stage.events().into_iter().filter_map(verdict).collect()
}

/// The agent of the root task says this, from the first word to its rest.
async fn played(turns: Vec<Value>, furnish: impl FnOnce(&Path) -> Value) -> Stage {
    let stage = Stage::furnished(json!([conversation("Title: Root", turns)]), furnish).await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    stage
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_reads_resources_of_a_server_of_npm() {
    let (features, number) =
        ("demo://resource/static/document/features.md", "demo://resource/dynamic/text/7");
    let fence = format!(r#"<server_words server="everything" uri="{features}" type="text/markdown">"#);
    let turns = vec![
        calls(&[("list_resources", json!({}))]),
        expecting(read("everything", features), told("list_resources", features, false)),
        expecting(read("everything", number), told("read_resource", &fence, false)),
        expecting(
            read("everything", "demo://resource/dynamic/text/none"),
            told("read_resource", "Resource 7: This is a plaintext resource", false),
        ),
        expecting(
            calls(&[("list_prompts", json!({ "server": "everything" }))]),
            told("read_resource", "the server everything refused", true),
        ),
        expecting(speaks("I have seen it."), told("list_prompts", "simple-prompt()", false)),
    ];
    let everything = |_: &Path| {
        let folder = npm::servers();
        let server = json!({
            "command": "node", "args": [npm::index(&folder, "server-everything")], "resources": true, "timeout": 120,
        });
        json!({ "mcpServers": { "everything": server }, "sandbox": { "read": [folder] } })
    };
    let stage = played(turns, everything).await;
    let verdicts = verdicts(&stage);
    assert_eq!(verdicts.len(), 5);
    let is_recorded = |one: &ToolVerdict| one.verdict == Verdict::Allow && one.class == "read";
    assert!(verdicts.iter().all(is_recorded), "{verdicts:?}");
    stage.end().await;
}

/// A manifest whose server may be read, or not.
fn reading(ground: &Path, resources: Option<bool>) -> Value {
    let mut manifest = manifest(ground, &["read", "write"], &["read_file"]);
    if let Some(resources) = resources {
        manifest["servers"][1]["resources"] = json!(resources);
    }
    manifest
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manifest_that_does_not_say_so_gives_no_way_to_read() {
    let turns = vec![
        read("stage", "stage://notes"),
        expecting(
            served::calls(&[("echo", json!({ "text": "still there" }))]),
            told("read_resource", "read_resource", true),
        ),
        expecting(speaks("Not for me."), served::result("echo", "still there", false)),
    ];
    let stage = played(turns, |ground| under(ground, &reading(ground, None))).await;
    let tools = tools_of(&stage, "Root");
    assert!(!tools.iter().any(|tool| tool.contains("resource") || tool.contains("prompts")), "{tools:?}");
    assert_eq!(verdicts(&stage)[0].verdict, Verdict::Deny);
    stage.end().await;
}

/// A task reads what the tasks above it may read, and its own manifest says that it does.
#[tokio::test(flavor = "multi_thread")]
async fn reading_is_handed_on_only_by_manifests_that_say_so() {
    let create =
        |title: &str, manifest: &str| json!({ "title": title, "description": title, "manifest": manifest });
    let turns = vec![
        read("stage", "stage://notes"),
        expecting(
            calls(&[
                ("create_task", create("Reader", "agents/reader.json")),
                ("create_task", create("Other", "agents/other.json")),
            ]),
            told("read_resource", "Two notes:\ndo, re.[2J", false),
        ),
        speaks("There they are."),
        speaks("One has looked."),
        speaks("Both have looked."),
    ];
    let child = |title: &str, expected: Value| {
        let done = calls(&[("done", json!({ "status": "failed", "summary": "It was only a look." }))]);
        let turns = vec![read("stage", "stage://notes"), expecting(done, expected)];
        conversation(&format!("Title: {title}"), turns)
    };
    let conversations = json!([
        conversation("Title: Root", turns),
        child("Reader", told("read_resource", "do, re.", false)),
        child("Other", told("read_resource", "read_resource", true)),
    ]);
    let furnish = |ground: &Path| {
        let main = reading(ground, Some(true));
        write(ground.join("repo/agents/reader.json"), &main.to_string());
        write(ground.join("repo/agents/other.json"), &reading(ground, None).to_string());
        under(ground, &main)
    };
    let stage = Stage::furnished(conversations, furnish).await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    for (title, reads, turns) in [("Reader", true, 4), ("Other", false, 5)] {
        stage.say(stage.task(title), "Begin.").await;
        let heard = |state: &mxd_core::state::State| {
            state.session(root).life().turns == turns && !state.session(root).is_busy()
        };
        stage.until(title, heard).await;
        let tools = tools_of(&stage, title);
        assert_eq!(tools.iter().any(|tool| tool == "mcp__mxd__read_resource"), reads, "{title}: {tools:?}");
    }
    stage.end().await;
}
