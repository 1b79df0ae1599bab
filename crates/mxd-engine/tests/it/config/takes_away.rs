//! With the file of a repository an agent may do no more than without it: for every key, every value, any user.

use mxd_core::tool::{ApprovalPolicy, CallArgs, Ruling, SideEffect, Subject, ToolId};
use mxd_engine::config::{Config, KEYS, Layer, Repository};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::scene::Scene;

/// Values for a key, each of them valid in the user's own layers.
fn values(path: &str) -> Vec<Value> {
    let server = |command: &str| json!({ "command": command });
    let rule = |name: &str, ruling: &str| json!({ "name": name, "tool": "mcp:mxd:bash", "ruling": ruling });
    match path {
        "authGroups" => vec![
            json!({ "g": { "provider": "openai", "openaiApiKey": "$env:A" } }),
            json!({ "g": { "provider": "openai", "openaiBaseUrl": "https://evil.example.org" } }),
        ],
        "defaultAuth" | "childAuth" => vec![json!("g")],
        "model" | "childModel" => vec![json!("claude-opus-5-5"), json!("claude-haiku-5-5")],
        "effort" => vec![json!("low"), json!("max")],
        "models" => vec![json!([])],
        "budgetUsd" => vec![json!(0.5), json!(2), json!(1_000)],
        "maxDepth" => vec![json!(1), json!(4), json!(9)],
        "clarifyTimeoutMs" => vec![json!(1_000), json!(60_000)],
        "mcpServers" => vec![
            json!({ "one": server("one") }),
            json!({ "one": server("another"), "two": server("two") }),
            json!({ "one": { "command": "one", "sampling": true } }),
            json!({ "one": { "command": "one", "env": { "TOKEN": "$env:ANTHROPIC_API_KEY" } } }),
            json!({ "one": { "command": "one", "disabled": true } }),
        ],
        "manifest" => vec![json!("agent.json"), json!("other.json")],
        "manifestSigners" => vec![json!(["did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"])],
        "skills" => vec![json!([]), json!(["skills"]), json!(["other", "skills"])],
        "approvals.rules" => vec![
            json!([rule("one", "ask"), rule("two", "deny")]),
            json!([rule("one", "allow")]),
            json!([rule("two", "deny")]),
            json!([{ "name": "three", "effect": "shell", "ruling": "deny" }]),
            json!([{ "name": "four", "ruling": "deny" }]),
        ],
        "approvals.fallback" => vec![json!({ "shell": "allow" }), json!({ "shell": "ask", "read": "deny" })],
        "checks" => vec![json!([]), json!(["true"]), json!(["cargo test"]), json!(["exit 0", "x || true"])],
        "sandbox.mode" => vec![json!("off"), json!("on"), json!("full")],
        "sandbox.network.allow" | "sandbox.network.allowPrivate" | "sandbox.network.deny" => {
            vec![json!([]), json!(["a.example.org"]), json!(["*.example.org", "b.example.org:8443"])]
        }
        "sandbox.read" | "sandbox.write" => vec![json!(["/"]), json!([])],
        "sandbox.memoryMb" | "sandbox.processes" => vec![json!(64), json!(100_000)],
        "include" => vec![json!([]), json!([".env"]), json!(["**/*.key", ".env"])],
        "diskWatermark" | "sessionKeep" => vec![json!(0), json!(1_000)],
        "compaction.bufferRatio" => vec![json!(0.1), json!(0.5)],
        "compaction.countMarginTokens" => vec![json!(1), json!(1_000)],
        "compaction.summaryTokens" => vec![json!(2_000), json!(64_000)],
        "limits.turns" | "limits.agents" => vec![json!(1), json!(16), json!(1_000)],
        "limits.wallTimeMs" | "limits.tokens" => vec![json!(1_000), json!(1_000_000_000u64)],
        "limits.repeats" => vec![json!(2), json!(3), json!(100)],
        "host" => vec![json!("127.0.0.1"), json!("127.0.0.2")],
        "port" => vec![json!(0), json!(1)],
        "auth.enforced" | "telemetry.content" | "selfBootstrap" | "sandbox.network.ask" => {
            vec![json!(true), json!(false)]
        }
        "auth.sessionDays" => vec![json!(1), json!(365)],
        "log.format" => vec![json!("json"), json!("text")],
        "log.level" => vec![json!("error"), json!("trace")],
        "telemetry.endpoint" => vec![json!("http://127.0.0.1:4318"), json!("https://evil.example.org")],
        other => panic!("no values for {other}"),
    }
}

/// Puts a value where the path of a key leads.
fn put(document: &mut Value, path: &str, value: Value) {
    let place = path.split('.').fold(document, |place, part| &mut place[part]);
    *place = value;
}

/// Everything that the rows say about a key.
fn rows(config: &Config, path: &str) -> Vec<(String, Value)> {
    let is_of_key =
        |row: &str| row.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    config.rows().into_iter().filter(|row| is_of_key(&row.path)).map(|row| (row.path, row.value)).collect()
}

fn number(config: &Config, path: &str) -> f64 {
    // Without a number there is no limit.
    rows(config, path).first().and_then(|(_, value)| value.as_f64()).unwrap_or(f64::INFINITY)
}

