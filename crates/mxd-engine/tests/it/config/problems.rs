//! What is wrong is told at once, with its place and what to do, and repeats nothing of the file.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;

use mxd_engine::config::{Fault, Layer};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::scene::Scene;

#[test]
fn all_problems_are_told_at_once_with_file_place_and_hint() {
    let scene = Scene::new();
    scene.write(
        Layer::User,
        "{\n  \"modle\": \"x\",\n  \"port\": \"7433\",\n  \"sandbox\": { \"mode\": \"of\", \"networks\": {} },\n  \"limits\": { \"turns\": 0 },\n  \"port\": 70000,\n  \"authGroups\": { \"a\": {} }\n}\n",
    );
    scene.write(Layer::Project, "{ \"checks\": [1], \"include\": [\"\"] }");
    let problems = scene.problems();
    let told: Vec<String> = problems
        .problems
        .iter()
        .map(|problem| {
            let file = problem.file.strip_prefix(&scene.places.data).unwrap().display().to_string();
            let at = problem.position.unwrap();
            format!(
                "{file}:{}:{} {}: {} {}",
                at.line,
                at.column,
                problem.path,
                problem.fault,
                problem.fault.hint()
            )
        })
        .collect();
    let expected = [
        "config.json:2:12 modle: `modle` is no key here Did you mean `model`?",
        "config.json:4:24 sandbox.mode: it is none of [\"on\",\"full\",\"landlock\",\"off\"] Correct it; docs/configuration.md says what goes here.",
        "config.json:4:42 sandbox.networks: `networks` is no key here Did you mean `network`?",
        "config.json:5:24 limits.turns: it is less than 1 Correct it; docs/configuration.md says what goes here.",
        "config.json:6:11 port: it is more than 65535 Correct it; docs/configuration.md says what goes here.",
        "config.json:6:11 port: the key `port` is there twice Remove one of the two.",
        "config.json:7:24 authGroups.a: `provider` is missing Correct it; docs/configuration.md says what goes here.",
        "projects/one/config.json:1:14 checks[0]: it is a number instead of string Correct it; docs/configuration.md says what goes here.",
        "projects/one/config.json:1:30 include[0]: it is empty Correct it; docs/configuration.md says what goes here.",
    ];
    assert_eq!(told, expected);
    assert!(problems.to_string().lines().count() == expected.len());
}

/// Each wrong thing alone, with the path at which it is found and words of what is said about it.
fn check_each(cases: &[(Value, &str, &str)]) {
    for (file, path, words) in cases {
        let scene = Scene::of(&[(Layer::User, file.clone())]);
        let faults = scene.faults();
        let found = faults.iter().any(|(at, fault)| at == path && fault.to_string().contains(words));
        assert!(found, "{file}: {faults:?}");
        let kept =
            faults.iter().filter(|(at, _)| !at.starts_with(path) && !path.starts_with(at.as_str())).count();
        assert_eq!(kept, 0, "{file}: {faults:?}");
        assert!(faults.iter().all(|(_, fault)| fault.hint().len() > 8), "{file}");
    }
}

#[test]
fn each_wrong_thing_is_found_where_it_is() {
    let cases = [
        (json!({ "budgetUsd": -1 }), "budgetUsd", "less than 0"),
        (json!({ "budgetUsd": null }), "budgetUsd", "null instead of number"),
        (json!({ "maxDepth": 17 }), "maxDepth", "more than 16"),
        (json!({ "clarifyTimeoutMs": 1.5 }), "clarifyTimeoutMs", "instead of integer"),
        (json!({ "compaction": { "bufferRatio": 0.99 } }), "compaction.bufferRatio", "more than 0.9"),
        (json!({ "effort": "enormous" }), "effort", "none of"),
        (json!({ "defaultAuth": "nobody" }), "defaultAuth", "no auth group"),
        (json!({ "childAuth": "nobody" }), "childAuth", "no auth group"),
        (json!({ "host": "example.org" }), "host", "no IP address"),
        (
            json!({ "host": "0.0.0.0", "auth": { "enforced": false } }),
            "auth.enforced",
            "everybody who reaches",
        ),
        (json!({ "manifest": "../up.json" }), "manifest", "out of the repository"),
        (json!({ "manifest": "/etc/passwd" }), "manifest", "out of the repository"),
        (json!({ "skills": ["a", "b/../../c"] }), "skills[1]", "out of the repository"),
        (json!({ "include": ["a[" ] }), "include[0]", "no glob"),
        (json!({ "sandbox": { "read": ["relative"] } }), "sandbox.read[0]", "not absolute"),
        (
            json!({ "sandbox": { "network": { "allow": ["https://x.org/"] } } }),
            "sandbox.network.allow[0]",
            "is a URL",
        ),
        (json!({ "mcpServers": { "x": { "comand": "y" } } }), "mcpServers.x.comand", "no key here"),
        (json!({ "mcpServers": { "x": 3 } }), "mcpServers.x", "instead of an object"),
        (json!({ "manifestSigners": ["did:key:zzz"] }), "manifestSigners[0]", "is no signer"),
        (
            json!({ "approvals": { "rules": [{ "name": "a", "ruling": "allow" }, { "name": "a", "ruling": "ask" }] } }),
            "approvals",
            "two rules",
        ),
        (
            json!({ "approvals": { "rules": [{ "name": "a", "ruling": "maybe" }] } }),
            "approvals.rules[0].ruling",
            "none of",
        ),
        (json!({ "models": [{ "name": "x" }] }), "models[0]", "is missing"),
        (json!({ "auth": { "rpID": "x" } }), "auth.rpID", "not read any more"),
    ];
    check_each(&cases);
}

