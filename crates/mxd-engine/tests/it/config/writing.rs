//! Changing one key: whole, private, and nothing but that key.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::thread;

use mxd_engine::config::{Fault, Layer, Places, WriteError, allow_host, set, unset, value_of};
use serde_json::{Value, json};

use super::scene::Scene;

fn mode(scene: &Scene, layer: Layer) -> u32 {
    fs::metadata(scene.file(layer)).unwrap().permissions().mode() & 0o777
}

fn refused(result: Result<(), WriteError>) -> Vec<Fault> {
    match result {
        Err(WriteError::Refused(problems)) => {
            problems.problems.into_iter().map(|problem| problem.fault).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_key_is_set_and_the_rest_stays_in_its_order() {
    let scene = Scene::new();
    scene.write(Layer::User, "{\"port\": 1, \"checks\": [\"a\"], \"host\": \"127.0.0.1\"}");
    scene.chmod(Layer::User, 0o644);
    set(&scene.places, Layer::User, "checks", json!(["b"])).unwrap();
    set(&scene.places, Layer::User, "sandbox.network.deny", json!(["x.org"])).unwrap();
    let expected = json!({ "port": 1, "checks": ["b"], "host": "127.0.0.1", "sandbox": { "network": { "deny": ["x.org"] } } });
    assert_eq!(scene.read(Layer::User), format!("{expected:#}\n"));
    assert_eq!(mode(&scene, Layer::User), 0o600);
    unset(&scene.places, Layer::User, "sandbox.network.deny").unwrap();
    unset(&scene.places, Layer::User, "port").unwrap();
    unset(&scene.places, Layer::User, "never.there").unwrap();
    assert_eq!(scene.read(Layer::User), format!("{:#}\n", json!({ "checks": ["b"], "host": "127.0.0.1" })));
}

#[test]
fn files_and_folders_are_made_private_and_that_of_the_repository_is_not() {
    let scene = Scene::new();
    let places = Places { project: Some(scene.places.data.join("projects/two")), ..scene.places.clone() };
    for layer in Layer::ALL {
        set(&places, layer, "checks", json!([])).unwrap();
    }
    let mode_of = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&scene, Layer::User), mode(&scene, Layer::Repository) & 0o600), (0o600, 0o600));
    assert!(mode(&scene, Layer::Repository) & 0o044 != 0);
    assert_eq!(mode_of(&places.file(Layer::Project).unwrap()), 0o600);
    assert_eq!(mode_of(&scene.places.data.join("projects/two")), 0o700);
    scene.chmod(Layer::Repository, 0o664);
    set(&places, Layer::Repository, "checks", json!(["x"])).unwrap();
    assert_eq!(mode(&scene, Layer::Repository), 0o664);
}

#[test]
fn what_would_be_wrong_is_refused_and_nothing_is_written() {
    let scene = Scene::of(&[(Layer::User, json!({ "budgetUsd": 1 }))]);
    let before = scene.read(Layer::User);
    let set = |layer: Layer, path: &str, value: Value| refused(set(&scene.places, layer, path, value));
    assert!(matches!(set(Layer::User, "prot", json!(1))[0], Fault::UnknownKey { .. }));
    assert!(matches!(set(Layer::User, "port", json!("x"))[0], Fault::Shape { .. }));
    assert!(matches!(set(Layer::User, "port.deep", json!(1))[0], Fault::Shape { .. }));
    assert_eq!(set(Layer::Repository, "model", json!("x")), [Fault::NotTheRepositorys { narrower: None }]);
    assert_eq!(set(Layer::Repository, "budgetUsd", json!(2)), [Fault::Raised { limit: "1".to_owned() }]);
    let key = json!({ "provider": "openai", "openaiApiKey": "sk" });
    assert_eq!(set(Layer::Project, "authGroups.main", key), [Fault::LiteralSecret { layer: Layer::Project }]);
    assert_eq!(scene.read(Layer::User), before);
    assert!(!scene.file(Layer::Repository).exists() && !scene.file(Layer::Project).exists());
}

#[test]
fn a_broken_file_is_not_overwritten() {
    let scene = Scene::new();
    scene.write(Layer::User, "{ broken");
    assert!(matches!(refused(set(&scene.places, Layer::User, "port", json!(1)))[0], Fault::Json(_)));
    assert_eq!(scene.read(Layer::User), "{ broken");
    // Another layer is not in its way.
    set(&scene.places, Layer::Project, "port", json!(1)).unwrap();
}

#[test]
fn a_literal_key_can_be_stored_and_the_file_becomes_private_with_it() {
    let scene = Scene::new();
    scene.write(Layer::User, "{}");
    scene.chmod(Layer::User, 0o644);
    let group = json!({ "provider": "anthropic", "anthropicApiKey": "sk-literal" });
    set(&scene.places, Layer::User, "authGroups.main", group).unwrap();
    set(&scene.places, Layer::User, "defaultAuth", json!("main")).unwrap();
    set(&scene.places, Layer::User, "authGroups.main.proxy", json!("$env:PROXY")).unwrap();
    assert_eq!((mode(&scene, Layer::User), scene.load().default_auth.as_deref()), (0o600, Some("main")));
}

