//! Manifests that the tests of several files share: a good one, and one with each problem alone.

use mxd_core::manifest::{AgentManifest, Placeholders};
use serde_json::{Value, json};

pub(super) const DIGEST: &str = "sha256:8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4";

/// A manifest with one of everything.
pub(super) fn good() -> Value {
    json!({
        "schema_version": 1,
        "agent": "matrix://agent/default",
        "description": "Reads and writes.",
        "allowed_side_effects": ["read", "network"],
        "servers": [
            {
                "alias": "fs", "transport": "stdio", "command": "npx",
                "args": ["-y", "@modelcontextprotocol/server-filesystem", "/workspace"],
                "env": ["NODE_ENV=production", "GITHUB_TOKEN=$env:GITHUB_TOKEN", "$env:HOME"],
                "package_digest": DIGEST, "version": "2026.1.14",
                "tools": [
                    {"name": "read_text_file", "description": "Reads a file", "side_effect_class": "read"},
                    {"name": "write_file", "side_effect_class": "write", "timeout_ms": 5000},
                ],
            },
            {
                "alias": "remote", "transport": "http", "endpoint": "https://tools.example.com:8443/mcp?v=1",
                "headers": {"Authorization": "Bearer $env:REMOTE_TOKEN", "X-Client": "matrix"},
                "package_digest": DIGEST, "version": "1.0.0-rc.1",
                "tools": [{"name": "search", "side_effect_class": "network"}],
            },
        ],
        "native_tools": [
            {"namespace": "payments", "name": "transfer", "version": "1.0.0", "digest": DIGEST},
            {"namespace": "registry", "name": "look_up", "version": "1.0.0", "digest": DIGEST, "side_effect_class": "read"},
        ],
    })
}

pub(super) fn parse(manifest: &Value) -> AgentManifest {
    AgentManifest::parse(manifest.to_string().as_bytes(), Placeholders::Refuse).unwrap()
}

/// Whether the published schema can see a problem, too.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Schema {
    /// It can.
    Sees,
    /// No JSON Schema can say it, or not without repeating the parser.
    Blind,
}

/// A manifest with one problem: what is put where, the path that is told, and words of the message.
pub(super) struct Case {
    pub(super) at: &'static str,
    pub(super) put: Option<Value>,
    pub(super) path: &'static str,
    pub(super) says: &'static str,
    pub(super) schema: Schema,
}

impl Case {
    pub(super) fn manifest(&self) -> Value {
        let mut manifest = good();
        let (parent, key) = self.at.rsplit_once('/').unwrap();
        let parent = manifest.pointer_mut(parent).unwrap();
        match (parent, self.put.clone()) {
            (Value::Object(members), Some(value)) => drop(members.insert(key.to_owned(), value)),
            (Value::Object(members), None) => drop(members.shift_remove(key).unwrap()),
            (Value::Array(elements), Some(value)) if key == "-" => elements.push(value),
            (Value::Array(elements), Some(value)) => elements[key.parse::<usize>().unwrap()] = value,
            (other, _) => panic!("{other}"),
        }
        manifest
    }
}

fn case(at: &'static str, put: Value, path: &'static str, says: &'static str) -> Case {
    Case { at, put: Some(put), path, says, schema: Schema::Sees }
}

fn blind(at: &'static str, put: Value, path: &'static str, says: &'static str) -> Case {
    Case { schema: Schema::Blind, ..case(at, put, path, says) }
}

fn without(at: &'static str, path: &'static str, says: &'static str) -> Case {
    Case { at, put: None, path, says, schema: Schema::Sees }
}

const ZEROS: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

/// Each rule broken alone.
pub(super) fn cases() -> Vec<Case> {
    [top_level(), servers(), transports(), credentials(), header_cases(), tools(), natives()]
        .into_iter()
        .flatten()
        .collect()
}

