//! The configuration: three layers of files, resolved once into values.
//!
//! [`Config::load`] reads the [`Layer`]s, holds each against the published [`schema()`] and against what it
//! may say, and tells everything that is wrong at once ([`Problems`]). What comes out is plain data that is
//! passed down; nothing below looks at a file or at the environment. Every value remembers its [`Origin`].

mod agent;
pub(crate) mod beneath;
mod check;
mod current;
mod document;
mod environment;
mod keys;
mod layer;
mod merge;
mod problem;
mod read;
mod schema;
mod secret;
mod server_entry;
mod settled;
mod write;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

pub use agent::{AgentModel, AgentModelError, ReachError, Role};
pub use current::CurrentConfig;
pub use document::{AuthGroup, LogFormat, LogLevel, OpenAiWire, ProviderName};
pub use environment::{FoundKey, found_keys};
pub use keys::{KEYS, Key, Repository, defaults};
pub use layer::{FILE, FOLDER, Layer, Origin, Places};
pub use problem::{Fault, Problem, Problems};
pub use schema::schema;
pub use secret::{Secret, SecretError};
pub use settled::{
    AgentLimits, Auth, Compaction, Config, ConfiguredServer, LogSettings, SandboxSettings, TelemetrySettings,
    Thresholds,
};
pub use write::{WriteError, allow_host, patch, set, unset, value_of};

/// One line of what holds: a key, its value as far as it can be shown, and where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// Its path, such as `sandbox.mode` or `authGroups.main`.
    pub path: String,
    /// The value; credentials are marks.
    pub value: Value,
    /// Where it comes from.
    pub origin: Origin,
}

impl Config {
    /// Reads all layers.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with any of them.
    pub fn load(places: &Places) -> Result<Self, Problems> {
        let (files, mut problems) = read::layers(places);
        for file in &files {
            let shape = file.shape_problems();
            // What is not in shape cannot be looked at closely, and would be told twice.
            if shape.is_empty() {
                problems.extend(check::layer(file));
            }
            problems.extend(shape);
        }
        if problems.is_empty() {
            problems.extend(check::together(&files));
        }
        Problems::check(problems)?;
        settled::settle(places, &files)
    }

    /// What holds, key by key, for people to look at.
    pub fn rows(&self) -> Vec<Row> {
        let row = |(path, origin): (&String, &Origin)| Row {
            path: path.clone(),
            value: masked(path, self.value(path)),
            origin: origin.clone(),
        };
        self.merged.origins.iter().map(row).collect()
    }

    /// Where a key, or a member of one, comes from.
    pub fn origin(&self, path: &str) -> Origin {
        self.merged.origins.get(path).cloned().unwrap_or(Origin::Default)
    }

    fn value(&self, path: &str) -> Value {
        // Names of groups and servers may hold dots, so the key is cut off first.
        let key = keys::of_path(path).map_or(path, |key| key.path);
        let member = path[key.len()..].strip_prefix('.');
        let found = self.merged.document.pointer(&format!("/{}", key.replace('.', "/")));
        let found = found.and_then(|found| member.map_or(Some(found), |member| found.get(member)));
        found.cloned().unwrap_or(Value::Null)
    }
}

/// How a credential is shown: that there is one.
fn hidden() -> Value {
    serde_json::json!({ "set": true })
}

/// What one layer says, without its credentials; nothing when there is no such file.
///
/// # Errors
///
/// When it cannot be read.
pub fn shown(places: &Places, layer: Layer) -> Result<Value, Problems> {
    let (files, problems) = read::layers(places);
    Problems::check(problems.into_iter().filter(|problem| problem.layer == layer).collect())?;
    let file = files.into_iter().find(|file| file.layer == layer);
    let mut document = file.map_or_else(|| Value::Object(serde_json::Map::new()), |file| file.value);
    hide_members(&mut document, "authGroups", |name| check::SECRETS.contains(&name));
    for part in ["env", "headers"] {
        for server in document.get_mut("mcpServers").and_then(Value::as_object_mut).into_iter().flatten() {
            server.1.get_mut(part).and_then(Value::as_object_mut).into_iter().flatten().for_each(
                |(_, value)| {
                    hide(value);
                },
            );
        }
    }
    Ok(document)
}

fn hide_members(document: &mut Value, key: &str, is_secret: impl Fn(&str) -> bool) {
    for (_, group) in document.get_mut(key).and_then(Value::as_object_mut).into_iter().flatten() {
        for (name, value) in group.as_object_mut().into_iter().flatten() {
            if is_secret(name) {
                hide(value);
            }
        }
    }
}

/// A reference to a variable is no secret; anything else may be one.
fn hide(value: &mut Value) {
    if value.as_str().is_none_or(secret::is_literal) {
        *value = hidden();
    }
}

/// The value without credentials: what is no reference is shown as a mark.
fn masked(path: &str, mut value: Value) -> Value {
    if path.starts_with("authGroups.")
        && let Value::Object(members) = &mut value
    {
        for (name, member) in members {
            let is_secret = check::SECRETS.contains(&name.as_str());
            if is_secret && member.as_str().is_some_and(secret::is_literal) {
                *member = Value::String("[secret]".to_owned());
            }
        }
    }
    value
}

/// Names of keys with their descriptions, as the schema has them.
pub fn descriptions() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    described("", &schema(), &mut found);
    found
}

fn described(path: &str, schema: &Value, found: &mut BTreeMap<String, String>) {
    if let Some(Value::String(text)) = schema.get("description") {
        found.insert(path.to_owned(), text.clone());
    }
    for (name, part) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let below = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        described(&below, part, found);
    }
    if let Some(member) = schema.get("additionalProperties").filter(|member| member.is_object()) {
        described(&format!("{path}.*"), member, found);
    }
}
