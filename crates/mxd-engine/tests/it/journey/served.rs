//! A server for stories: where it is, what its tools say, and how it is declared.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mxd_core::manifest::{Placeholders, Program};
use mxd_core::tool::ServerName;
use mxd_engine::provision::{ServerReport, ServerState};
use mxd_tools::package::{Packages, Places, Store};
use serde_json::{Value, json};

use super::stage::{Stage, write};

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../mcl-tools/tests/server");
const PATIENCE: Duration = Duration::from_secs(30);

/// What the server is called.
pub(crate) fn name() -> ServerName {
    "stage".parse().unwrap()
}

/// Puts the server on the ground and says where.
pub(crate) fn install(folder: &Path) -> PathBuf {
    std::fs::create_dir_all(folder).unwrap();
    for file in ["server.py", "tools.json"] {
        std::fs::copy(Path::new(SERVER).join(file), folder.join(file)).unwrap();
    }
    folder.join("server.py")
}

/// Settings with the server, in the short form.
pub(crate) fn settings(ground: &Path) -> Value {
    let script = install(&ground.join("server"));
    json!({
        "mcpServers": { "stage": { "command": "python3", "args": [script] } },
        "sandbox": { "read": [ground.join("server")] },
    })
}

/// The tools of the server change.
pub(crate) fn change_tools(folder: &Path, change: impl FnOnce(&mut Vec<Value>)) {
    let file = folder.join("tools.json");
    let mut tools: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    change(&mut tools);
    write(file, &serde_json::to_string_pretty(&tools).unwrap());
}

/// A turn that calls tools of the server.
pub(crate) fn calls(calls: &[(&str, Value)]) -> Value {
    let call = |(name, input): &(&str, Value)| json!({ "tool_call": { "name": format!("mcp__stage__{name}"), "input": input } });
    json!({ "reply": { "blocks": calls.iter().map(call).collect::<Vec<_>>() } })
}

/// What a request has to say about the result of a call.
pub(crate) fn result(tool: &str, words: &str, is_error: bool) -> Value {
    json!({ "tool_results": [{ "call": format!("mcp__stage__{tool}"), "contains": words, "is_error": is_error }] })
}

/// How the server is.
pub(crate) async fn report(stage: &Stage) -> ServerReport {
    let servers = stage.project().servers().await.unwrap();
    servers.into_iter().find(|server| server.name == name()).unwrap()
}

/// Waits until the server is as wanted.
pub(crate) async fn until(stage: &Stage, wanted: impl Fn(&ServerState) -> bool) {
    let waiting = async {
        while !wanted(&report(stage).await.state) {
            tokio::task::yield_now().await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, waiting).await.is_ok(), "{:?}", report(stage).await);
}

/// A manifest with built-in tools and the server in `agents/server`, by its true digest.
pub(crate) fn manifest(ground: &Path, allowed: &[&str], built_in: &[&str]) -> Value {
    let agents = ground.join("repo/agents");
    install(&agents.join("server"));
    let program =
        Program { command: "python3".into(), args: vec!["server/server.py".into()], env: Vec::new() };
    let places = Places {
        near: vec![agents],
        path: std::env::var("PATH").unwrap(),
        home: std::env::var("HOME").unwrap().into(),
        beside: PathBuf::new(),
    };
    let store = Store::open(&ground.join("packages")).unwrap();
    let digest =
        Packages { store, places, placeholders: Placeholders::Allow }.measure(&program).unwrap().digest;
    let classes = [
        ("echo", "read"),
        ("add", "read"),
        ("fail", "read"),
        ("wait", "read"),
        ("variable", "read"),
        ("die", "read"),
        ("put", "write"),
    ];
    let tool = |(name, class): (&str, &str)| json!({ "name": name, "side_effect_class": class, "timeout_ms": 20_000 });
    let server = json!({
        "alias": "stage", "transport": "stdio", "command": "python3", "args": ["server/server.py"],
        "version": "1.2.3", "package_digest": format!("sha256:{digest}"),
        "tools": classes.map(tool),
    });
    json!({
        "schema_version": 1,
        "agent": "matrix://agent/stage",
        "allowed_side_effects": allowed,
        "servers": [ours(built_in), server],
    })
}

/// The built-in tools of these names, as a manifest lists them.
pub(crate) fn ours(names: &[&str]) -> Value {
    let digest = mxd_tools::package::definitions_digest(&mxd_tools::builtin::definitions());
    let tools = mxd_tools::builtin::tools();
    let listed = tools.iter().filter(|tool| names.contains(&tool.name));
    let tool = |tool: &mxd_tools::builtin::Listing| json!({ "name": tool.name, "side_effect_class": tool.effect.name(), "timeout_ms": tool.timeout_ms });
    json!({
        "alias": "mxd", "transport": "stdio", "command": "mxd", "args": ["mcp"],
        "version": env!("CARGO_PKG_VERSION"), "package_digest": format!("sha256:{digest}"),
        "tools": listed.map(tool).collect::<Vec<_>>(),
    })
}
