//! Whether what is advertised is what is there: the registry, the dispatcher and the manifests of agents agree.

use std::path::Path;

use serde_json::{Value, json};

use crate::engine::tools::ROWS;
use crate::engine::{CallContext, Engine, TenantName};
use crate::fault::Code;
use crate::transport::mcp;

/// The names that are promised, in their order.
pub(crate) const CANONICAL: [&str; 9] = [
    "tachyon_compile",
    "tachyon_test",
    "tachyon_simulate",
    "tachyon_deploy",
    "tachyon_call",
    "tachyon_chain_list",
    "tachyon_chain_register",
    "tachyon_artifact_get",
    "tachyon_registry_lookup",
];

/// Everything that does not agree, one line each.
pub(crate) async fn problems(engine: &Engine, agents: Option<&Path>) -> Vec<String> {
    let mut problems = Vec::new();
    let listed: Vec<String> = mcp::listed().iter().map(|tool| tool.name.to_string()).collect();
    if listed != CANONICAL {
        problems.push(format!("MCP lists {listed:?}, promised are {CANONICAL:?}"));
    }
    for row in ROWS {
        for (kind, schema) in [("input", (row.input)()), ("output", (row.output)())] {
            if schema.get("type") != Some(&json!("object")) {
                problems.push(format!("the {kind} schema of {} is not that of an object", row.name));
            }
        }
        problems.extend(dispatched(engine, row.name).await);
    }
    if let Some(folder) = agents {
        problems.extend(manifests(folder, &listed));
    }
    problems
}

/// A tool that is there says that it does not know a field that no tool has; one that is not there is not found.
async fn dispatched(engine: &Engine, name: &str) -> Option<String> {
    let Ok(tenant) = TenantName::new("selftest") else {
        return Some("no tenant can be named selftest".into());
    };
    let probe = json!({ "no_tool_has_this_field": true });
    let answer = engine.call(name, probe, &CallContext::of(tenant)).await;
    let refused = answer.fault().is_some_and(|fault| {
        fault.code == Code::InvalidRequest && fault.message.contains("no_tool_has_this_field")
    });
    (!refused).then(|| format!("{name} is advertised, but the engine answered {}", answer.to_json()))
}

/// Every manifest that names this server must name exactly its tools.
fn manifests(folder: &Path, listed: &[String]) -> Vec<String> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return vec![format!("{}: {error}", folder.display())],
    };
    let mut problems = Vec::new();
    let mut compared = 0;
    for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let manifest: Value = match serde_json::from_str(&text) {
            Ok(manifest) => manifest,
            Err(error) => {
                problems.push(format!("{}: {error}", path.display()));
                continue;
            }
        };
        let servers = manifest["servers"].as_array().cloned().unwrap_or_default();
        for server in servers.iter().filter(|server| server["alias"] == "tachyon") {
            compared += 1;
            let tools = server["tools"].as_array().cloned().unwrap_or_default();
            let mut named: Vec<String> =
                tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect();
            let mut wanted = listed.to_vec();
            named.sort();
            wanted.sort();
            if named != wanted {
                problems.push(format!("{} names {named:?}, there are {wanted:?}", path.display()));
            }
        }
    }
    if compared == 0 {
        problems.push(format!("no manifest in {} names the server `tachyon`", folder.display()));
    }
    problems
}