/// What becomes of some calls, one of each class.
fn rulings(policy: &ApprovalPolicy) -> Vec<Ruling> {
    let args = CallArgs::parse("{}").unwrap();
    let tools = ["mcp:mxd:bash", "mcp:mxd:read_file", "mcp:other:call"];
    let subjects =
        tools.iter().flat_map(|tool| SideEffect::ALL.into_iter().map(move |effect| (tool, effect)));
    subjects
        .map(|(tool, effect)| {
            let id: ToolId = tool.parse().unwrap();
            policy.rule_on(&Subject { id: &id, effect, args: &args }).ruling
        })
        .collect()
}

/// That a key, as it holds with the repository, gives an agent nothing that it does not have without it.
fn is_no_more(path: &str, without: &Config, with: &Config) -> bool {
    match path {
        // The user's come first: of two skills with one name the first counts, and the first check that fails decides.
        "checks" => with.checks.starts_with(&without.checks),
        "skills" => with.skills.starts_with(&without.skills),
        "sandbox.network.deny" => {
            let denied = |config| rows(config, path).into_iter().map(|(_, hosts)| hosts).next();
            let list =
                |hosts: Option<Value>| hosts.and_then(|hosts| hosts.as_array().cloned()).unwrap_or_default();
            let with = list(denied(with));
            list(denied(without)).iter().all(|host| with.contains(host))
        }
        "approvals.rules" => {
            let pairs = rulings(&without.approvals).into_iter().zip(rulings(&with.approvals));
            pairs.into_iter().all(|(without, with)| with >= without)
        }
        // A server of the repository is not used until the user accepts it, which its layer says.
        "mcpServers" => {
            let chosen = |config: &Config| -> Vec<_> {
                let servers = config.mcp_servers.iter();
                servers.filter(|server| server.layer != Layer::Repository).cloned().collect()
            };
            chosen(with) == chosen(without)
        }
        "budgetUsd" | "maxDepth" | "limits.turns" | "limits.wallTimeMs" | "limits.tokens"
        | "limits.agents" | "limits.repeats" => number(with, path) <= number(without, path),
        _ => rows(with, path) == rows(without, path),
    }
}

/// The configuration of these layers; nothing when it is refused.
fn loaded(layers: &[(Layer, Value)]) -> Option<Config> {
    Config::load(&Scene::of(layers).places).ok()
}

/// Whether the repository was let in; panics when it gives more.
fn try_repository(user: &Value, repository: &Value, project: &Value) -> Option<bool> {
    let without = loaded(&[(Layer::User, user.clone()), (Layer::Project, project.clone())])?;
    let layers = [(Layer::User, user), (Layer::Repository, repository), (Layer::Project, project)];
    let Some(with) = loaded(&layers.map(|(layer, value)| (layer, value.clone()))) else { return Some(false) };
    for key in KEYS {
        assert!(
            is_no_more(key.path, &without, &with),
            "{} grows\nuser {user}\nrepository {repository}\nproject {project}",
            key.path
        );
    }
    Some(true)
}

fn document(path: &str, value: Option<&Value>) -> Value {
    let mut document = json!({});
    if let Some(value) = value {
        put(&mut document, path, value.clone());
    }
    document
}

#[test]
fn each_value_of_each_key_beside_each_value_of_the_user_gives_no_more() {
    let (mut let_in, mut refused) = (0, 0);
    for key in KEYS {
        let values = values(key.path);
        let own: Vec<Option<&Value>> = std::iter::once(None).chain(values.iter().map(Some)).collect();
        for repository in &values {
            for user in &own {
                for project in [None, values.first()] {
                    let (user, project) = (document(key.path, *user), document(key.path, project));
                    match try_repository(&user, &document(key.path, Some(repository)), &project) {
                        Some(true) => let_in += 1,
                        Some(false) => refused += 1,
                        None => {}
                    }
                }
            }
        }
    }
    assert!(let_in > 100 && refused > 300, "{let_in} let in, {refused} refused");
}

/// A file that says something about some of these keys, each with such a chance.
fn any_document(paths: Vec<&'static str>, chance: f64) -> impl Strategy<Value = Value> {
    let one = move |path: &'static str| {
        let value = prop::option::weighted(chance, prop::sample::select(values(path)));
        value.prop_map(move |value| (path, value))
    };
    let all: Vec<_> = paths.into_iter().map(one).collect();
    all.prop_map(|said| {
        let mut document = json!({});
        for (path, value) in said {
            if let Some(value) = value {
                put(&mut document, path, value);
            }
        }
        document
    })
}

fn all_keys() -> Vec<&'static str> {
    // A group that does not exist would be refused before anything else is looked at.
    KEYS.iter().map(|key| key.path).filter(|path| !matches!(*path, "defaultAuth" | "childAuth")).collect()
}

fn keys_of_a_repository() -> Vec<&'static str> {
    let may = KEYS.iter().filter(|key| key.repository != Repository::MayNot);
    may.map(|key| key.path).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_repository_beside_any_user_gives_no_more(
        user in any_document(all_keys(), 0.3),
        repository in any_document(all_keys(), 0.02),
        allowed in any_document(keys_of_a_repository(), 0.2),
        project in any_document(all_keys(), 0.2),
    ) {
        try_repository(&user, &repository, &project);
        try_repository(&user, &allowed, &project);
    }
}
