//! How layers become one configuration, and what every value remembers.

use mxd_core::manifest::RequiredSigners;
use mxd_core::money::Usd;
use mxd_core::prompt::Effort;
use mxd_engine::config::{Config, KEYS, Layer, Origin, Places, Thresholds, defaults};
use mxd_tools::sandbox::Mode;
use mxd_tools::scope::{Access, Root};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::scene::Scene;

#[test]
fn without_any_file_the_defaults_hold() {
    let config = Scene::new().load();
    assert_eq!((config.port, config.host.to_string(), config.max_depth), (7433, "127.0.0.1".to_owned(), 4));
    assert_eq!((config.budget, config.clarify_timeout_ms, config.session_keep), (None, None, None));
    assert_eq!((config.sandbox.mode, config.auth.enforced, config.self_bootstrap), (Mode::On, true, false));
    assert_eq!(config.skills, [".mxd/skills"]);
    assert!(config.rows().iter().all(|row| row.origin == Origin::Default));
    let alone = Config::load(&Places::user_only("/nonexistent")).unwrap();
    assert_eq!(alone.rows(), config.rows());
}

#[test]
fn every_key_of_every_kind_arrives() {
    let everything = json!({
        "authGroups": { "main": { "provider": "anthropic", "anthropicApiKey": "sk-1" } },
        "defaultAuth": "main", "model": "claude-opus-5-5", "childAuth": "main", "childModel": "claude-haiku-5-5",
        "effort": "high", "budgetUsd": 12.5, "maxDepth": 2, "clarifyTimeoutMs": 60_000,
        "mcpServers": { "files": { "command": "files-server" } },
        "manifest": "agent.json", "skills": ["skills"],
        "manifestSigners": ["did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"],
        "approvals": { "rules": [{ "name": "no-push", "tool": "mcp:mxd:bash", "ruling": "deny" }],
                       "fallback": { "shell": "ask" } },
        "checks": ["cargo test"],
        "sandbox": { "mode": "full", "network": { "allow": ["example.org"], "allowPrivate": ["localhost:8080"],
                     "deny": ["evil.example.org"], "ask": false }, "read": ["/usr/share"], "write": ["/var/cache/x"], "memoryMb": 512,
                     "processes": 64 },
        "include": [".env", "config/*.local"], "diskWatermark": 1000,
        "compaction": { "bufferRatio": 0.25, "countMarginTokens": 10, "summaryTokens": 2000 },
        "limits": { "turns": 9, "wallTimeMs": 5000, "tokens": 7000, "agents": 3, "repeats": 5 },
        "models": [{ "name": "mine", "vendor": "me", "contextWindow": 1000, "maxOutputTokens": 100, "thinking": "none",
                     "images": false, "prices": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite5m": 0,
                     "cacheWrite1h": 0 } }],
        "sessionKeep": 7, "host": "127.0.0.2", "port": 0, "auth": { "enforced": false, "sessionDays": 1 },
        "log": { "format": "json", "level": "debug" },
        "telemetry": { "endpoint": "http://127.0.0.1:4318", "content": true },
        "selfBootstrap": true,
    });
    for key in KEYS {
        assert!(everything.pointer(&format!("/{}", key.path.replace('.', "/"))).is_some(), "{}", key.path);
    }
    let config = Scene::of(&[(Layer::User, everything)]).load();
    assert_eq!((config.budget, config.max_depth), (Usd::from_cents(1250), 2));
    assert_eq!((config.effort, config.clarify_timeout_ms), (Some(Effort::High), Some(60_000)));
    assert_eq!(config.mcp_servers[0].spec.name.as_str(), "files");
    assert_eq!(
        (config.manifest.as_deref(), config.skills, config.checks),
        (Some("agent.json"), vec!["skills".to_owned()], vec!["cargo test".to_owned()])
    );
    assert!(matches!(&config.manifest_signers, RequiredSigners::OneOf(signers) if signers.len() == 1));
    assert_eq!(config.approvals.rules().len(), 1);
    assert_eq!((config.sandbox.mode, config.sandbox.limits.memory_bytes), (Mode::Full, 512 << 20));
    assert_eq!((config.sandbox.limits.processes, config.sandbox.ask_about_hosts), (64, false));
    let roots = [("/usr/share", Access::Read), ("/var/cache/x", Access::Write)];
    assert_eq!(config.sandbox.roots, roots.map(|(path, access)| Root { path: path.into(), access }));
    assert_eq!((config.include.len(), config.disk_watermark, config.session_keep), (2, 1000, Some(7)));
    assert_eq!((config.limits.turns, config.limits.wall_time_ms, config.limits.tokens), (9, 5000, 7000));
    assert_eq!((config.limits.agents, config.limits.repeats), (3, 5));
    assert_eq!(config.compaction.thresholds(1_000), Thresholds { count_at: 740, compact_above: 750 });
    assert!(config.models.get("mine").is_ok());
    assert_eq!((config.host.to_string(), config.port), ("127.0.0.2".to_owned(), 0));
    assert_eq!((config.auth.enforced, config.auth.session_days, config.self_bootstrap), (false, 1, true));
    assert_eq!(
        (config.telemetry.endpoint.as_deref(), config.telemetry.content),
        (Some("http://127.0.0.1:4318"), true)
    );
}

