//! The page about the configuration and the published schema, written from the types.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mxd_engine::config::{KEYS, Repository, defaults, descriptions, schema};
use serde_json::Value;

use crate::golden;

const INTRODUCTION: &str = "\
# Configuration

This page is written by a test from the types in `crates/mxd-engine/src/config`; do not change it by hand
(`MXD_UPDATE_GOLDEN=1 cargo test -p mxd-engine --test it page` writes it anew).

There are three layers, each a file of plain JSON. The later one wins, key by key; `authGroups`, `mcpServers`, `models` and
the rules of `approvals` are joined by name, and hosts that any layer denies are denied.

| layer | file | for |
|---|---|---|
| user | `~/.mxd/config.json` | all of your projects; the only one that may hold a key itself, and then it must be private (`chmod 600`) |
| repository | `.mxd/config.json` in the repository | everybody who works on it; it is committed |
| project | `~/.mxd/projects/<id>/config.json` | you, in this project |

The repository's layer arrives with every clone, so its author is not the one who pays and is attacked. What it may say about
each key stands below; anything else in it is refused.

`$env:NAME` in place of a key stands for the variable NAME of the daemon's environment. An unknown key is an error, and all
errors are told at once. [`configuration.schema.json`](configuration.schema.json) is the schema for editors.
";

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

#[test]
fn the_page_says_what_the_program_does() {
    let (described, defaults) = (descriptions(), defaults());
    let mut page = INTRODUCTION.to_owned();
    page.push_str("\n## Keys\n\n| key | meaning | default | the repository |\n|---|---|---|---|\n");
    for key in KEYS {
        let meaning = described.get(key.path).unwrap_or_else(|| panic!("{} is not described", key.path));
        let default = defaults.pointer(&format!("/{}", key.path.replace('.', "/")));
        let default = default.map_or_else(|| "–".to_owned(), |value| format!("`{value}`"));
        let repository = match key.repository {
            Repository::May => "may set it".to_owned(),
            Repository::MayLower => "may lower it".to_owned(),
            Repository::MayNarrow(words) => format!("may add to it, {words}"),
            Repository::MayNot => "may not".to_owned(),
        };
        writeln!(page, "| `{}` | {} | {default} | {repository} |", key.path, meaning.replace('|', "\\|"))
            .unwrap();
    }
    page.push_str("\n## Members of an auth group\n\n");
    writeln!(page, "{}\n\n| member | meaning |\n|---|---|", described["authGroups.*"]).unwrap();
    for (path, meaning) in &described {
        if let Some(member) = path.strip_prefix("authGroups.*.") {
            writeln!(page, "| `{member}` | {meaning} |").unwrap();
        }
    }
    golden::check(&docs().join("configuration.md"), &page);
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