fn top_level() -> Vec<Case> {
    vec![
        without("/schema_version", "schema_version", "`schema_version` is missing"),
        case("/schema_version", json!(2), "schema_version", "the schema version is 2"),
        case("/schema_version", json!("1"), "schema_version", "it is a text instead of a number"),
        without("/agent", "agent", "`agent` is missing"),
        case("/agent", json!("x"), "agent", "`x` is no agent"),
        case("/agent", json!("matrix://agent/"), "agent", "is no agent"),
        case("/agent", json!("matrix://agent/Neo"), "agent", "is no agent"),
        case("/agent", json!("matrix://agent/a/b"), "agent", "is no agent"),
        case("/agent", json!("matrix://agent/".to_owned() + &"a".repeat(65)), "agent", "is no agent"),
        case("/agent", json!(null), "agent", "it is null instead of a text"),
        case("/description", json!(7), "description", "it is a number instead of a text"),
        case("/description", json!("x".repeat(4097)), "description", "4097 bytes, more than 4096"),
        case("/allowed_side_effects", json!("read"), "allowed_side_effects", "a text instead of a list"),
        case(
            "/allowed_side_effects",
            json!(["rea"]),
            "allowed_side_effects[0]",
            "`rea` is no side-effect class",
        ),
        case(
            "/allowed_side_effects",
            json!(["read", "read"]),
            "allowed_side_effects[1]",
            "`read` is there twice",
        ),
        case("/server", json!([]), "server", "`server` is no key here"),
        case("/servers/0/sampling", json!("yes"), "servers[0].sampling", "a text instead of true or false"),
        case("/servers/0/resources", json!(1), "servers[0].resources", "a number instead of true or false"),
        case("/servers", json!({}), "servers", "it is an object instead of a list"),
    ]
}

fn servers() -> Vec<Case> {
    let tool = json!({"name": "t", "side_effect_class": "read"});
    let many = |count: usize| -> Vec<Value> {
        let server = |n: usize| {
            json!({"alias": format!("s{n}"), "transport": "stdio", "command": "x", "version": "1.0.0",
                "package_digest": DIGEST, "tools": [tool.clone()]})
        };
        (0..count).map(server).collect()
    };
    vec![
        case("/servers", json!(many(65)), "servers", "it has 65 items, more than 64"),
        case("/servers/0", json!("fs"), "servers[0]", "it is a text instead of an object"),
        case("/servers/0/allias", json!("x"), "servers[0].allias", "`allias` is no key here"),
        without("/servers/0/alias", "servers[0].alias", "`alias` is missing"),
        case("/servers/0/alias", json!(""), "servers[0].alias", "the name of a server is empty"),
        case("/servers/0/alias", json!("Fs"), "servers[0].alias", "`F` cannot stand in the name"),
        case("/servers/0/alias", json!("a__b"), "servers[0].alias", "has no `__`"),
        case("/servers/0/alias", json!("a".repeat(33)), "servers[0].alias", "33 characters, more than 32"),
        blind(
            "/servers/1/alias",
            json!("fs"),
            "servers[1].alias",
            "`fs` is there twice; the first one is at servers[0].alias",
        ),
        without("/servers/0/version", "servers[0].version", "`version` is missing"),
        case("/servers/0/version", json!(""), "servers[0].version", "the pin is empty"),
        case("/servers/0/version", json!("latest"), "servers[0].version", "no version that stays the same"),
        case("/servers/0/version", json!("1.2"), "servers[0].version", "not exactly the three numbers"),
        case("/servers/0/version", json!("2026.01.04"), "servers[0].version", "leading zero"),
        case("/servers/0/version", json!("1.0.0 beta"), "servers[0].version", "three numbers"),
        case("/servers/0/version", json!(DIGEST), "servers[0].version", "not a digest"),
        without("/servers/0/package_digest", "servers[0].package_digest", "`package_digest` is missing"),
        case("/servers/0/package_digest", json!("sha256:00"), "servers[0].package_digest", "is no digest"),
        case(
            "/servers/0/package_digest",
            json!(DIGEST.to_uppercase()),
            "servers[0].package_digest",
            "is no digest",
        ),
        case("/servers/0/package_digest", json!("1.0.0"), "servers[0].package_digest", "is no digest"),
        blind("/servers/0/package_digest", json!(ZEROS), "servers[0].package_digest", "is a placeholder"),
    ]
}

