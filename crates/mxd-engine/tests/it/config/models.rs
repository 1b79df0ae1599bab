//! Which model which agent asks, and on which wire.

use mxd_engine::config::{AgentModelError, Config, Layer, Role};
use mxd_llm::{Models, Provider, Wire};
use secrecy::SecretString;
use serde_json::{Value, json};

use super::scene::Scene;

fn config(file: Value) -> Config {
    Scene::of(&[(Layer::User, file)]).load()
}

fn two_groups() -> Value {
    json!({
        "authGroups": {
            "claude": { "provider": "anthropic", "anthropicApiKey": "$env:A" },
            "gpt": { "provider": "openai", "openaiApiKey": "$env:B" },
        },
        "defaultAuth": "claude",
    })
}

fn with(mut file: Value, more: Value) -> Value {
    file.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    file
}

#[test]
fn defaults_are_models_that_are_known() {
    let known = Models::built_in().unwrap();
    for name in ["claude", "gpt"] {
        let model =
            config(with(two_groups(), json!({ "defaultAuth": name }))).agent_model(Role::Root).unwrap();
        assert_eq!((model.group.as_str(), known.get(&model.model.name).is_ok()), (name, true));
    }
}

#[test]
fn root_and_children_choose_apart() {
    let ask = |more: Value, role: Role| {
        let model = config(with(two_groups(), more)).agent_model(role).unwrap();
        (model.group, model.model.name)
    };
    let pair = |group: &str, model: &str| (group.to_owned(), model.to_owned());
    assert_eq!(ask(json!({ "model": "claude-opus-5-5" }), Role::Root), pair("claude", "claude-opus-5-5"));
    assert_eq!(ask(json!({ "model": "claude-opus-5-5" }), Role::Child), pair("claude", "claude-opus-5-5"));
    let child = json!({ "model": "claude-opus-5-5", "childModel": "claude-haiku-5-5" });
    assert_eq!(ask(child.clone(), Role::Child), pair("claude", "claude-haiku-5-5"));
    assert_eq!(ask(child, Role::Root), pair("claude", "claude-opus-5-5"));
    let elsewhere = json!({ "model": "claude-opus-5-5", "childAuth": "gpt" });
    assert_eq!(ask(elsewhere.clone(), Role::Child), pair("gpt", "gpt-6.1-sol"));
    assert_eq!(ask(elsewhere, Role::Root), pair("claude", "claude-opus-5-5"));
    assert_eq!(
        ask(json!({ "model": "claude-opus-5-5-20260801" }), Role::Root),
        pair("claude", "claude-opus-5-5-20260801")
    );
}

#[test]
fn one_group_is_the_default_and_of_several_one_is_named() {
    let file = two_groups();
    let only = json!({ "authGroups": { "only": file["authGroups"]["gpt"] } });
    assert_eq!(config(only).agent_model(Role::Child).unwrap().group, "only");
    let error = config(json!({ "authGroups": file["authGroups"] })).agent_model(Role::Root).unwrap_err();
    assert_eq!(error, AgentModelError::NoDefault { known: vec!["claude".to_owned(), "gpt".to_owned()] });
    assert!(error.hint().contains("claude, gpt"));
    let error = config(json!({})).agent_model(Role::Root).unwrap_err();
    assert_eq!((error.clone(), error.hint().contains("auth add")), (AgentModelError::NoGroup, true));
}

