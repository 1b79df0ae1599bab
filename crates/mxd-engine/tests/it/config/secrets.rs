//! Credentials: where they may stand, and that they come out nowhere.

use mxd_engine::config::{Config, Fault, Layer, Role, SecretError};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

use super::scene::Scene;

const KEY: &str = "sk-ant-very-secret-0123456789";

fn group(key: &str) -> Value {
    json!({ "authGroups": { "main": { "provider": "anthropic", "anthropicApiKey": key } } })
}

fn nothing(_: &str) -> Option<SecretString> {
    None
}

#[test]
fn a_literal_key_stands_in_the_user_layer_only() {
    let scene = Scene::of(&[(Layer::User, group(KEY))]);
    let provider = scene.load().agent_model(Role::Root).unwrap().provider(&nothing).unwrap();
    assert_eq!(provider.key.unwrap().expose_secret(), KEY);
    for layer in [Layer::Repository, Layer::Project] {
        let faults = Scene::of(&[(layer, group(KEY))]).faults();
        let found = faults.iter().any(|(_, fault)| *fault == Fault::LiteralSecret { layer });
        assert!(found, "{faults:?}");
    }
    Scene::of(&[(Layer::Project, group("$env:KEY"))]).load();
}

#[test]
fn a_file_with_a_literal_key_is_private() {
    let scene = Scene::of(&[(Layer::User, group(KEY))]);
    for mode in [0o644, 0o640, 0o604, 0o660] {
        scene.chmod(Layer::User, mode);
        assert_eq!(scene.faults(), [(String::new(), Fault::Exposed { mode })]);
    }
    scene.chmod(Layer::User, 0o400);
    scene.load();
    let scene = Scene::of(&[(Layer::User, group("$env:KEY"))]);
    scene.chmod(Layer::User, 0o644);
    scene.load();
}

#[test]
fn a_reference_is_looked_up_when_it_is_used_and_nothing_else_is() {
    let config = Scene::of(&[(Layer::User, group("$env:MY_KEY"))]).load();
    let model = config.agent_model(Role::Root).unwrap();
    let lookup = |name: &str| {
        assert_eq!(name, "MY_KEY");
        Some(SecretString::from(KEY))
    };
    assert_eq!(model.provider(&lookup).unwrap().key.unwrap().expose_secret(), KEY);
    let error = model.provider(&nothing).unwrap_err();
    let expected =
        "the variable MY_KEY, which `authGroups.main.anthropicApiKey` refers to, is not set or empty";
    assert_eq!(error.to_string(), expected);
    assert!(error.hint().contains("Set MY_KEY"));
    assert!(model.provider(&|_| Some(SecretString::from(""))).is_err());
    let control = model.provider(&|_| Some(SecretString::from("sk\n"))).unwrap_err();
    assert_eq!(control, SecretError::Control { path: "authGroups.main.anthropicApiKey".to_owned() });
}

#[test]
fn no_key_comes_out_of_anything_that_can_be_printed() {
    let proxy = "http://me:proxy-password@proxy.example.org";
    let file = json!({ "authGroups": { "main": { "provider": "anthropic", "anthropicApiKey": KEY, "proxy": proxy } } });
    let scene = Scene::of(&[(Layer::User, file)]);
    let config = scene.load();
    let model = config.agent_model(Role::Root).unwrap();
    let provider = model.provider(&nothing).unwrap();
    let rows = serde_json::to_string(&config.rows()).unwrap();
    let groups = format!("{:?}", config.auth_groups);
    for printed in [groups, format!("{model:?}"), format!("{provider:?}"), rows] {
        assert!(!printed.contains("very-secret") && !printed.contains("proxy-password"), "{printed}");
    }
}

/// The key, put into every place of a file where it does not belong.
#[test]
fn a_key_in_the_wrong_place_is_not_repeated() {
    let places = [
        json!({ "model": 1, "defaultAuth": KEY }),
        json!({ "effort": KEY }),
        json!({ "port": KEY }),
        json!({ "host": KEY }),
        json!({ "sandbox": { "mode": KEY, "memoryMb": KEY, "read": [KEY] } }),
        json!({ "authGroups": { "a": { "provider": KEY } } }),
        json!({ "authGroups": { "a": { "provider": "openai", "openaiApiKey": [KEY] } } }),
        json!({ "authGroups": { "a": { "provider": "openai", "openaiApiKey": format!("$env:{KEY}") } } }),
        json!({ "authGroups": { "a": { "provider": "openai", "openaiBaseUrl": KEY } } }),
        json!({ "authGroups": { "a": { "provider": "openai", "wire": KEY } } }),
        json!({ "mcpServers": { "a": { "command": "x", "env": { "API_KEY": KEY } } } }),
        json!({ "limits": KEY }),
        json!({ "checks": KEY }),
        json!([KEY]),
        json!(KEY),
    ];
    for layer in Layer::ALL {
        for place in &places {
            let scene = Scene::of(&[(layer, place.clone())]);
            let problems = scene.problems();
            let debug = format!("{problems:?}");
            assert!(
                !problems.to_string().contains("very-secret") && !debug.contains("very-secret"),
                "{layer}: {debug}"
            );
        }
        let scene = Scene::new();
        scene.write(layer, &format!("{{\"authGroups\": {{\"a\": \"{KEY}\" \"{KEY}\"}}}}"));
        assert!(!scene.problems().to_string().contains("very-secret"));
    }
}

#[test]
fn rows_show_references_and_not_keys() {
    let config: Config = Scene::of(&[(
        Layer::User,
        json!({ "authGroups": {
        "a": { "provider": "anthropic", "anthropicApiKey": "$env:KEY" },
        "b": { "provider": "openai", "openaiApiKey": KEY } } }),
    )])
    .load();
    let row = |path: &str| config.rows().into_iter().find(|row| row.path == path).unwrap().value;
    assert_eq!(row("authGroups.a")["anthropicApiKey"], "$env:KEY");
    assert_eq!(row("authGroups.b")["openaiApiKey"], "[secret]");
}
