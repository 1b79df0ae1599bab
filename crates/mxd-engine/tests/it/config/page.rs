//! The page about the configuration and the published schema, written from the types.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mxd_engine::config::{KEYS, Layer, Repository, defaults, descriptions, schema};
use serde_json::{Value, json};

use super::scene::Scene;
use crate::golden;

/// A file that says something about every key.
const EXAMPLE: &str = include_str!("example.json");

const INTRODUCTION: &str = "\
# Configuration

This page is written by a test from the types in `crates/mxd-engine/src/config`; do not change it by hand
(`MXD_UPDATE_GOLDEN=1 cargo test -p mxd-engine --test it page` writes it anew).

There are three layers, each a file of plain JSON. The later one wins, key by key; `authGroups`, `mcpServers`, `models` and
the rules of `approvals` are joined by name, hosts that any layer denies are denied, and `checks` and `skills` of the
repository stand behind yours.

| layer | file | for |
|---|---|---|
| user | `~/.mxd/config.json` | all of your projects; the only one that may hold a key itself, and then it must be private (`chmod 600`) |
| repository | `.mxd/config.json` in the repository | everybody who works on it; it is committed |
| project | `~/.mxd/projects/<id>/config.json` | you, in this project |

The repository's layer arrives with every clone, and agents can commit to it, so its author is not the one who pays and is
attacked: with it agents may do no more than without it. What it may say about each key stands below; anything else in it is
refused.

`$env:NAME` in place of a key stands for the variable NAME of the daemon's environment. An unknown key is an error, and all
errors are told at once. [`configuration.schema.json`](configuration.schema.json) is the schema for editors.
";

fn pointer(path: &str) -> String {
    format!("/{}", path.replace('.', "/"))
}

/// What goes in the place of a key, in words.
fn kind(schema: &Value) -> String {
    let words = |values: &Value| {
        let values = values.as_array().into_iter().flatten().map(|value| format!("`{value}`"));
        values.collect::<Vec<_>>().join(", ")
    };
    if schema.get("enum").is_some() {
        return format!("one of {}", words(&schema["enum"]));
    }
    let bounds = match (schema.get("minimum"), schema.get("maximum")) {
        (Some(least), Some(most)) => format!(", {least} to {most}"),
        (Some(least), None) => format!(", at least {least}"),
        (None, Some(most)) => format!(", at most {most}"),
        (None, None) => String::new(),
    };
    match schema["type"].as_str() {
        Some("integer") => format!("whole number{bounds}"),
        Some("number") => format!("number{bounds}"),
        Some("string") => "text".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some("array") => format!("list of {}", plural(&schema["items"])),
        Some("object") => "object".to_owned(),
        _ => panic!("what kind of value is {schema}"),
    }
}

fn plural(items: &Value) -> &'static str {
    match items["type"].as_str() {
        Some("string") => "texts",
        Some("object") => "objects",
        _ => "values",
    }
}

fn part<'a>(schema: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(schema, |schema, name| &schema["properties"][name])
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

#[test]
fn the_page_says_what_the_program_does() {
    let (described, defaults, schema) = (descriptions(), defaults(), schema());
    let example: Value = serde_json::from_str(EXAMPLE).unwrap();
    let mut page = INTRODUCTION.to_owned();
    page.push_str("\n## Keys\n\nEvery key may stand in the layers of the user and of the project.\n");
    for key in KEYS {
        let meaning = described.get(key.path).unwrap_or_else(|| panic!("{} is not described", key.path));
        let default = defaults.pointer(&pointer(key.path));
        let shown = example.pointer(&pointer(key.path)).or(default);
        let shown = shown.unwrap_or_else(|| panic!("example.json says nothing about {}", key.path));
        let default = default.map_or_else(|| "nothing".to_owned(), |value| format!("`{value}`"));
        let repository = match key.repository {
            Repository::MayAdd => "may add to it".to_owned(),
            Repository::MayLower => "may lower it".to_owned(),
            Repository::MayNarrow(words) => format!("may add to it, {words}"),
            Repository::MayNot => "may not".to_owned(),
        };
        let kind = kind(part(&schema, key.path));
        writeln!(page, "\n### `{}`\n\n{meaning}\n", key.path).unwrap();
        writeln!(page, "* what: {kind}\n* by default: {default}\n* the repository: {repository}").unwrap();
        writeln!(page, "* example: `{shown}`").unwrap();
    }
    page.push_str(&members("an auth group", "authGroups.*", &described));
    page.push_str(&members("a server", "mcpServers.*", &described));
    page.push_str("\n## A file that says something about every key\n\n");
    writeln!(page, "```json\n{}\n```", EXAMPLE.trim_end()).unwrap();
    golden::check(&docs().join("configuration.md"), &page);
}