#[test]
fn wires_and_addresses_follow_from_the_group() {
    let way = |group: Value| {
        let models = json!([{ "name": "m", "vendor": "me", "contextWindow": 1000, "maxOutputTokens": 100,
            "thinking": "none", "images": false,
            "prices": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite5m": 0, "cacheWrite1h": 0 } }]);
        let file = json!({ "authGroups": { "g": group }, "model": "m", "models": models, "effort": "low" });
        let model = config(file).agent_model(Role::Root).unwrap();
        let provider = model.provider(&|_| Some(SecretString::from("key"))).unwrap();
        assert!(Provider::new(provider.clone()).is_ok());
        (provider.wire, provider.base_url, provider.key.is_some())
    };
    let vendor = |wire: Wire| (wire, wire.default_base_url().to_owned(), true);
    assert_eq!(way(json!({ "provider": "anthropic", "anthropicApiKey": "$env:K" })), vendor(Wire::Anthropic));
    assert_eq!(way(json!({ "provider": "openai", "openaiApiKey": "$env:K" })), vendor(Wire::Responses));
    assert_eq!(
        way(json!({ "provider": "openai", "openaiApiKey": "$env:K", "wire": "chat" })),
        vendor(Wire::Chat)
    );
    let own = "http://localhost:8000/v1";
    assert_eq!(
        way(json!({ "provider": "openai", "openaiBaseUrl": own })),
        (Wire::Chat, own.to_owned(), false)
    );
    assert_eq!(
        way(json!({ "provider": "openai", "openaiBaseUrl": own, "wire": "responses" })),
        (Wire::Responses, own.to_owned(), false)
    );
    assert_eq!(
        way(json!({ "provider": "anthropic", "anthropicBaseUrl": own, "anthropicApiKey": "$env:K" })),
        (Wire::Anthropic, own.to_owned(), true)
    );
}

#[test]
fn a_subscription_token_is_a_way_to_anthropic_and_is_sent_as_a_bearer() {
    let file =
        json!({ "authGroups": { "g": { "provider": "anthropic", "claudeOauthToken": "$env:TOKEN" } } });
    let model = config(file).agent_model(Role::Root).unwrap();
    let provider = model.provider(&|name| (name == "TOKEN").then(|| SecretString::from("secret"))).unwrap();
    assert_eq!((provider.wire, provider.is_bearer, provider.key.is_some()), (Wire::Anthropic, true, true));
    let both = json!({ "provider": "anthropic", "claudeOauthToken": "$env:A", "anthropicApiKey": "$env:B" });
    let scene = Scene::of(&[(Layer::User, json!({ "authGroups": { "g": both } }))]);
    assert_eq!(scene.paths(), ["authGroups.g.claudeOauthToken"]);
    let literal =
        json!({ "authGroups": { "g": { "provider": "anthropic", "claudeOauthToken": "sk-ant-oat01-x" } } });
    assert_eq!(Scene::of(&[(Layer::Project, literal.clone())]).paths(), ["authGroups.g.claudeOauthToken"]);
    let shown = config(literal).rows().into_iter().find(|row| row.path == "authGroups.g").unwrap();
    assert_eq!(shown.value["claudeOauthToken"], "[secret]");
}

#[test]
fn a_vendor_wants_a_key() {
    for (provider, member) in [("anthropic", "anthropicApiKey"), ("openai", "openaiApiKey")] {
        let file = json!({ "authGroups": { "g": { "provider": provider } } });
        let error = config(file).agent_model(Role::Root).unwrap_err();
        assert_eq!(error, AgentModelError::NoKey { group: "g".to_owned(), member });
    }
}

#[test]
fn a_model_of_unknown_price_is_refused_with_the_entry_to_add() {
    let file = with(two_groups(), json!({ "model": "brand-new", "budgetUsd": 5 }));
    let error = config(file).agent_model(Role::Root).unwrap_err();
    assert_eq!(error, AgentModelError::UnknownModel { model: "brand-new".to_owned(), budgeted: true });
    assert!(error.to_string().contains("a budget in dollars cannot be kept"));
    let hint = error.hint();
    let entry: Value = serde_json::from_str(&hint[hint.find('{').unwrap()..]).unwrap();
    let file = with(two_groups(), json!({ "model": "brand-new", "budgetUsd": 5, "models": [entry] }));
    assert_eq!(config(file).agent_model(Role::Root).unwrap().model.name, "brand-new");
    let free =
        config(with(two_groups(), json!({ "model": "brand-new" }))).agent_model(Role::Root).unwrap_err();
    assert!(!free.to_string().contains("budget"));
}
