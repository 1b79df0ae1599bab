//! Agents under manifests and skills: what is not listed is not there, and nobody hands on more than it has.

use std::path::Path;

use mxd_core::event::EventBody;
use mxd_core::event::body::RestReason;
use mxd_core::manifest::{AgentManifest, Placeholders, sign, signer};
use mxd_core::tree::Status;
use mxd_engine::provision::ServerState;
use secrecy::SecretBox;
use serde_json::{Value, json};

use super::served::{self, manifest, ours, report, result};
use super::stage::{Stage, calls, capturing, conversation, expecting, git, speaks, write};

/// A repository with a manifest, committed.
pub(super) fn under(ground: &Path, manifest: &Value) -> Value {
    let repo = ground.join("repo");
    write(repo.join("agents/main.json"), &manifest.to_string());
    git(&repo, &["add", "-A"]);
    git(&repo, &["commit", "-q", "-m", "a manifest"]);
    json!({ "manifest": "agents/main.json" })
}

fn refused(tool: &str, words: &str) -> Value {
    json!({ "tool_results": [{ "call": format!("mcp__mxd__{tool}"), "contains": words, "is_error": true }] })
}

/// The tools that the first conversation was begun with, by name.
pub(super) fn tools_of(stage: &Stage, title: &str) -> Vec<String> {
    let task = stage.task(title);
    let config = stage.events().into_iter().find_map(|event| match event.body {
        EventBody::SessionConfig(config) if event.task == task => Some(config),
        _ => None,
    });
    let tools: Vec<Value> = serde_json::from_str(config.unwrap().tools.get()).unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manifest_for_reading_gives_no_way_to_write() {
    let turns = vec![
        calls(&[("write_file", json!({ "path": "a.txt", "content": "a" }))]),
        expecting(
            calls(&[("create_task", json!({ "title": "t", "description": "d" }))]),
            refused("write_file", "write"),
        ),
        expecting(
            served::calls(&[("echo", json!({ "text": "verified" }))]),
            refused("create_task", "does not give you create_task"),
        ),
        expecting(
            served::calls(&[("put", json!({ "path": "b.txt", "text": "b" }))]),
            result("echo", "verified", false),
        ),
        expecting(speaks("I only read."), result("put", "write", true)),
    ];
    let reads = |ground: &Path| under(ground, &manifest(ground, &["read"], &["read_file", "write_file"]));
    let stage = Stage::furnished(json!([conversation("Title: Root", turns)]), reads).await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let tools = tools_of(&stage, "Root");
    let has = |name: &str| tools.iter().any(|tool| tool == name);
    assert!(has("mcp__mxd__read_file") && has("mcp__stage__echo") && has("mcp__mxd__done"), "{tools:?}");
    for missing in ["mcp__mxd__write_file", "mcp__mxd__bash", "mcp__stage__put", "mcp__mxd__create_task"] {
        assert!(!has(missing), "{missing} is not listed, or of another class");
    }
    assert!(!stage.repo().join("a.txt").exists() && !stage.repo().join("b.txt").exists());
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_files_changed_does_not_start_and_the_agent_knows() {
    let turns = vec![expecting(
        speaks("Without it, then."),
        json!({ "user_texts": [{ "contains": "The server stage cannot be used" }] }),
    )];
    let changed = |ground: &Path| {
        let settings = under(ground, &manifest(ground, &["read"], &["read_file"]));
        let script = ground.join("repo/agents/server/server.py");
        let text = std::fs::read_to_string(&script).unwrap();
        write(script, &format!("{text}\n# and more\n"));
        settings
    };
    let stage = Stage::furnished(json!([conversation("Title: Root", turns)]), changed).await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let seen = report(&stage).await;
    assert!(matches!(&seen.state, ServerState::Down { why, .. } if why.contains("sha256")), "{seen:?}");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_work_under_the_manifest_that_was_accepted_whatever_is_merged() {
    let turns = vec![
        speaks("Ready."),
        calls(&[("bash", json!({ "command": "echo more" }))]),
        expecting(speaks("Not for me."), refused("bash", "bash")),
    ];
    let reads = |ground: &Path| under(ground, &manifest(ground, &["read"], &["read_file"]));
    let mut stage = Stage::furnished(json!([conversation("Title: Root", turns)]), reads).await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let wider = manifest(stage.ground.path(), &["read", "shell"], &["read_file", "bash"]);
    write(stage.repo().join("agents/main.json"), &wider.to_string());
    stage.restart().await;
    let seen = stage.project().manifest().await.unwrap();
    assert!(seen.accepted.is_some() && seen.changed.is_some(), "{seen:?}");
    stage.say(root, "Try.").await;
    stage
        .until("three turns", |state| state.session(root).life().turns == 3 && !state.session(root).is_busy())
        .await;
    let accepted = stage.project().accept_manifest().await.unwrap();
    assert_eq!((accepted.accepted, accepted.changed), (seen.changed, None));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_creator_names_only_takes_away() {
    let skill = "---\nname: look\ndescription: Look and tell.\nallowed-tools: mcp:mxd:list_files, mcp:mxd:bash\n---\nLook closely.\n";
    let start = |child: &str| {
        calls(&[("send_message", json!({ "taskId": child, "title": "go", "message": "Begin." }))])
    };
    let create =
        json!({ "title": "Look", "description": "d", "manifest": "agents/narrow.json", "skill": "look" });
    let stage = Stage::furnished(
        json!([
            conversation("Title: Root", vec![
                expecting(calls(&[("create_task", create)]), json!({ "user_texts": [{ "contains": "* look: Look and tell." }] })),
                capturing(start("$child"), "Created the task (?<child>[0-9A-Z]{26})"),
                calls(&[("yield", json!({}))]),
                calls(&[("done", json!({ "status": "passed", "summary": "Looked." }))]),
            ]),
            conversation("Title: Look", vec![
                expecting(
                    calls(&[("list_files", json!({}))]),
                    json!({ "user_texts": [{ "contains": "Look closely." }] }),
                ),
                expecting(
                    calls(&[("read_file", json!({ "path": "README.md" }))]),
                    json!({ "tool_results": [{ "call": "mcp__mxd__list_files", "contains": "README.md", "is_error": false }] }),
                ),
                expecting(calls(&[("bash", json!({ "command": "echo out" }))]), refused("read_file", "skill")),
                expecting(calls(&[("done", json!({ "status": "passed", "summary": "Looked." }))]), refused("bash", "shell")),
            ]),
        ]),
        |ground| {
            let repo = ground.join("repo");
            std::fs::create_dir_all(repo.join(".mxd/skills/look")).unwrap();
            write(repo.join(".mxd/skills/look/SKILL.md"), skill);
            let whole = manifest(ground, &["read", "write", "shell"], &["read_file", "list_files", "bash"]);
            // It lists more than there is, in a class the project has not: a server of its own making.
            let mut narrow = json!({ "schema_version": 1, "agent": "matrix://agent/narrow", "allowed_side_effects": ["read", "network"],
                                     "servers": [ours(&["read_file", "list_files", "bash", "write_file"]), whole["servers"][1].clone()] });
            narrow["servers"][1]["args"] = json!(["server/other.py"]);
            write(repo.join("agents/narrow.json"), &narrow.to_string());
            under(ground, &whole)
        },
    )
    .await;
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_status(root, Status::Passed).await;
    let tools = tools_of(&stage, "Look");
    let ours: Vec<&String> =
        tools.iter().filter(|tool| !tool.contains("task") && !tool.contains("project")).collect();
    assert!(ours.iter().any(|tool| *tool == "mcp__mxd__list_files"), "{tools:?}");
    for missing in [
        "mcp__mxd__read_file",
        "mcp__mxd__bash",
        "mcp__mxd__write_file",
        "mcp__stage__echo",
        "mcp__mxd__create_task",
    ] {
        assert!(!tools.iter().any(|tool| tool == missing), "{missing} is taken away");
    }
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manifest_is_signed_by_whom_the_settings_name_or_not_used() {
    let key = |byte: u8| SecretBox::new(Box::new([byte; 32]));
    let signs = |stage: &Stage, byte: u8| {
        let path = stage.repo().join("agents/main.json");
        let text = std::fs::read(&path).unwrap();
        let manifest = AgentManifest::parse(&text, Placeholders::Refuse).unwrap();
        write(stage.repo().join("agents/main.json.sig"), &sign(&manifest, &key(byte)).to_string());
    };
    let reads = |ground: &Path| {
        let mut settings = under(ground, &manifest(ground, &["read"], &["read_file"]));
        settings["manifestSigners"] = json!([signer(&key(1))]);
        settings
    };
    let turns = vec![speaks("Vouched for.")];
    let stage = Stage::furnished(json!([conversation("Title: Root", turns)]), reads).await;
    let refused = async |words: &str| {
        let error = stage.project().accept_manifest().await.unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("agents/main.json"), "{error}");
    };
    refused("the manifest is not signed").await;
    signs(&stage, 2);
    refused("whose signature does not count here").await;
    signs(&stage, 1);
    stage.project().accept_manifest().await.unwrap();
    let root = stage.root();
    stage.say(root, "Begin.").await;
    stage.until_rest(root, &RestReason::EndTurn).await;
    let path = stage.repo().join("agents/main.json");
    let text = std::fs::read_to_string(&path).unwrap();
    write(path, &text.replace("matrix://agent/stage", "matrix://agent/other"));
    refused("the signature is about the manifest").await;
    assert!(stage.project().manifest().await.unwrap().changed.is_some(), "what was accepted still holds");
    stage.end().await;
}
