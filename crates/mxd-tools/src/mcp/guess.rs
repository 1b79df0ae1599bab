//! What a server says about a tool, taken as a guess at its class and at what its process has to see.
//!
//! Nobody relies on it for safety: the class of a tool decides what its server's sandbox lets it do, so one that says less
//! than it does cannot do more than it said.

use mxd_core::manifest::{LockedServer, ServerSpec, ToolDefinition, Transport, effects_of_server};
use mxd_core::tool::SideEffect;
use serde_json::Value;

use super::servers::View;

/// Words in the name of a tool that runs programs.
const RUNS: &[&str] = &["bash", "command", "eval", "exec", "run", "script", "shell", "spawn", "terminal"];
/// Words in the name of an argument that is a place among files.
const PLACES: &[&str] = &[
    "cwd",
    "dir",
    "directory",
    "file",
    "filename",
    "files",
    "folder",
    "path",
    "paths",
    "repo",
    "repository",
    "root",
    "uri",
    "workspace",
];

/// The class that the words of a tool suggest, and which of them.
pub fn class_of(definition: &Value) -> (SideEffect, &'static str) {
    let name = definition.get("name").and_then(Value::as_str).unwrap_or_default();
    let hint = |key: &str| definition.get("annotations")?.get(key)?.as_bool();
    if words(name).any(|word| RUNS.contains(&word.as_str())) {
        return (SideEffect::Shell, "of its name");
    }
    match (hint("openWorldHint"), hint("readOnlyHint")) {
        (Some(true), _) => (SideEffect::Network, "it says openWorldHint"),
        (_, Some(true)) => (SideEffect::Read, "it says readOnlyHint"),
        (_, Some(false)) => (SideEffect::Write, "it does not say readOnlyHint"),
        (_, None) => (SideEffect::Write, "it says nothing"),
    }
}

impl View {
    /// What the process of a server has to see: the worktree, unless nothing suggests that it looks at files. Only a
    /// program that changes nothing is given less, so that agents can share it.
    pub fn suited(spec: &ServerSpec, locked: Option<&LockedServer>) -> Self {
        let (Transport::Stdio(program), Some(accepted)) = (&spec.transport, locked) else {
            return Self::Worktree;
        };
        let effects = effects_of_server(spec, locked);
        let changes = [SideEffect::Write, SideEffect::Shell, SideEffect::Chain];
        let is_place = |word: &String| word == "." || word.starts_with("./") || word.starts_with("../");
        let looks = || accepted.tools.values().any(|tool| takes_place(&tool.definition));
        let sees = changes.into_iter().any(|effect| effects.contains(effect))
            || program.args.iter().any(is_place)
            || looks();
        if sees { Self::Worktree } else { Self::Nothing }
    }
}

/// Whether a tool takes something that may be a place among files.
fn takes_place(definition: &ToolDefinition) -> bool {
    let Ok(definition) = serde_json::from_str::<Value>(definition.canonical()) else { return true };
    let Some(properties) = definition.pointer("/inputSchema/properties").and_then(Value::as_object) else {
        return false;
    };
    properties.keys().any(|name| words(name).any(|word| PLACES.contains(&word.as_str())))
}

/// The words of a name: `read_file`, `read-file` and `readFile` have two.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut apart = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            apart.push('_');
        }
        apart.push(letter.to_ascii_lowercase());
    }
    let words: Vec<String> = apart.split(['_', '-', '.']).map(str::to_owned).collect();
    words.into_iter()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::class_of;

    #[test]
    fn classes_are_guessed_on_the_careful_side() {
        let class = |name, hints| class_of(&json!({ "name": name, "annotations": hints })).0.name();
        assert_eq!(class("read_file", json!({ "readOnlyHint": true })), "read");
        assert_eq!(class("read_file", json!({ "readOnlyHint": true, "openWorldHint": true })), "network");
        assert_eq!(class("write_file", json!({ "readOnlyHint": false })), "write");
        assert_eq!(class("get", json!({})), "write");
        assert_eq!(class("browser_run_code", json!({ "readOnlyHint": true })), "shell");
        assert_eq!(class("runCode", json!({ "readOnlyHint": true })), "shell");
        assert_eq!(class("truncate", json!({ "readOnlyHint": true })), "read");
    }
}