#[test]
fn a_group_or_a_model_that_nobody_knows_is_not_chosen() {
    let group = json!({ "provider": "anthropic", "anthropicApiKey": "$env:K" });
    let scene =
        Scene::of(&[(Layer::User, json!({ "authGroups": { "main": group }, "defaultAuth": "main" }))]);
    let places = &scene.places;
    for layer in [Layer::User, Layer::Project] {
        for (key, value) in [("defaultAuth", "nobody"), ("childAuth", "nobody")] {
            let faults = refused(set(places, layer, key, json!(value)));
            assert!(matches!(faults[..], [Fault::UnknownGroup { .. }]), "{faults:?}");
        }
        for key in ["model", "childModel"] {
            assert_eq!(refused(set(places, layer, key, json!("claude-typo-9"))), [Fault::UnknownModel]);
        }
    }
    // The last group cannot be taken from under who uses it.
    assert_eq!(refused(unset(places, Layer::User, "authGroups.main")).len(), 1);
    // Both at once are in order, and so is a name with its date.
    let patch_of = |patch: Value| mxd_engine::config::patch(places, Layer::User, patch.as_object().unwrap());
    patch_of(json!({ "authGroups": { "other": group }, "defaultAuth": "other", "model": "claude-opus-5-5-20260801" }))
        .unwrap();
    // What was wrong before does not keep anybody from changing something else.
    scene.write(Layer::Project, &json!({ "model": "claude-typo-9" }).to_string());
    set(places, Layer::Project, "budgetUsd", json!(3)).unwrap();
    set(places, Layer::Project, "model", json!("claude-opus-5-5")).unwrap();
}

#[test]
fn changes_at_the_same_time_are_all_there() {
    let scene = Scene::new();
    thread::scope(|scope| {
        for number in 0..8 {
            let places = &scene.places;
            scope.spawn(move || {
                let server = json!({ "command": format!("server-{number}") });
                set(places, Layer::User, &format!("mcpServers.s{number}"), server).unwrap();
            });
        }
    });
    assert_eq!(scene.load().mcp_servers.len(), 8);
    let left: Vec<_> =
        fs::read_dir(&scene.places.data).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "no draft is left behind: {left:?}");
}

#[test]
fn a_link_does_not_lead_the_file_of_the_repository_elsewhere() {
    let scene = Scene::new();
    let folder = scene.file(Layer::Repository).parent().unwrap().to_owned();
    symlink(&scene.places.data, &folder).unwrap();
    assert!(set(&scene.places, Layer::Repository, "checks", json!([])).is_err());
    assert!(!scene.file(Layer::User).exists());
}

#[test]
fn a_layer_without_a_place_cannot_be_changed() {
    let places = Places::user_only("/nonexistent");
    let error = set(&places, Layer::Project, "port", json!(1)).unwrap_err();
    assert_eq!(
        (error.to_string(), error.hint().is_empty()),
        ("there is no project layer here".to_owned(), false)
    );
}

#[test]
fn what_is_typed_is_json_or_itself() {
    assert_eq!(value_of("7433"), json!(7433));
    assert_eq!(value_of("true"), json!(true));
    assert_eq!(value_of("claude-opus-5-5"), json!("claude-opus-5-5"));
    assert_eq!(value_of("[\"a\"]"), json!(["a"]));
}

#[test]
fn a_file_that_the_user_keeps_elsewhere_stays_there() {
    let scene = Scene::new();
    let elsewhere = scene.places.data.join("projects/dotfiles.json");
    set(&scene.places, Layer::User, "port", json!(1)).unwrap();
    fs::rename(scene.file(Layer::User), &elsewhere).unwrap();
    symlink(&elsewhere, scene.file(Layer::User)).unwrap();
    set(&scene.places, Layer::User, "port", json!(2)).unwrap();
    assert!(fs::symlink_metadata(scene.file(Layer::User)).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "{\n  \"port\": 2\n}\n");
}

#[test]
fn allowed_host_is_added_to_what_the_user_allows() {
    let allowed = json!({ "sandbox": { "network": { "allow": ["a.example.org"] } } });
    let scene = Scene::of(&[(Layer::User, allowed.clone())]);
    for host in ["b.example.org", "c.example.org:8443", "b.example.org", "a.example.org"] {
        allow_host(&scene.places, host).unwrap();
    }
    let all = json!(["a.example.org", "b.example.org", "c.example.org:8443"]);
    let project: Value = serde_json::from_str(&scene.read(Layer::Project)).unwrap();
    assert_eq!(project["sandbox"]["network"]["allow"], all);
    let user: Value = serde_json::from_str(&scene.read(Layer::User)).unwrap();
    assert_eq!(user, allowed, "other projects are as they were");
    let scene = Scene::new();
    allow_host(&scene.places, "b.example.org").unwrap();
    assert!(scene.read(Layer::Project).contains("b.example.org"));
    assert!(matches!(allow_host(&scene.places, "https://x.org/"), Err(WriteError::Refused(_))));
}
