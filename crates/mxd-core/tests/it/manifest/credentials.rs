//! References to the environment: how they are read, resolved, and never shown.

use std::collections::BTreeMap;

use mxd_core::manifest::{EnvName, Fault, Part, Resolved, ServerSpec, Template, Unfit, Unresolved};
use proptest::prelude::*;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

use super::fixtures::{good, parse};

fn stdio(env: Value) -> ServerSpec {
    let mut manifest = good();
    manifest["servers"][0]["env"] = env;
    parse(&manifest).servers.remove(0)
}

fn http(headers: Value) -> ServerSpec {
    let mut manifest = good();
    manifest["servers"][1]["headers"] = headers;
    parse(&manifest).servers.remove(1)
}

fn resolve(server: &ServerSpec, variables: &[(&str, &str)]) -> Result<Resolved, Vec<Unresolved>> {
    let variables: BTreeMap<&str, &str> = variables.iter().copied().collect();
    server.resolve(&|name| variables.get(name).map(|value| SecretString::from(*value)))
}

fn shown<N: ToString>(values: &[(N, SecretString)]) -> Vec<String> {
    values.iter().map(|(name, value)| format!("{}={}", name.to_string(), value.expose_secret())).collect()
}

#[test]
fn references_are_resolved_wherever_they_stand() {
    let server = stdio(json!([
        "PLAIN=a=b",
        "WHOLE=$env:A",
        "PART=<$env:A-$env:B>",
        "$env:B",
        "EMPTY=",
        "PRICE=5$ or $$"
    ]));
    let resolved = resolve(&server, &[("A", "alpha"), ("B", "beta")]).unwrap();
    let expected = ["PLAIN=a=b", "WHOLE=alpha", "PART=<alpha-beta>", "B=beta", "EMPTY=", "PRICE=5$ or $$"];
    assert_eq!(shown(&resolved.env), expected);
    let secrets: Vec<_> = resolved.secrets().iter().map(|secret| secret.expose_secret()).collect();
    assert_eq!(secrets, ["alpha", "beta"]);
    let server = http(json!({"Authorization": "Bearer $env:A", "X-Plain": "x"}));
    let resolved = resolve(&server, &[("A", "alpha")]).unwrap();
    assert_eq!(shown(&resolved.headers), ["Authorization=Bearer alpha", "X-Plain=x"]);
}

#[test]
fn two_dollars_stand_for_the_text() {
    let server = stdio(json!(["DOC=write $$env:NAME here", "THREE=$$$env:NAME"]));
    let resolved = resolve(&server, &[]).unwrap();
    assert_eq!(shown(&resolved.env), ["DOC=write $env:NAME here", "THREE=$$env:NAME"]);
    assert!(resolved.secrets().is_empty());
}

#[test]
fn a_name_ends_where_it_cannot_go_on() {
    let template: Template = "$env:A_1.x$env:B$env:C".parse().unwrap();
    let names: Vec<&str> = template.variables().map(EnvName::as_str).collect();
    assert_eq!(names, ["A_1", "B", "C"]);
    for text in ["$env:", "$env:-", "a $env:1", "$env:é"] {
        assert_eq!(text.parse::<Template>(), Err(Fault::Reference), "{text}");
    }
}

#[test]
fn every_variable_that_is_not_there_is_named() {
    let server = stdio(json!(["ONE=$env:A", "TWO=$env:B$env:C", "THREE=$env:D"]));
    let unresolved = resolve(&server, &[("B", ""), ("D", "there")]).unwrap_err();
    let told: Vec<_> =
        unresolved.iter().map(|one| (one.variable.as_str(), one.place.as_str(), one.why)).collect();
    let expected = [
        ("A", "env ONE of the server fs", Unfit::Unset),
        ("B", "env TWO of the server fs", Unfit::Empty),
        ("C", "env TWO of the server fs", Unfit::Unset),
    ];
    assert_eq!(told, expected);
    assert_eq!(unresolved[0].to_string(), "the variable A, which env ONE of the server fs needs, is not set");
    assert!(unresolved[0].hint().contains("Set A"));
}

#[test]
fn a_value_cannot_end_its_header() {
    let server = http(json!({"Authorization": "Bearer $env:A"}));
    let unresolved = resolve(&server, &[("A", "x\r\nX-Admin: yes")]).unwrap_err();
    assert_eq!(unresolved[0].why, Unfit::Control);
    assert!(!unresolved[0].to_string().contains("X-Admin"));
    // A variable may have lines, as private keys do.
    let server = stdio(json!(["PEM=$env:A"]));
    assert!(resolve(&server, &[("A", "one\ntwo\n")]).is_ok());
    assert_eq!(resolve(&server, &[("A", "one\0two")]).unwrap_err()[0].why, Unfit::Control);
}

#[test]
fn what_is_resolved_cannot_be_printed() {
    const CANARY: &str = "canary-7d1f";
    let server = http(json!({"Authorization": "Bearer $env:A", "X-Other": "$env:A"}));
    let resolved = resolve(&server, &[("A", CANARY)]).unwrap();
    assert!(!format!("{resolved:?}").contains(CANARY));
    assert!(!format!("{server:?}").contains(CANARY));
    assert_eq!(resolved.secrets().len(), 1);
}

proptest! {
    #[test]
    fn a_template_reads_back_from_its_text(text in "(\\$|\\$env:|\\$\\$env:|[A-Z_]{1,3}|[ a-z:=.-]{0,4}|é){0,8}") {
        let Ok(template) = text.parse::<Template>() else { return Ok(()) };
        prop_assert_eq!(template.to_string(), text);
        let size = |part: &Part| match part {
            Part::Text(text) => text.len(),
            Part::Variable(name) => name.as_str().len(),
        };
        prop_assert!(template.parts().iter().all(|part| size(part) > 0));
    }
}