#[test]
fn each_wrong_thing_of_an_auth_group_is_found_where_it_is() {
    let group = |members: Value| {
        let mut group = json!({ "provider": "openai" });
        group.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        json!({ "authGroups": { "g": group } })
    };
    let cases = [
        (json!({ "authGroups": { "g": { "provider": "mistral" } } }), "authGroups.g.provider", "none of"),
        (group(json!({ "anthropicApiKey": "$env:A" })), "authGroups.g.anthropicApiKey", "does not go with"),
        (group(json!({ "openaiBaseUrl": "ftp://x" })), "authGroups.g.openaiBaseUrl", "http://"),
        (
            group(json!({ "openaiBaseUrl": "https://me:pw@x/" })),
            "authGroups.g.openaiBaseUrl",
            "more than a host",
        ),
        (
            group(json!({ "openaiBaseUrl": "http://far.example.org", "openaiApiKey": "$env:K" })),
            "authGroups.g.openaiBaseUrl",
            "not encrypted",
        ),
        (
            group(json!({ "openaiApiKey": "$env:K Y" })),
            "authGroups.g.openaiApiKey",
            "`$env:` is not followed",
        ),
        (group(json!({ "openaiAccessToken": "t" })), "authGroups.g.openaiAccessToken", "not read any more"),
    ];
    check_each(&cases);
}

#[test]
fn servers_of_one_s_own_need_no_key_and_no_encryption() {
    let group = |url: &str, key: Value| {
        let mut group = json!({ "provider": "openai", "openaiBaseUrl": url });
        if !key.is_null() {
            group["openaiApiKey"] = key;
        }
        Scene::of(&[(Layer::User, json!({ "authGroups": { "g": group } }))]).load();
    };
    group("http://far.example.org/v1", Value::Null);
    for here in ["http://localhost:8000", "http://127.0.0.1:8000/v1", "http://[::1]:8000"] {
        group(here, json!("$env:KEY"));
    }
}

#[test]
fn files_that_cannot_be_read_are_told_and_not_taken_for_empty() {
    let scene = Scene::new();
    scene.write(Layer::User, "{ \"port\": 1, }");
    scene.write(Layer::Project, "[]");
    fs::create_dir_all(scene.file(Layer::Repository)).unwrap();
    let faults = scene.faults();
    assert!(matches!(faults[0].1, Fault::Json(_)), "{faults:?}");
    assert_eq!(faults[1].1, Fault::Unreadable { why: "it is no plain file".to_owned() });
    assert_eq!(faults[2].1, Fault::Shape { problem: "it is no object".to_owned() });
    scene.write(Layer::User, &format!("{{\"model\": \"{}\"}}", "x".repeat(1 << 20)));
    assert!(scene.problems().to_string().contains("more than 1048576"));
    scene.write(Layer::User, "");
    assert_eq!(scene.faults().len(), 2, "an empty file says nothing");
    fs::File::create(scene.file(Layer::User)).unwrap().write_all(&[b'{', 0xff, b'}']).unwrap();
    assert_eq!(scene.faults()[0].1, Fault::NotUtf8);
}

#[test]
fn a_link_in_the_repository_is_not_followed() {
    let scene = Scene::of(&[(Layer::User, json!({ "port": 1 }))]);
    let folder = scene.file(Layer::Repository).parent().unwrap().to_owned();
    fs::create_dir_all(&folder).unwrap();
    symlink(scene.file(Layer::User), scene.file(Layer::Repository)).unwrap();
    assert!(scene.problems().to_string().contains("it is a link"));
    fs::remove_file(scene.file(Layer::Repository)).unwrap();
    fs::remove_dir(&folder).unwrap();
    symlink(&scene.places.data, &folder).unwrap();
    assert!(scene.problems().to_string().contains("it is a link"));
}

#[test]
fn many_problems_are_counted() {
    let groups: serde_json::Map<String, Value> =
        (0..80).map(|number| (format!("g{number}"), json!({}))).collect();
    let problems = Scene::of(&[(Layer::User, json!({ "authGroups": groups }))]).problems();
    assert_eq!((problems.problems.len(), problems.more), (50, 30));
    assert!(problems.to_string().ends_with("\nand 30 more"));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z$:./*]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let key = prop_oneof![
            Just("authGroups".to_owned()),
            Just("sandbox".to_owned()),
            Just("network".to_owned()),
            Just("allow".to_owned()),
            Just("mcpServers".to_owned()),
            Just("approvals".to_owned()),
            Just("rules".to_owned()),
            Just("limits".to_owned()),
            Just("provider".to_owned()),
            Just("models".to_owned()),
            Just("include".to_owned()),
            "[a-z./~\"]{0,6}",
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_file_is_a_configuration_or_problems_with_hints(file in any_json(), index in 0usize..3) {
        let scene = Scene::new();
        scene.write(Layer::ALL[index], &file.to_string());
        match mxd_engine::config::Config::load(&scene.places) {
            Ok(config) => prop_assert!(!config.rows().is_empty()),
            Err(problems) => {
                prop_assert!(!problems.problems.is_empty());
                for problem in problems.problems {
                    prop_assert!(problem.fault.hint().ends_with(['.', '?', '`', '"']) || !problem.fault.hint().is_empty());
                    prop_assert_eq!(problem.layer, Layer::ALL[index]);
                }
            }
        }
    }
}
