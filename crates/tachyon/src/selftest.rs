//! Whether what is advertised is what is there: the registry, the dispatcher and the manifests of agents agree.

use std::path::{Path, PathBuf};

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

/// Where manifests of agents are.
pub(crate) enum Manifests<'a> {
    None,
    /// All files of a folder.
    Folder(&'a Path),
    File(&'a Path),
}

/// Everything that does not agree, one line each.
pub(crate) async fn problems(engine: &Engine, manifests: Manifests<'_>) -> Vec<String> {
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
    problems.extend(drifted(manifests, &listed));
    problems
}

/// A tool that is there misses a field of its own, or says that it does not know one that no tool has; one that is not there is
/// not found.
async fn dispatched(engine: &Engine, name: &str) -> Option<String> {
    let Ok(tenant) = TenantName::new("selftest") else {
        return Some("no tenant can be named selftest".into());
    };
    let probe = json!({ "no_tool_has_this_field": true });
    let answer = engine.call(name, probe, &CallContext::of(tenant)).await;
    let refused = answer.fault().is_some_and(|fault| {
        let about_fields = ["no_tool_has_this_field", "missing field"];
        fault.code == Code::InvalidRequest && about_fields.iter().any(|words| fault.message.contains(words))
    });
    (!refused).then(|| format!("{name} is advertised, but the engine answered {}", answer.to_json()))
}

/// Every manifest that names this server must name exactly its tools, and one of them must name it.
fn drifted(manifests: Manifests<'_>, listed: &[String]) -> Vec<String> {
    let (place, files) = match manifests {
        Manifests::None => return vec![],
        Manifests::File(path) => (path, vec![path.to_owned()]),
        Manifests::Folder(folder) => match std::fs::read_dir(folder) {
            Err(error) => return vec![format!("{}: {error}", folder.display())],
            Ok(entries) => {
                let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
                let is_json = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
                (folder, paths.filter(is_json).collect())
            }
        },
    };
    let mut problems = Vec::new();
    let mut compared = 0;
    for path in files {
        match compare(&path, listed) {
            Ok(names) => {
                compared += names.len();
                problems.extend(names.into_iter().flatten());
            }
            Err(problem) => problems.push(format!("{}: {problem}", path.display())),
        }
    }
    if compared == 0 && problems.is_empty() {
        problems.push(format!("nothing in {} names the server `tachyon`", place.display()));
    }
    problems
}

/// For each entry of this server in a manifest, what is wrong with it.
fn compare(path: &Path, listed: &[String]) -> Result<Vec<Option<String>>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let manifest: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let servers = manifest["servers"].as_array().cloned().unwrap_or_default();
    let ours = servers.iter().filter(|server| server["alias"] == "tachyon");
    let one = |server: &Value| {
        let tools = server["tools"].as_array().cloned().unwrap_or_default();
        let names = tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned));
        let (mut named, mut wanted): (Vec<String>, Vec<String>) = (names.collect(), listed.to_vec());
        named.sort();
        wanted.sort();
        (named != wanted).then(|| format!("{} names {named:?}, there are {wanted:?}", path.display()))
    };
    Ok(ours.map(one).collect())
}
