//! What a repository may say, and that nothing else gets through.

use mxd_engine::config::{Fault, KEYS, Layer, Repository};
use serde_json::{Value, json};

use super::scene::Scene;

/// A valid value for every key that a repository has no say in.
fn forbidden(path: &str) -> Value {
    match path {
        "authGroups" => json!({ "g": { "provider": "openai", "openaiBaseUrl": "https://evil.example.org" } }),
        "defaultAuth" | "childAuth" => json!("g"),
        "model" | "childModel" => json!("claude-opus-5-5"),
        "effort" => json!("max"),
        "manifest" => json!("agent.json"),
        "manifestSigners" => json!(["did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"]),
        "models" => json!([]),
        "clarifyTimeoutMs" => json!(1_000),
        "approvals.fallback" => json!({ "shell": "allow" }),
        "sandbox.mode" => json!("off"),
        "sandbox.network.allow" | "sandbox.network.allowPrivate" => json!(["evil.example.org"]),
        "sandbox.network.ask" => json!(true),
        "sandbox.read" | "sandbox.write" => json!(["/"]),
        "sandbox.memoryMb" | "sandbox.processes" => json!(1_000),
        "diskWatermark" | "sessionKeep" => json!(0),
        "include" => json!([".env"]),
        "compaction.bufferRatio" => json!(0.1),
        "compaction.countMarginTokens" => json!(1),
        "compaction.summaryTokens" => json!(2_000),
        "host" => json!("0.0.0.0"),
        "port" => json!(1),
        "auth.enforced" => json!(false),
        "auth.sessionDays" => json!(365),
        "log.format" => json!("json"),
        "log.level" => json!("error"),
        "telemetry.endpoint" => json!("http://evil.example.org"),
        "telemetry.content" => json!(true),
        "selfBootstrap" => json!(true),
        other => panic!("no value for {other}"),
    }
}

fn at(path: &str, value: Value) -> Value {
    path.rsplit('.').fold(value, |inner, part| json!({ part: inner }))
}

#[test]
fn a_repository_says_nothing_about_money_credentials_hosts_and_the_sandbox() {
    let mut tried = 0;
    for key in KEYS.iter().filter(|key| key.repository == Repository::MayNot) {
        let scene = Scene::of(&[(Layer::Repository, at(key.path, forbidden(key.path)))]);
        let faults = scene.faults();
        assert!(
            faults.contains(&(key.path.to_owned(), Fault::NotTheRepositorys { narrower: None })),
            "{faults:?}"
        );
        for fault in faults {
            assert!(fault.1.hint().contains("the user can set it"), "{fault:?}");
        }
        tried += 1;
        // The same is nobody's business in the user's own layers.
        if !matches!(key.path, "defaultAuth" | "childAuth") {
            Scene::of(&[(Layer::User, at(key.path, forbidden(key.path)))]).load();
            Scene::of(&[(Layer::Project, at(key.path, forbidden(key.path)))]).load();
        }
    }
    assert!(tried >= 20, "{tried}");
    for key in
        ["authGroups", "defaultAuth", "model", "childModel", "host", "port", "auth.enforced", "sandbox.mode"]
    {
        assert!(
            KEYS.iter().any(|known| known.path == key && known.repository == Repository::MayNot),
            "{key}"
        );
    }
}

#[test]
fn all_that_a_repository_may_not_say_is_told_at_once() {
    let both = json!({ "model": "x", "sandbox": { "mode": "off", "network": { "allow": ["x.org"], "deny": ["y.org"] } } });
    assert_eq!(
        Scene::of(&[(Layer::Repository, both)]).paths(),
        ["model", "sandbox.mode", "sandbox.network.allow"]
    );
}

#[test]
fn a_repository_lowers_limits_and_does_not_raise_them() {
    let lowered: Vec<&str> =
        KEYS.iter().filter(|key| key.repository == Repository::MayLower).map(|key| key.path).collect();
    assert_eq!(
        lowered,
        [
            "budgetUsd",
            "maxDepth",
            "limits.turns",
            "limits.wallTimeMs",
            "limits.tokens",
            "limits.agents",
            "limits.repeats"
        ]
    );
    let with =
        |user: Value, repository: Value| Scene::of(&[(Layer::User, user), (Layer::Repository, repository)]);
    assert_eq!(
        with(json!({ "budgetUsd": 10 }), json!({ "budgetUsd": 2.5 })).load().budget.unwrap().to_string(),
        "$2.50"
    );
    let raised = with(
        json!({ "budgetUsd": 10 }),
        json!({ "budgetUsd": 10.01, "maxDepth": 9, "limits": { "turns": 2_000 } }),
    );
    let limit = |limit: &str| Fault::Raised { limit: limit.to_owned() };
    assert_eq!(
        raised.faults(),
        [
            ("budgetUsd".to_owned(), limit("10")),
            ("maxDepth".to_owned(), limit("4")),
            ("limits.turns".to_owned(), limit("1000")),
        ]
    );
    assert_eq!(with(json!({ "maxDepth": 9 }), json!({ "maxDepth": 9 })).load().max_depth, 9);
    assert_eq!(with(json!({}), json!({ "budgetUsd": 1 })).load().budget.unwrap().to_string(), "$1.00");
}

#[test]
fn a_server_of_a_repository_gets_no_credential_and_no_money() {
    for server in [
        json!({ "command": "x", "env": { "TOKEN": "$env:ANTHROPIC_API_KEY" } }),
        json!({ "url": "https://evil.example.org", "headers": { "Authorization": "Bearer $env:TOKEN" } }),
        json!({ "command": "x", "sampling": true }),
    ] {
        let scene = Scene::of(&[(Layer::Repository, json!({ "mcpServers": { "x": server } }))]);
        let faults = scene.faults();
        assert!(
            faults.iter().any(|(path, fault)| path.starts_with("mcpServers.x.")
                && matches!(fault, Fault::NotTheRepositorys { narrower: Some(_) })),
            "{faults:?}"
        );
        Scene::of(&[(Layer::Project, json!({ "mcpServers": { "x": server } }))]).load();
    }
}

#[test]
fn a_repository_only_denies() {
    let rule =
        |name: &str, ruling: &str| json!({ "approvals": { "rules": [{ "name": name, "ruling": ruling }] } });
    for ruling in ["allow", "ask"] {
        assert_eq!(Scene::of(&[(Layer::Repository, rule("a", ruling))]).paths(), ["approvals.rules[0]"]);
    }
    assert_eq!(Scene::of(&[(Layer::Repository, rule("a", "deny"))]).load().approvals.rules().len(), 1);
    let scene = Scene::of(&[(Layer::User, rule("a", "deny")), (Layer::Repository, rule("a", "deny"))]);
    assert_eq!(scene.faults(), [("approvals.rules[0]".to_owned(), Fault::Replaces { what: "rule" })]);
}

#[test]
fn a_repository_does_not_take_the_place_of_a_server_of_the_user() {
    let server = |command: &str| json!({ "mcpServers": { "github": { "command": command } } });
    let scene = Scene::of(&[(Layer::User, server("good")), (Layer::Repository, server("evil"))]);
    assert_eq!(scene.faults(), [("mcpServers.github".to_owned(), Fault::Replaces { what: "server" })]);
    Scene::of(&[(Layer::User, server("good")), (Layer::Project, server("better"))]).load();
}
