//! Reading manifests: the good one, each problem alone, all problems at once, and no panic ever.

use mxd_core::manifest::{
    AgentManifest, DigestState, Fault, Part, Placeholders, Problem, Problems, Reconnect, ResourceAccess,
    Sampling, Tools, Transport, effects_of_server, limits,
};
use mxd_core::tool::{EffectSet, SideEffect};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::fixtures::{self, good, parse};
use crate::json::any_value;

pub(super) fn problems(text: &str) -> Problems {
    AgentManifest::parse(text.as_bytes(), Placeholders::Refuse).unwrap_err()
}

fn told(problems: &Problems) -> Vec<(&str, String)> {
    let one = |problem: &'_ Problem| problem.fault.to_string();
    problems.problems.iter().map(|problem| (problem.path.as_str(), one(problem))).collect()
}

#[test]
fn a_good_manifest_is_read() {
    let manifest = parse(&good());
    assert_eq!(manifest.agent.name(), "default");
    assert_eq!(manifest.agent.to_string(), "matrix://agent/default");
    assert_eq!(manifest.allowed, EffectSet::NONE.with(SideEffect::Read).with(SideEffect::Network));
    let [fs, remote] = &manifest.servers[..] else { panic!("{:?}", manifest.servers) };
    let Transport::Stdio(program) = &fs.transport else { panic!("{fs:?}") };
    assert_eq!((program.command.as_str(), program.args.len()), ("npx", 3));
    let env: Vec<_> = program.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(env, ["NODE_ENV=production", "GITHUB_TOKEN=$env:GITHUB_TOKEN", "HOME=$env:HOME"]);
    let Transport::Http(http) = &remote.transport else { panic!("{remote:?}") };
    assert!(matches!(http.headers[0].1.parts(), [Part::Text(text), Part::Variable(name)]
        if text == "Bearer " && name.as_str() == "REMOTE_TOKEN"));
    let timeouts: Vec<_> = fs.declared().iter().map(|tool| tool.timeout_ms).collect();
    assert_eq!(timeouts, [limits::DEFAULT_TIMEOUT_MS, 5000]);
    assert_eq!(fs.reconnect, Reconnect::UpTo(limits::DEFAULT_RECONNECT_ATTEMPTS));
    let uri = fs.pinned(&fs.declared()[0]).unwrap().to_string();
    assert_eq!(uri, "matrix://tool/mcp/fs/read_text_file@2026.1.14");
    let natives: Vec<_> =
        manifest.native_tools.iter().map(|entry| (entry.tool.to_string(), entry.effect)).collect();
    let expected = [
        ("matrix://tool/payments/transfer@1.0.0".to_owned(), SideEffect::Chain),
        ("matrix://tool/registry/look_up@1.0.0".to_owned(), SideEffect::Read),
    ];
    assert_eq!(natives, expected);
}

#[test]
fn a_model_writes_for_a_server_only_when_its_entry_says_so() {
    let mut manifest = good();
    manifest["servers"][1]["sampling"] = json!(true);
    let read = |manifest: &Value| parse(manifest).servers.iter().map(|one| one.sampling).collect::<Vec<_>>();
    assert_eq!(read(&manifest), [Sampling::Off, Sampling::On]);
    manifest["servers"][1]["sampling"] = json!(false);
    assert_eq!(read(&manifest), [Sampling::Off, Sampling::Off]);
}

#[test]
fn resources_of_a_server_are_read_only_when_its_entry_says_so() {
    let mut manifest = good();
    manifest["servers"][1]["resources"] = json!(true);
    let read = |manifest: &Value| parse(manifest).servers.iter().map(|one| one.resources).collect::<Vec<_>>();
    assert_eq!(read(&manifest), [ResourceAccess::Closed, ResourceAccess::Open]);
    manifest["servers"][1]["resources"] = json!(false);
    assert_eq!(read(&manifest), [ResourceAccess::Closed, ResourceAccess::Closed]);
}

#[test]
fn a_server_has_the_classes_of_its_tools_together() {
    let manifest = parse(&good());
    let effects = |index: usize| effects_of_server(&manifest.servers[index], None);
    assert_eq!(effects(0), EffectSet::NONE.with(SideEffect::Read).with(SideEffect::Write));
    assert_eq!(effects(1), EffectSet::NONE.with(SideEffect::Network));
}