/// A table of what an entry of a map can say.
fn members(title: &str, entry: &str, described: &BTreeMap<String, String>) -> String {
    let mut table = format!("\n## Members of {title}\n\n");
    writeln!(table, "{}\n\n| member | meaning |\n|---|---|", described[entry]).unwrap();
    for (path, meaning) in described {
        if let Some(member) = path.strip_prefix(&format!("{entry}.")) {
            writeln!(table, "| `{member}` | {meaning} |").unwrap();
        }
    }
    table
}

#[test]
fn the_example_is_a_configuration() {
    let scene = Scene::new();
    scene.write(Layer::User, EXAMPLE);
    let config = scene.load();
    for key in KEYS {
        assert!(config.rows().iter().any(|row| row.path.starts_with(key.path)), "{}", key.path);
    }
}

#[test]
fn the_schema_is_published() {
    golden::check(&docs().join("configuration.schema.json"), &format!("{:#}\n", schema()));
    assert!(jsonschema::meta::is_valid(&schema()));
}

/// The leaves of the schema, where a key with members of the user's choice is a leaf.
fn leaves(path: &str, schema: &Value, found: &mut BTreeSet<String>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    match properties {
        Some(properties) if path != "approvals.fallback" => {
            for (name, part) in properties {
                leaves(&if path.is_empty() { name.clone() } else { format!("{path}.{name}") }, part, found);
            }
        }
        _ => {
            found.insert(path.to_owned());
        }
    }
}

#[test]
fn every_key_of_the_schema_is_in_the_table_and_the_other_way_round() {
    let mut expected = BTreeSet::new();
    leaves("", &schema(), &mut expected);
    let listed: BTreeSet<String> = KEYS.iter().map(|key| key.path.to_owned()).collect();
    assert_eq!(listed, expected);
    assert_eq!(listed.len(), KEYS.len());
}

/// An editor that follows the schema accepts what the program accepts, and marks what it refuses.
#[test]
fn schema_and_program_agree_about_servers() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let good = [
        json!({ "command": "x", "args": ["y"], "env": { "A": "b" }, "timeout": 2.5, "disabled": true }),
        json!({ "type": "sse", "url": "https://x.example", "headers": { "A": "b" }, "reconnect": false }),
        json!({ "url": "https://x.example", "max_reconnect_attempts": 0, "sampling": true, "resources": true }),
    ];
    let bad = [
        json!({ "command": "x", "timeout": 30_000 }),
        json!({ "command": "x", "timeout": 0 }),
        json!({ "command": "x", "type": "ws" }),
        json!({ "command": "x", "reconnect": "yes" }),
        json!({ "command": "x", "max_reconnect_attempts": 101 }),
        json!({ "command": "x", "timeout_ms": 1 }),
    ];
    let file = |name: &str, entry: &Value| json!({ "mcpServers": { name: entry } });
    let is_read = |file: &Value| Scene::of(&[(Layer::User, file.clone())]).is_good();
    for entry in good {
        let file = file("x", &entry);
        assert!(validator.is_valid(&file) && is_read(&file), "{entry}");
    }
    let reserved = file("mxd", &json!({ "command": "x" }));
    for file in bad.iter().map(|entry| file("x", entry)).chain([reserved]) {
        assert!(!validator.is_valid(&file) && !is_read(&file), "{file}");
    }
}
