//! The short form of configurations becomes the same servers.

use mxd_core::manifest::{
    Reconnect, ResourceAccess, Sampling, ServerSpec, Tools, Transport, limits, parse_mcp_servers,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::json::any_value;

fn one(server: Value) -> ServerSpec {
    parse_mcp_servers(json!({"s": server}).to_string().as_bytes()).unwrap().remove(0)
}

#[test]
fn every_transport_is_lowered() {
    let text = br#"{
        "files": {"command": "npx", "args": ["-y", "server"], "env": {"TOKEN": "$env:TOKEN", "MODE": "fast"}},
        "web": {"url": "https://tools.example.com/mcp", "headers": {"Authorization": "Bearer $env:WEB"}, "timeout": 2.5},
        "old": {"type": "sse", "url": "https://old.example.com/sse"},
        "off": {"command": "x", "disabled": true},
        "on": {"type": "stdio", "command": "x", "disabled": false}
    }"#;
    let servers = parse_mcp_servers(text).unwrap();
    let names: Vec<_> =
        servers.iter().map(|server| (server.name.as_str(), server.transport.name())).collect();
    assert_eq!(names, [("files", "stdio"), ("web", "http"), ("old", "sse"), ("on", "stdio")]);
    assert!(servers.iter().all(|server| server.tools == Tools::FirstUse && server.package.is_none()));
    let Transport::Stdio(program) = &servers[0].transport else { panic!("{servers:?}") };
    let env: Vec<_> = program.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(env, ["TOKEN=$env:TOKEN", "MODE=fast"]);
    assert_eq!((servers[0].timeout_ms, servers[1].timeout_ms), (limits::DEFAULT_TIMEOUT_MS, 2_500));
}

#[test]
fn losing_a_server_is_provided_for() {
    let reconnect = |fields: Value| {
        let mut server = json!({"command": "x"});
        server.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        one(server).reconnect
    };
    assert_eq!(reconnect(json!({})), Reconnect::UpTo(limits::DEFAULT_RECONNECT_ATTEMPTS));
    assert_eq!(reconnect(json!({"max_reconnect_attempts": 9})), Reconnect::UpTo(9));
    assert_eq!(reconnect(json!({"reconnect": true, "max_reconnect_attempts": 0})), Reconnect::Never);
    assert_eq!(reconnect(json!({"reconnect": false, "max_reconnect_attempts": 9})), Reconnect::Never);
}

#[test]
fn a_model_writes_for_a_server_only_when_its_entry_says_so() {
    assert_eq!(one(json!({"command": "x"})).sampling, Sampling::Off);
    assert_eq!(one(json!({"command": "x", "sampling": false})).sampling, Sampling::Off);
    assert_eq!(one(json!({"url": "https://x.example", "sampling": true})).sampling, Sampling::On);
}

#[test]
fn resources_of_a_server_are_read_only_when_its_entry_says_so() {
    assert_eq!(one(json!({"command": "x"})).resources, ResourceAccess::Closed);
    assert_eq!(one(json!({"command": "x", "resources": false})).resources, ResourceAccess::Closed);
    assert_eq!(one(json!({"url": "https://x.example", "resources": true})).resources, ResourceAccess::Open);
}

#[test]
fn each_problem_is_told_with_its_path() {
    let cases: &[(Value, &str, &str)] = &[
        (json!({"Fs": {"command": "x"}}), "mcpServers.Fs", "cannot stand in the name of a server"),
        (json!({"my fs": {"command": "x"}}), "mcpServers[\"my fs\"]", "cannot stand in the name of a server"),
        (json!({"s": {}}), "mcpServers.s", "neither `command` nor `url`"),
        (
            json!({"s": {"type": "ws", "url": "https://x.example"}}),
            "mcpServers.s.type",
            "`ws` is no transport",
        ),
        (json!({"s": {"type": "stdio"}}), "mcpServers.s.command", "`command` is missing"),
        (json!({"s": {"type": "sse"}}), "mcpServers.s.url", "`url` is missing"),
        (
            json!({"s": {"command": "x", "url": "https://x.example"}}),
            "mcpServers.s.url",
            "does not go with the transport stdio",
        ),
        (
            json!({"s": {"url": "https://x.example", "env": {}}}),
            "mcpServers.s.env",
            "does not go with the transport http",
        ),
        (json!({"s": {"url": "http://x.example"}}), "mcpServers.s.url", "leaves this machine"),
        (json!({"s": {"type": "sse", "url": "http://x.example"}}), "mcpServers.s.url", "leaves this machine"),
        (json!({"s": {"command": "x", "env": ["A=b"]}}), "mcpServers.s.env", "a list instead of an object"),
        (
            json!({"s": {"command": "x", "env": {"A-B": "c"}}}),
            "mcpServers.s.env.A-B",
            "no name of a variable",
        ),
        (
            json!({"s": {"command": "x", "env": {"API_KEY": "9f8b7c6d5e4f3a2b1c0d9e8f"}}}),
            "mcpServers.s.env.API_KEY",
            "a credential",
        ),
        (
            json!({"s": {"command": "x", "reconnect": "yes"}}),
            "mcpServers.s.reconnect",
            "a text instead of true or false",
        ),
        (
            json!({"s": {"command": "x", "max_reconnect_attempts": 101}}),
            "mcpServers.s.max_reconnect_attempts",
            "it is 101",
        ),
        (
            json!({"s": {"command": "x", "disabled": 1}}),
            "mcpServers.s.disabled",
            "a number instead of true or false",
        ),
        (
            json!({"s": {"command": "x", "sampling": 1}}),
            "mcpServers.s.sampling",
            "a number instead of true or false",
        ),
        (
            json!({"s": {"command": "x", "resources": "all"}}),
            "mcpServers.s.resources",
            "a text instead of true or false",
        ),
        (json!({"s": {"command": "x", "arg": []}}), "mcpServers.s.arg", "`arg` is no key here"),
        (json!([]), "mcpServers", "a list instead of an object"),
    ];
    cases.iter().for_each(check_only_problem);
}

