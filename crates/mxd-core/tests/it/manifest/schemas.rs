//! The published schemas say what the parsers do.

use mxd_core::manifest::{AgentManifest, Discovered, LockFile, LockedServer, Placeholders, limits};
use mxd_core::raw::RawJson;
use serde_json::{Value, json};

use super::fixtures::{self, Schema, good, parse};

const MANIFEST: &str = include_str!("../../../schemas/agent-manifest.schema.json");
const LOCK: &str = include_str!("../../../schemas/tool-lock.schema.json");

fn validator(schema: &str) -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(schema).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

#[test]
fn the_schema_takes_what_the_parser_takes() {
    let schema = validator(MANIFEST);
    let errors: Vec<String> = schema.iter_errors(&good()).map(|error| error.to_string()).collect();
    assert_eq!(errors, [""; 0]);
    let mut loopback = good();
    for url in ["http://localhost:3000/mcp", "http://127.0.0.1/", "http://[::1]:80"] {
        loopback["servers"][1]["endpoint"] = json!(url);
        assert!(schema.is_valid(&loopback), "{url}");
    }
    assert!(schema.is_valid(&json!({"schema_version": 1, "agent": "matrix://agent/quiet"})));
}

#[test]
fn the_schema_refuses_what_it_can_see_of_every_problem() {
    let schema = validator(MANIFEST);
    for case in fixtures::cases() {
        let seen = !schema.is_valid(&case.manifest());
        assert_eq!(seen, case.schema == Schema::Sees, "{}: {}", case.path, case.says);
    }
}

#[test]
fn the_schema_of_lock_files_takes_what_is_printed() {
    let schema = validator(LOCK);
    let tool = RawJson::parse(r#"{"name":"search","inputSchema":{"type":"object"}}"#).unwrap();
    let mut lock = LockFile::default();
    for server in parse(&good()).servers {
        let locked = LockedServer::accept(&server, &Discovered::read([&tool]), None);
        lock.servers.insert(server.name, locked);
    }
    let printed: Value = serde_json::from_str(&lock.to_string()).unwrap();
    let errors: Vec<String> = schema.iter_errors(&printed).map(|error| error.to_string()).collect();
    assert_eq!(errors, [""; 0]);
    for (at, value) in [
        ("/schema_version", json!(2)),
        ("/servers", json!([])),
        ("/more", json!(1)),
        ("/servers/fs/version", json!("1")),
        ("/servers/fs/transport/endpoint", json!("https://x.example")),
        ("/servers/fs/tools/search/digest", json!("sha256:1")),
        ("/servers/fs/tools/search/definition", json!([])),
        ("/servers/fs/tools/search/side_effect_class", json!("x")),
    ] {
        let mut file = printed.clone();
        let (parent, key) = at.rsplit_once('/').unwrap();
        file.pointer_mut(parent).unwrap()[key] = value;
        assert!(!schema.is_valid(&file), "{at}");
        assert!(LockFile::parse(file.to_string().as_bytes()).is_err(), "{at}");
    }
}

#[test]
fn the_schemas_have_the_limits_of_the_parsers() {
    let manifest: Value = serde_json::from_str(MANIFEST).unwrap();
    let limit = |pointer: &str| manifest.pointer(pointer).and_then(Value::as_u64).expect(pointer);
    assert_eq!(limit("/properties/servers/maxItems"), limits::SERVERS as u64);
    assert_eq!(limit("/properties/native_tools/maxItems"), limits::NATIVE_TOOLS as u64);
    assert_eq!(limit("/$defs/server/properties/tools/maxItems"), limits::TOOLS_PER_SERVER as u64);
    assert_eq!(limit("/$defs/server/properties/args/maxItems"), limits::ARGUMENTS as u64);
    assert_eq!(limit("/$defs/server/properties/env/maxItems"), limits::CREDENTIALS as u64);
    assert_eq!(limit("/$defs/server/properties/headers/maxProperties"), limits::CREDENTIALS as u64);
    assert_eq!(limit("/$defs/tool/properties/timeout_ms/maximum"), limits::TIMEOUT_MS);
    assert_eq!(limit("/$defs/tool/properties/timeout_ms/default"), limits::DEFAULT_TIMEOUT_MS);
}

#[test]
fn every_key_of_the_schema_is_one_the_parser_knows() {
    // An unknown key is a problem of its own, so a value of the wrong type is told differently.
    let schema: Value = serde_json::from_str(MANIFEST).unwrap();
    for (properties, place) in [
        ("/properties", ""),
        ("/$defs/server/properties", "/servers/0"),
        ("/$defs/tool/properties", "/servers/0/tools/0"),
        ("/$defs/native_tool/properties", "/native_tools/0"),
    ] {
        for key in schema.pointer(properties).unwrap().as_object().unwrap().keys() {
            let mut manifest = good();
            manifest.pointer_mut(place).unwrap()[key] = Value::Null;
            let text = manifest.to_string();
            let problems = AgentManifest::parse(text.as_bytes(), Placeholders::Allow).expect_err(key);
            assert!(!problems.to_string().contains("is no key here"), "{key}: {problems}");
        }
    }
}