fn transports() -> Vec<Case> {
    let endpoint = |url: &str, says| case("/servers/1/endpoint", json!(url), "servers[1].endpoint", says);
    let unseen = |url: &str, says| blind("/servers/1/endpoint", json!(url), "servers[1].endpoint", says);
    vec![
        without("/servers/0/transport", "servers[0].transport", "`transport` is missing"),
        case("/servers/0/transport", json!("tcp"), "servers[0].transport", "`tcp` is no transport"),
        case("/servers/1/transport", json!("sse"), "servers[1].transport", "rule Q15"),
        without("/servers/0/command", "servers[0].command", "`command` is missing"),
        case("/servers/0/command", json!(""), "servers[0].command", "it is empty"),
        case("/servers/0/args", json!("-y"), "servers[0].args", "a text instead of a list"),
        case("/servers/0/args", json!([1]), "servers[0].args[0]", "a number instead of a text"),
        case("/servers/0/args", json!(vec!["x"; 129]), "servers[0].args", "129 items, more than 128"),
        case("/servers/0/args", json!(["x".repeat(4097)]), "servers[0].args[0]", "4097 bytes"),
        blind("/servers/0/args", json!(["a\u{0}b"]), "servers[0].args[0]", "a character that nobody sees"),
        case(
            "/servers/0/endpoint",
            json!("https://x.example"),
            "servers[0].endpoint",
            "does not go with the transport stdio",
        ),
        case("/servers/0/headers", json!({}), "servers[0].headers", "does not go with the transport stdio"),
        case("/servers/1/command", json!("npx"), "servers[1].command", "does not go with the transport http"),
        case("/servers/1/args", json!([]), "servers[1].args", "does not go with the transport http"),
        case("/servers/1/env", json!([]), "servers[1].env", "does not go with the transport http"),
        without("/servers/1/endpoint", "servers[1].endpoint", "`endpoint` is missing"),
        endpoint("tools.example.com/mcp", "cannot be read without doubt"),
        endpoint("ftp://tools.example.com", "cannot be read without doubt"),
        endpoint("wss://tools.example.com", "cannot be read without doubt"),
        endpoint("http://tools.example.com/mcp", "leaves this machine"),
        endpoint("http://127.evil.example/mcp", "leaves this machine"),
        endpoint("http://localhost.evil.example/mcp", "leaves this machine"),
        unseen("https://user@tools.example.com/mcp", "cannot be read without doubt"),
        unseen("https://tools.example.com:99999/mcp", "cannot be read without doubt"),
        unseen("https://tools.example.com/a b", "cannot be read without doubt"),
        unseen("https://tools.example.com/#x", "cannot be read without doubt"),
        unseen("https://tools.example.com\\@evil.example/", "cannot be read without doubt"),
        endpoint("http://2130706433/mcp", "cannot be read without doubt"),
    ]
}

fn credentials() -> Vec<Case> {
    let env = |items: Value, path, says| blind("/servers/0/env", items, path, says);
    vec![
        case("/servers/0/env", json!({"A": "b"}), "servers[0].env", "an object instead of a list"),
        case("/servers/0/env", json!(["NAME"]), "servers[0].env[0]", "no item of the form NAME=value"),
        case("/servers/0/env", json!(["1A=x"]), "servers[0].env[0]", "`1A` is no name of a variable"),
        case("/servers/0/env", json!(["=x"]), "servers[0].env[0]", "`` is no name of a variable"),
        case(
            "/servers/0/env",
            json!(["$env:"]),
            "servers[0].env[0]",
            "not followed by the name of a variable",
        ),
        env(json!(["A=$env:"]), "servers[0].env[0]", "not followed by the name of a variable"),
        env(json!(["A=$env:1X"]), "servers[0].env[0]", "not followed by the name of a variable"),
        env(json!(["A=b", "A=c"]), "servers[0].env[1]", "`A` is there twice"),
        env(json!(["A=$env:A", "$env:A"]), "servers[0].env[1]", "`A` is there twice"),
        env(json!(["A=a\u{0}b"]), "servers[0].env[0]", "a character that nobody sees"),
        env(
            json!(["GITHUB_TOKEN=9f8b7c6d5e4f3a2b1c0d9e8f"]),
            "servers[0].env[0]",
            "a credential stands here",
        ),
        blind(
            "/servers/0/args",
            json!(["--token", "$env:TOKEN"]),
            "servers[0].args[1]",
            "`$env:` is not read here",
        ),
        blind(
            "/servers/0/args",
            json!(["--api-key=9f8b7c6d5e4f3a2b1c0d9e8f"]),
            "servers[0].args[0]",
            "a credential",
        ),
        blind(
            "/servers/0/args",
            json!(["--api-key", "9f8b7c6d5e4f3a2b1c0d9e8f"]),
            "servers[0].args[1]",
            "a credential",
        ),
        blind(
            "/servers/1/endpoint",
            json!("https://tools.example.com/$env:T"),
            "servers[1].endpoint",
            "`$env:` is not read here",
        ),
        blind(
            "/servers/1/endpoint",
            json!("https://u:pw@tools.example.com/"),
            "servers[1].endpoint",
            "a password in a URL",
        ),
        blind(
            "/servers/1/endpoint",
            json!("https://x.example/?api_key=9f8b7c6d5e4f3a2b1c0d9e8f"),
            "servers[1].endpoint",
            "a credential",
        ),
    ]
}