#[test]
fn saying_nothing_about_side_effects_allows_none() {
    let mut manifest = good();
    manifest["allowed_side_effects"] = json!([]);
    assert_eq!(parse(&manifest).allowed, EffectSet::NONE);
    manifest.as_object_mut().unwrap().shift_remove("allowed_side_effects");
    assert_eq!(parse(&manifest).allowed, EffectSet::NONE);
}

#[test]
fn a_manifest_may_have_no_servers() {
    let manifest = parse(&json!({"schema_version": 1, "agent": "matrix://agent/quiet"}));
    assert_eq!((manifest.servers.len(), manifest.native_tools.len()), (0, 0));
}

#[test]
fn each_problem_alone_is_told_with_its_path() {
    for case in fixtures::cases() {
        let manifest = case.manifest();
        let text = manifest.to_string();
        let result = AgentManifest::parse(text.as_bytes(), Placeholders::Refuse);
        let problems = result.expect_err(case.says);
        let told = told(&problems);
        assert_eq!(told.len(), 1, "{}: {told:?}", case.says);
        assert_eq!(told[0].0, case.path, "{}", case.says);
        assert!(told[0].1.contains(case.says), "{} is not in {}", case.says, told[0].1);
        assert!(!problems.problems[0].fault.hint().is_empty());
    }
}

#[test]
fn fifteen_problems_are_told_at_once() {
    let text = r#"{
  "schema_version": 3,
  "agent": "neo",
  "alowed_side_effects": [],
  "allowed_side_effects": ["reed"],
  "servers": [
    {"alias": "A", "transport": "stdio", "endpoint": "https://x.example", "args": 7,
     "env": ["DB_PASSWORD=hunter2", "B"],
     "package_digest": "sha256:12", "version": "latest", "tools": []},
    {"alias": "b", "transport": "sse", "package_digest":
       "sha256:1111111111111111111111111111111111111111111111111111111111111111", "version": "1.0.0",
     "tools": [{"name": "a b", "side_effect_class": "x", "timeout_ms": 0}]}
  ]
}"#;
    let found = problems(text);
    let expected = [
        ("schema_version", 2),
        ("agent", 3),
        ("alowed_side_effects", 4),
        ("allowed_side_effects[0]", 5),
        ("servers[0].command", 7),
        ("servers[0].alias", 7),
        ("servers[0].endpoint", 7),
        ("servers[0].args", 7),
        ("servers[0].env[0]", 8),
        ("servers[0].env[1]", 8),
        ("servers[0].package_digest", 9),
        ("servers[0].version", 9),
        ("servers[0].tools", 9),
        ("servers[1].transport", 10),
        ("servers[1].package_digest", 11),
        ("servers[1].tools[0].name", 12),
        ("servers[1].tools[0].side_effect_class", 12),
        ("servers[1].tools[0].timeout_ms", 12),
    ];
    let told: Vec<_> =
        found.problems.iter().map(|problem| (problem.path.as_str(), problem.position.line)).collect();
    assert_eq!(told, expected);
    assert_eq!(found.more, 0);
    let shown = found.to_string();
    assert_eq!(shown.lines().count(), expected.len());
    assert!(
        shown.contains(
            "servers[1].transport (line 10): the transport sse is not part of manifests (rule Q15)"
        )
    );
}

#[test]
fn the_nearest_key_is_named() {
    for (wrong, right) in [
        ("side_effects_class", "side_effect_class"),
        ("timeoutMs", "timeout_ms"),
        ("descripton", "description"),
    ] {
        let mut manifest = good();
        manifest["servers"][0]["tools"][0][wrong] = json!("read");
        let found = problems(&manifest.to_string());
        assert_eq!(found.problems[0].fault.hint(), format!("Did you mean `{right}`?"));
    }
    let mut manifest = good();
    manifest["zzzzzz"] = json!(1);
    let found = problems(&manifest.to_string());
    assert!(matches!(&found.problems[0].fault, Fault::UnknownKey { nearest: None, .. }));
}

