//! How conversations begin, in both eras, and what is listed.

use mxd_core::tool::{EffectSet, SideEffect};
use mxd_tools::plane::Registry;
use mxd_tools::serve::{Permissions, selftest};
use serde_json::{Value, json};

use super::client::{Client, meta, permissions, server};
use crate::scene::Scene;

#[tokio::test]
async fn every_revision_is_answered_with_one_that_both_speak() {
    let scene = Scene::new().await;
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("nonsense", "2025-11-25"),
    ] {
        let mut client = Client::silent(server(&scene.scope, permissions()));
        let info = json!({ "name": "a test", "version": "1" });
        let params = json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": info });
        let answer = client.ask("initialize", params).await;
        assert_eq!(answer["result"]["protocolVersion"], agreed, "{asked}: {answer}");
        assert_eq!(answer["result"]["serverInfo"]["name"], "mxd");
        assert!(answer["result"]["capabilities"]["tools"].is_object());
        assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
    }
}

#[tokio::test]
async fn the_stateless_era_needs_no_handshake() {
    let scene = Scene::new().await;
    let mut client = Client::silent(server(&scene.scope, permissions()));
    let found = client.ask("server/discover", json!({ "_meta": meta(json!({})) })).await;
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-06-18")), "{found}");
    let listed = client.ask("tools/list", json!({ "_meta": meta(json!({})) })).await;
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 7);
    assert_eq!(
        (&listed["result"]["cacheScope"], &listed["result"]["resultType"]),
        (&json!("private"), &json!("complete"))
    );
    let params =
        json!({ "name": "bash", "arguments": { "command": "echo hello" }, "_meta": meta(json!({})) });
    let called = client.ask("tools/call", params).await;
    assert_eq!(called["result"]["content"][0]["text"], "hello\n[exit code: 0]");
    let unknown = json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2031-01-01",
        "io.modelcontextprotocol/clientCapabilities": {},
    } });
    assert_eq!(client.ask("tools/list", unknown).await["error"]["code"], -32022);
    let halves = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } });
    assert_eq!(client.ask("tools/list", halves).await["error"]["code"], -32602);
    assert_eq!(client.ask("ping", json!({ "_meta": meta(json!({})) })).await["error"]["code"], -32601);
}

#[tokio::test]
async fn nothing_is_done_before_the_conversation_has_begun() {
    let scene = Scene::new().await;
    let mut client = Client::silent(server(&scene.scope, permissions()));
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
    assert_eq!(client.ask("tools/list", json!({})).await["error"]["code"], -32602);
    let told = client.call("bash", json!({ "command": "touch ran" })).await;
    assert!(told["error"]["message"].as_str().unwrap().contains("initialize"), "{told}");
    assert!(!scene.path("ran").exists());
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "a", "version": "1" } });
    assert!(client.ask("initialize", params.clone()).await.get("result").is_some());
    assert_eq!(client.ask("initialize", params).await["error"]["code"], -32600, "only once");
    assert!(client.ask("tools/list", json!({})).await.get("result").is_some());
}

#[tokio::test]
async fn the_registry_is_what_is_listed_with_hints_from_the_classes() {
    let scene = Scene::new().await;
    let mut client = Client::of(&scene).await;
    let listed = client.ask("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    let registry = Registry::built_in().unwrap();
    let defs: Vec<_> = registry.defs().collect();
    assert_eq!(tools.len(), defs.len());
    for (tool, def) in tools.iter().zip(&defs) {
        assert_eq!(tool["name"], def.facts.id.tool.as_str());
        assert_eq!(tool["description"], def.description.text());
        let schema: Value = serde_json::from_str(def.input.shown().get()).unwrap();
        assert_eq!(tool["inputSchema"], schema);
        let hints = &tool["annotations"];
        let looks = def.facts.effect == Some(SideEffect::Read);
        assert_eq!(hints["readOnlyHint"], looks, "{tool}");
        assert_eq!(hints["destructiveHint"], !looks, "{tool}");
        assert_eq!(hints["openWorldHint"], def.facts.effect == Some(SideEffect::Shell), "{tool}");
    }
    assert_eq!(client.ask("tools/list", json!({ "cursor": "2" })).await["error"]["code"], -32602);
}

#[tokio::test]
async fn what_is_not_permitted_is_neither_listed_nor_called() {
    let scene = Scene::new().await;
    let effects: EffectSet = [SideEffect::Read].into_iter().collect();
    let allowed = server(&scene.scope, Permissions { effects, ..permissions() });
    let mut client = Client::legacy(allowed, json!({})).await;
    let listed = client.ask("tools/list", json!({})).await;
    let names: Vec<&str> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(names, ["list_files", "read_file", "search"]);
    let told = client.call("bash", json!({ "command": "touch ran" })).await;
    assert_eq!(told["error"]["code"], -32602);
    assert!(!scene.path("ran").exists());
}

#[tokio::test]
async fn the_selftest_agrees_with_itself() {
    let scene = Scene::new().await;
    let report = selftest(server(&scene.scope, permissions())).await;
    assert_eq!(report.findings, []);
    assert_eq!(report.tools.len(), 7);
    let effects: EffectSet = [SideEffect::Read].into_iter().collect();
    let scene = Scene::new().await;
    let report = selftest(server(&scene.scope, Permissions { effects, ..permissions() })).await;
    assert_eq!((report.findings, report.withheld.len()), (vec![], 4));
}