fn header_cases() -> Vec<Case> {
    let headers = |items: Value, path, says| blind("/servers/1/headers", items, path, says);
    vec![
        case("/servers/1/headers", json!(["A: b"]), "servers[1].headers", "a list instead of an object"),
        case(
            "/servers/1/headers",
            json!({"A b": "c"}),
            "servers[1].headers[\"A b\"]",
            "`A b` is no name of a header",
        ),
        case("/servers/1/headers", json!({"A": 1}), "servers[1].headers.A", "a number instead of a text"),
        headers(json!({"A": "b\r\nC: d"}), "servers[1].headers.A", "a character that nobody sees"),
        headers(json!({"X-A": "b", "x-a": "c"}), "servers[1].headers.x-a", "`x-a` is there twice"),
        headers(
            json!({"Authorization": "Bearer x"}),
            "servers[1].headers.Authorization",
            "a credential stands here",
        ),
        case("/servers/1/headers", json!({"A": "x".repeat(8193)}), "servers[1].headers.A", "8193 bytes"),
    ]
}

fn tools() -> Vec<Case> {
    let many: Vec<Value> =
        (0..513).map(|n| json!({"name": format!("t{n}"), "side_effect_class": "read"})).collect();
    vec![
        without("/servers/0/tools", "servers[0].tools", "`tools` is missing"),
        case("/servers/0/tools", json!([]), "servers[0].tools", "it is empty"),
        case("/servers/0/tools", json!(many), "servers[0].tools", "513 items, more than 512"),
        case(
            "/servers/0/tools/0/class",
            json!("read"),
            "servers[0].tools[0].class",
            "`class` is no key here",
        ),
        without("/servers/0/tools/0/name", "servers[0].tools[0].name", "`name` is missing"),
        case(
            "/servers/0/tools/0/name",
            json!("a b"),
            "servers[0].tools[0].name",
            "cannot stand in the name of a tool",
        ),
        case("/servers/0/tools/0/name", json!("a/b"), "servers[0].tools[0].name", "cannot be addressed"),
        case("/servers/0/tools/0/name", json!("x@1"), "servers[0].tools[0].name", "cannot stand in the name"),
        case("/servers/0/tools/0/name", json!("a".repeat(129)), "servers[0].tools[0].name", "129 characters"),
        blind("/servers/0/tools/1/name", json!("read_text_file"), "servers[0].tools[1].name", "there twice"),
        without(
            "/servers/0/tools/1/side_effect_class",
            "servers[0].tools[1].side_effect_class",
            "`side_effect_class` is missing",
        ),
        case(
            "/servers/0/tools/1/side_effect_class",
            json!("Write"),
            "servers[0].tools[1].side_effect_class",
            "no side-effect class",
        ),
        case(
            "/servers/0/tools/1/timeout_ms",
            json!(0),
            "servers[0].tools[1].timeout_ms",
            "it is 0, not a whole number from 1 to 3600000",
        ),
        case("/servers/0/tools/1/timeout_ms", json!(-5), "servers[0].tools[1].timeout_ms", "it is -5"),
        case("/servers/0/tools/1/timeout_ms", json!(1.5), "servers[0].tools[1].timeout_ms", "it is 1.5"),
        case(
            "/servers/0/tools/1/timeout_ms",
            json!(3_600_001),
            "servers[0].tools[1].timeout_ms",
            "it is 3600001",
        ),
        case(
            "/servers/0/tools/1/timeout_ms",
            json!("5"),
            "servers[0].tools[1].timeout_ms",
            "a text instead of a number",
        ),
    ]
}

fn natives() -> Vec<Case> {
    let again = json!({"namespace": "payments", "name": "transfer", "version": "2.0.0", "digest": DIGEST});
    vec![
        case("/native_tools", json!({}), "native_tools", "an object instead of a list"),
        case("/native_tools/0/abi", json!(1), "native_tools[0].abi", "`abi` is no key here"),
        without("/native_tools/0/namespace", "native_tools[0].namespace", "`namespace` is missing"),
        case(
            "/native_tools/0/namespace",
            json!("bank"),
            "native_tools[0].namespace",
            "`bank` is no namespace",
        ),
        case("/native_tools/0/name", json!(""), "native_tools[0].name", "the name of a tool is empty"),
        case("/native_tools/0/version", json!("1"), "native_tools[0].version", "three numbers"),
        case("/native_tools/0/digest", json!("sha256:"), "native_tools[0].digest", "is no digest"),
        blind("/native_tools/0/digest", json!(ZEROS), "native_tools[0].digest", "is a placeholder"),
        case(
            "/native_tools/0/side_effect_class",
            json!("pay"),
            "native_tools[0].side_effect_class",
            "no side-effect class",
        ),
        blind(
            "/native_tools/-",
            again,
            "native_tools[2]",
            "`payments/transfer` is there twice; the first one is at native_tools[0]",
        ),
    ]
}