/// A configuration, the path of the only thing that is wrong with it, and part of what is said about it.
fn check_only_problem((servers, path, says): &(Value, &str, &str)) {
    let problems = parse_mcp_servers(servers.to_string().as_bytes()).expect_err(says);
    let [problem] = &problems.problems[..] else { panic!("{says}: {problems}") };
    assert_eq!(&problem.path, path);
    assert!(problem.fault.to_string().contains(says), "{problem}");
}

#[test]
fn timeout_is_in_seconds() {
    let timeout = |value: Value| one(json!({ "command": "x", "timeout": value })).timeout_ms;
    assert_eq!(timeout(json!(30)), 30_000);
    assert_eq!(timeout(json!(30.0)), 30_000);
    assert_eq!(timeout(json!(0.25)), 250);
    assert_eq!(timeout(json!(3600)), limits::TIMEOUT_MS);
    for wrong in [json!(0), json!(-1), json!(3600.5), json!(30_000), json!(1e300), json!(0.0001)] {
        let servers = json!({ "s": { "command": "x", "timeout": wrong } });
        check_only_problem(&(servers, "mcpServers.s.timeout", "a number of seconds"));
    }
}

#[test]
fn name_of_built_in_tools_is_refused() {
    for server in [json!({ "command": "x" }), json!({ "command": "x", "disabled": true })] {
        check_only_problem(&(json!({ "mxd": server }), "mcpServers.mxd", "belongs to the built-in tools"));
    }
}

#[test]
fn wrong_type_does_not_hide_other_mistakes() {
    let rest = json!({ "args": 1, "env": { "A-B": "c" }, "url": "http://x.example", "headers": { "Bad Name": "x" } });
    for (kind, place) in [(Some("ws"), "mcpServers.s.type"), (None, "mcpServers.s")] {
        let mut server = rest.clone();
        if let Some(kind) = kind {
            server["type"] = json!(kind);
            server["command"] = json!("");
        } else {
            server.as_object_mut().unwrap().remove("url");
        }
        let told = parse_mcp_servers(json!({ "s": server }).to_string().as_bytes()).unwrap_err();
        let paths: Vec<&str> = told.problems.iter().map(|problem| problem.path.as_str()).collect();
        let mut expected =
            vec![place, "mcpServers.s.args", "mcpServers.s.env.A-B", "mcpServers.s.headers[\"Bad Name\"]"];
        if kind.is_some() {
            expected.extend(["mcpServers.s.command", "mcpServers.s.url"]);
        }
        expected.iter().for_each(|path| assert!(paths.contains(path), "{path} is not in {paths:?}"));
        assert_eq!(paths.len(), expected.len(), "{paths:?}");
    }
}

#[test]
fn all_problems_are_told_at_once() {
    let problems = parse_mcp_servers(br#"{"Fs":{"args":1,"url":"x"},"s":{}}"#).unwrap_err();
    assert_eq!(problems.problems.len(), 4, "{problems}");
}

#[test]
fn a_disabled_server_is_checked_all_the_same() {
    assert!(parse_mcp_servers(br#"{"s":{"command":"x","timeout":0,"disabled":true}}"#).is_err());
}

proptest! {
    #[test]
    fn no_value_makes_the_reader_panic(value in any_value(), bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let _ = parse_mcp_servers(value.to_string().as_bytes());
        let _ = parse_mcp_servers(json!({"s": value}).to_string().as_bytes());
        prop_assert!(parse_mcp_servers(&bytes).is_err());
    }
}
