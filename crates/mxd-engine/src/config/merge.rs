//! Several layers become one document, and every value keeps where it comes from.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::keys::{self, KEYS, Merge};
use super::layer::{Layer, Origin};
use super::read::LayerFile;

/// All layers in one, and the origin of each key or member of a key.
#[derive(Debug, Clone)]
pub(super) struct Merged {
    pub(super) document: Value,
    pub(super) origins: BTreeMap<String, Origin>,
}

/// Merges layers, the strongest last, over what holds by itself.
pub(super) fn merge(files: &[LayerFile]) -> Merged {
    let mut merged = Merged { document: Value::Object(Map::new()), origins: BTreeMap::new() };
    merged.add("", &keys::defaults(), &Origin::Default);
    for file in files {
        merged.add("", &file.value, &Origin::file(file.layer, &file.file));
    }
    if let Some(repository) = files.iter().find(|file| file.layer == Layer::Repository) {
        merged.add_behind(repository);
    }
    merged
}

impl Merged {
    fn add(&mut self, path: &str, value: &Value, origin: &Origin) {
        let rule = keys::of_path(path).filter(|key| key.path == path).map(|key| key.merge);
        match (value, rule) {
            (Value::Object(members), None | Some(Merge::Members)) => {
                for (key, member) in members {
                    let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    match rule {
                        // A member of a key is replaced as a whole.
                        Some(_) => self.put(&[path, key], member.clone(), (below, origin)),
                        None => self.add(&below, member, origin),
                    }
                }
            }
            (Value::Array(added), Some(Merge::Append | Merge::ByName)) => {
                let mut all = self.list(path);
                for element in added {
                    let named = |other: &Value| {
                        other.get("name").is_some() && other.get("name") == element.get("name")
                    };
                    all.retain(|other| rule == Some(Merge::Append) || !named(other));
                    all.push(element.clone());
                }
                self.put(&[path], Value::Array(all), (path.to_owned(), origin));
            }
            // It is added when the layers of the user are known.
            (_, Some(Merge::RepositoryBehind)) if origin.layer() == Some(Layer::Repository) => {}
            (value, _) => self.put(&[path], value.clone(), (path.to_owned(), origin)),
        }
    }

    /// Adds what the repository may put behind the lists of the user, each element once.
    fn add_behind(&mut self, repository: &LayerFile) {
        for key in KEYS.iter().filter(|key| key.merge == Merge::RepositoryBehind) {
            let pointer = format!("/{}", key.path.replace('.', "/"));
            let Some(Value::Array(added)) = repository.value.pointer(&pointer) else { continue };
            let mut all = self.list(key.path);
            for element in added {
                if !all.contains(element) {
                    all.push(element.clone());
                }
            }
            // Where the user says something, that is where the list comes from: it stands first.
            let is_default = self.origins.get(key.path).is_none_or(|origin| *origin == Origin::Default);
            let repository = Origin::file(repository.layer, &repository.file);
            let origin = if is_default { repository } else { self.origins[key.path].clone() };
            self.put(&[key.path], Value::Array(all), (key.path.to_owned(), &origin));
        }
    }

    fn list(&self, path: &str) -> Vec<Value> {
        let there = self.document.pointer(&format!("/{}", path.replace('.', "/")));
        there.and_then(Value::as_array).cloned().unwrap_or_default()
    }

    /// Puts a value where a path of a key, and perhaps a member of it, leads.
    fn put(&mut self, path: &[&str], value: Value, (at, origin): (String, &Origin)) {
        let [key, member @ ..] = path else { return };
        let parts: Vec<&str> = key.split('.').chain(member.iter().copied()).collect();
        let Some((last, folders)) = parts.split_last() else { return };
        let mut place = &mut self.document;
        for folder in folders {
            let Value::Object(members) = place else { return };
            place = members.entry((*folder).to_owned()).or_insert_with(|| Value::Object(Map::new()));
        }
        let Value::Object(members) = place else { return };
        members.insert((*last).to_owned(), value);
        self.origins.insert(at, origin.clone());
    }
}