#[test]
fn the_project_wins_over_the_user_and_the_repository_adds() {
    let scene = Scene::of(&[
        (
            Layer::User,
            json!({ "checks": ["user"], "skills": ["user"], "port": 1, "limits": { "turns": 50 } }),
        ),
        (
            Layer::Repository,
            json!({ "checks": ["repository"], "skills": ["repository"], "limits": { "turns": 40 } }),
        ),
        (Layer::Project, json!({ "checks": ["project"], "limits": { "agents": 2, "turns": 500 } })),
    ]);
    let config = scene.load();
    assert_eq!(
        (config.checks.as_slice(), config.skills.as_slice()),
        (
            &["project".to_owned(), "repository".to_owned()][..],
            &["user".to_owned(), "repository".to_owned()][..]
        )
    );
    assert_eq!((config.port, config.limits.turns, config.limits.agents), (1, 500, 2));
    let origin = |path| config.origin(path);
    assert_eq!(origin("checks"), Origin::File { layer: Layer::Project, file: scene.file(Layer::Project) });
    assert_eq!(origin("skills"), Origin::File { layer: Layer::User, file: scene.file(Layer::User) });
    assert_eq!(origin("port").layer(), Some(Layer::User));
    assert_eq!(origin("limits.turns").layer(), Some(Layer::Project));
    assert_eq!(origin("limits.tokens"), Origin::Default);
    assert!(origin("checks").to_string().starts_with("project ("));
}

#[test]
fn maps_are_joined_and_an_entry_of_the_same_name_is_replaced_whole() {
    let group = |key: &str| json!({ "provider": "anthropic", "anthropicApiKey": key, "anthropicBaseUrl": "https://a.example.org" });
    let scene = Scene::of(&[
        (
            Layer::User,
            json!({ "authGroups": { "a": group("$env:A"), "b.c": group("$env:B") },
                              "mcpServers": { "one": { "command": "user-one" }, "two": { "command": "two" } } }),
        ),
        (Layer::Repository, json!({ "mcpServers": { "three": { "command": "three" } } })),
        (
            Layer::Project,
            json!({ "authGroups": { "a": { "provider": "anthropic", "anthropicApiKey": "$env:C" } },
                                 "mcpServers": { "one": { "command": "project-one", "disabled": true } } }),
        ),
    ]);
    let config = scene.load();
    assert_eq!(config.auth_groups.len(), 2);
    assert_eq!(config.auth_groups["a"].anthropic_base_url, None);
    let servers: Vec<_> =
        config.mcp_servers.iter().map(|server| (server.spec.name.to_string(), server.layer)).collect();
    assert_eq!(servers, [("two".to_owned(), Layer::User), ("three".to_owned(), Layer::Repository)]);
    let row = |path: &str| config.rows().into_iter().find(|row| row.path == path).unwrap();
    assert_eq!(row("authGroups.a").origin.layer(), Some(Layer::Project));
    assert_eq!(row("authGroups.b.c").value["anthropicApiKey"], "$env:B");
    assert_eq!(row("mcpServers.three").value["command"], "three");
}