#[test]
fn a_key_is_not_read_twice_at_any_level() {
    let text = good().to_string();
    for (once, path) in [
        (r#""agent":"matrix://agent/default""#, "agent"),
        (r#""alias":"fs""#, "servers[0].alias"),
        (r#""X-Client":"matrix""#, "servers[1].headers.X-Client"),
        (r#""timeout_ms":5000"#, "servers[0].tools[1].timeout_ms"),
        (r#""namespace":"payments""#, "native_tools[0].namespace"),
    ] {
        assert!(text.contains(once), "{once}");
        let found = problems(&text.replacen(once, &format!("{once},{once}"), 1));
        let [Problem { path: told, fault: Fault::RepeatedKey { .. }, .. }] = &found.problems[..] else {
            panic!("{found}")
        };
        assert_eq!(told, path);
    }
}

#[test]
fn text_that_is_no_json_is_told_with_line_and_column() {
    let found = problems("{\n  \"schema_version\": 1,\n}");
    assert_eq!((found.problems[0].position.line, found.problems[0].position.column), (3, 1));
    assert!(found.to_string().starts_with("line 3, column 1: it is no JSON"), "{found}");
    let whole = AgentManifest::parse(b"\xff", Placeholders::Refuse).unwrap_err();
    assert_eq!(whole.problems[0].fault, Fault::NotUtf8);
    assert!(matches!(problems("[]").problems[0].fault, Fault::Type { expected: "an object", .. }));
}

#[test]
fn there_is_a_limit_to_files_and_complaints() {
    let found = problems(&" ".repeat(limits::MANIFEST.bytes + 1));
    assert!(found.to_string().contains("more than 1048576"), "{found}");
    let unknown: Vec<String> = (0..250).map(|n| format!("\"key{n}\":1")).collect();
    let found = problems(&format!("{{{}}}", unknown.join(",")));
    assert_eq!((found.problems.len(), found.more), (limits::PROBLEMS, 152));
    assert!(found.to_string().ends_with("\nand 152 more"));
}

/// The example of the documentation, with its digest written out.
const DOCUMENTED: &str = r#"{
  "schema_version": 1,
  "agent": "matrix://agent/default",
  "description": "…",
  "allowed_side_effects": ["read", "write", "network", "shell"],
  "servers": [
    {
      "alias": "fs",
      "transport": "stdio",
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/workspace"],
      "env": [],
      "package_digest": "sha256:0000000000000000000000000000000000000000000000000000000000000000",
      "version": "2026.1.14",
      "tools": [
        {"name": "read_text_file", "description": "Read the contents of a text file", "side_effect_class": "read"},
        {"name": "write_file", "description": "Write content to a file", "side_effect_class": "write"}
      ]
    }
  ]
}"#;

#[test]
fn the_documented_example_is_for_development_only() {
    let manifest = AgentManifest::parse(DOCUMENTED.as_bytes(), Placeholders::Allow).unwrap();
    assert_eq!(manifest.placeholders(), ["fs"]);
    assert_eq!(manifest.servers[0].package.as_ref().unwrap().digest.state(), DigestState::Placeholder);
    let found = problems(DOCUMENTED);
    assert_eq!(found.problems[0].fault, Fault::PlaceholderDigest);
    assert_eq!((found.problems.len(), found.problems[0].position.line), (1, 13));
    assert_eq!(parse(&good()).placeholders(), [""; 0]);
}

#[test]
fn digests_that_nobody_computed_are_recognised() {
    let state = |digits: &str| {
        let digest: mxd_core::manifest::PackageDigest = format!("sha256:{digits}").parse().unwrap();
        digest.state()
    };
    let placeholders = [
        "0".repeat(64),
        "f".repeat(64),
        "deadbeef".repeat(8),
        "0123456789abcdef".repeat(4),
        "01".repeat(32),
        "0110100110010110100101100110100110010110011010010110100110010110".to_owned(),
        format!("c4{}0c", "0".repeat(60)),
        format!("8f434346648f6b96df89dda901c5176b10a6d839{}", "0".repeat(24)),
        format!("{}{}", "1".repeat(32), "2".repeat(32)),
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855".to_owned(),
    ];
    for digits in placeholders {
        assert_eq!(state(&digits), DigestState::Placeholder, "{digits}");
    }
    for bytes in 0_u32..2000 {
        let digest = mxd_core::tool::Digest::of(&(bytes + 1).to_be_bytes());
        assert_eq!(state(&digest.to_string()), DigestState::Real, "{digest}");
    }
}

#[test]
fn only_what_is_said_makes_the_address() {
    let manifest = parse(&good());
    let pretty = serde_json::to_string_pretty(&good()).unwrap();
    let again = AgentManifest::parse(pretty.as_bytes(), Placeholders::Refuse).unwrap();
    assert_eq!(manifest, again);
    let mut turned = serde_json::Map::new();
    turned.extend(good().as_object().unwrap().clone().into_iter().rev());
    assert_eq!(parse(&Value::from(turned)).address(), manifest.address());
    let mut other = good();
    other["description"] = json!("Reads and writes!");
    assert_ne!(parse(&other).address(), manifest.address());
    // The order of servers is a part of what is said.
    let mut other = good();
    other["servers"].as_array_mut().unwrap().reverse();
    assert_ne!(parse(&other).address(), manifest.address());
}

#[test]
fn loopback_needs_no_encryption() {
    for url in [
        "http://localhost:3000/mcp",
        "http://127.0.0.1/mcp",
        "http://[::1]:8080/",
        "http://127.9.9.9",
        "https://[2001:db8::1]/x",
    ] {
        let mut manifest = good();
        manifest["servers"][1]["endpoint"] = json!(url);
        parse(&manifest);
    }
}

#[test]
fn texts_of_a_manifest_are_cleaned() {
    let mut manifest = good();
    manifest["servers"][0]["tools"][0]["description"] = json!("Reads\u{200b} a file\u{7}");
    let manifest = parse(&manifest);
    let Tools::Declared(tools) = &manifest.servers[0].tools else { panic!("{manifest:?}") };
    assert_eq!(tools[0].description.text(), "Reads a file");
    assert!(!tools[0].description.flags().is_clean());
}

/// The good manifest with one value somewhere in it replaced.
fn disturbed() -> impl Strategy<Value = Value> {
    fn places(value: &Value, at: &str, found: &mut Vec<String>) {
        found.push(at.to_owned());
        match value {
            Value::Object(members) => {
                members.iter().for_each(|(key, value)| places(value, &format!("{at}/{key}"), found))
            }
            Value::Array(elements) => {
                elements
                    .iter()
                    .enumerate()
                    .for_each(|(index, value)| places(value, &format!("{at}/{index}"), found));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    places(&good(), "", &mut found);
    (prop::sample::select(found), any_value()).prop_map(|(at, value)| {
        let mut manifest = good();
        *manifest.pointer_mut(&at).unwrap() = value;
        manifest
    })
}

proptest! {
    #[test]
    fn what_is_read_reads_the_same_from_its_own_spelling(manifest in disturbed()) {
        if let Ok(read) = AgentManifest::parse(manifest.to_string().as_bytes(), Placeholders::Allow) {
            let again = AgentManifest::parse(read.canonical().as_bytes(), Placeholders::Allow).unwrap();
            prop_assert_eq!(again, read);
        }
    }

    #[test]
    fn no_value_makes_the_reader_panic(manifest in disturbed()) {
        if let Err(problems) = AgentManifest::parse(manifest.to_string().as_bytes(), Placeholders::Refuse) {
            prop_assert!(!problems.problems.is_empty());
            prop_assert!(problems.problems.iter().all(|problem| !problem.fault.hint().is_empty()));
        }
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(AgentManifest::parse(&bytes, Placeholders::Refuse).is_err());
    }
}

#[test]
fn a_wrong_transport_does_not_hide_other_mistakes() {
    for transport in ["sse", "carrier-pigeon"] {
        let mut manifest = good();
        let server = &mut manifest["servers"][0];
        server["transport"] = json!(transport);
        server["args"] = json!(["--api-key=hunter2"]);
        server["env"] = json!(["not a variable"]);
        server["endpoint"] = json!("http://example.com");
        server["headers"] = json!({ "Bad Name": "x" });
        server["command"] = json!("");
        let told = AgentManifest::parse(manifest.to_string().as_bytes(), Placeholders::Refuse).unwrap_err();
        let paths: Vec<&str> = told.problems.iter().map(|problem| problem.path.as_str()).collect();
        for field in ["transport", "args[0]", "env[0]", "endpoint", "headers[\"Bad Name\"]", "command"] {
            let path = format!("servers[0].{field}");
            assert!(paths.contains(&path.as_str()), "{path} is not in {paths:?}");
        }
    }
}