#[test]
fn denials_of_all_layers_count_and_rules_are_joined_by_name() {
    let rule = |name: &str, ruling: &str| json!({ "name": name, "tool": "mcp:mxd:bash", "ruling": ruling });
    let scene = Scene::of(&[
        (
            Layer::User,
            json!({ "sandbox": { "network": { "allow": ["a.example.org"], "deny": ["b.example.org"] } },
                              "approvals": { "rules": [rule("one", "ask"), rule("two", "deny")] } }),
        ),
        (
            Layer::Repository,
            json!({ "sandbox": { "network": { "deny": ["c.example.org"] } },
                                    "approvals": { "rules": [rule("three", "deny")] } }),
        ),
        (
            Layer::Project,
            json!({ "sandbox": { "network": { "allow": ["d.example.org"] } },
                                 "approvals": { "rules": [rule("one", "allow")] } }),
        ),
    ]);
    let config = scene.load();
    let row = |path: &str| config.rows().into_iter().find(|row| row.path == path).unwrap().value;
    assert_eq!(row("sandbox.network.deny"), json!(["b.example.org", "c.example.org"]));
    assert_eq!(row("sandbox.network.allow"), json!(["d.example.org"]));
    let names: Vec<String> = config.approvals.rules().iter().map(|rule| rule.name.to_string()).collect();
    assert_eq!(names, ["two", "three", "one"]);
}

#[test]
fn what_holds_by_itself_is_a_file_that_could_be_written() {
    let scene = Scene::of(&[(Layer::User, defaults())]);
    let (written, empty) = (scene.load(), Scene::new().load());
    let values =
        |config: &Config| config.rows().into_iter().map(|row| (row.path, row.value)).collect::<Vec<_>>();
    assert_eq!(values(&written), values(&empty));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Of the user's layers the strongest that says something holds, and behind it stands what the repository says.
    #[test]
    fn checks_of_the_repository_stand_behind_those_of_the_strongest_layer_of_the_user(values in prop::collection::vec(prop::option::of(1u32..5), 3)) {
        let scene = Scene::new();
        for (layer, value) in Layer::ALL.into_iter().zip(&values) {
            if let Some(value) = value {
                scene.write(layer, &json!({ "checks": [format!("check {value}")] }).to_string());
            }
        }
        let config = scene.load();
        let said: Vec<(Layer, u32)> =
            Layer::ALL.into_iter().zip(&values).filter_map(|(layer, value)| Some((layer, (*value)?))).collect();
        let (repository, users): (Vec<_>, Vec<_>) =
            said.into_iter().partition(|(layer, _)| *layer == Layer::Repository);
        let mut holds: Vec<(Layer, u32)> = users.last().copied().into_iter().collect();
        holds.extend(repository.into_iter().filter(|(_, check)| users.last().is_none_or(|(_, user)| user != check)));
        let expected: Vec<String> = holds.iter().map(|(_, value)| format!("check {value}")).collect();
        prop_assert_eq!(&config.checks, &expected);
        prop_assert_eq!(config.origin("checks").layer(), holds.first().map(|(layer, _)| *layer));
        let value: Value = config.rows().into_iter().find(|row| row.path == "checks").unwrap().value;
        prop_assert_eq!(value, json!(expected));
    }
}
