//! Reading a strict file: a place in its JSON, and what is expected there.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use super::fault::{Fault, Faults};
use crate::json::{Kind, Node, member_path};
use crate::tool::Quoted;

/// A value with its path.
#[derive(Clone)]
pub(super) struct Place<'n> {
    pub(super) node: &'n Node<'n>,
    pub(super) path: String,
}

/// An object with its path, whose keys were checked.
pub(super) struct Fields<'n> {
    at: usize,
    path: String,
    members: &'n [(String, Node<'n>)],
}

impl<'n> Place<'n> {
    pub(super) fn root(node: &'n Node<'n>) -> Self {
        Self { node, path: String::new() }
    }

    pub(super) fn add(&self, faults: &mut Faults<'_>, fault: impl Into<Fault>) {
        faults.add(self.node.at, &self.path, fault);
    }

    fn wrong(&self, faults: &mut Faults<'_>, expected: &'static str) {
        self.add(faults, Fault::Type { expected, found: self.node.kind.name() });
    }

    pub(super) fn string(&self, faults: &mut Faults<'_>) -> Option<&'n str> {
        let Kind::String(text) = &self.node.kind else {
            self.wrong(faults, "a text");
            return None;
        };
        Some(text)
    }

    /// A text that is not empty and not too long.
    pub(super) fn text(&self, faults: &mut Faults<'_>, limit: usize) -> Option<&'n str> {
        let text = self.string(faults)?;
        let fault = match text.len() {
            0 => Fault::Empty,
            given if given > limit => Fault::TooMany { given, limit, unit: "bytes" },
            _ => return Some(text),
        };
        self.add(faults, fault);
        None
    }

    /// A text that reads as something.
    pub(super) fn parsed<T: FromStr<Err: Into<Fault>>>(&self, faults: &mut Faults<'_>) -> Option<T> {
        let text = self.string(faults)?;
        text.parse().map_err(|error: T::Err| self.add(faults, error)).ok()
    }

    pub(super) fn boolean(&self, faults: &mut Faults<'_>) -> Option<bool> {
        let Kind::Bool(value) = self.node.kind else {
            self.wrong(faults, "true or false");
            return None;
        };
        Some(value)
    }

    pub(super) fn number(&self, faults: &mut Faults<'_>) -> Option<&'n str> {
        let Kind::Number(text) = &self.node.kind else {
            self.wrong(faults, "a number");
            return None;
        };
        Some(text)
    }

    /// A whole number, written without fraction and exponent.
    pub(super) fn whole(&self, faults: &mut Faults<'_>, (least, most): (u64, u64)) -> Option<u64> {
        let text = self.number(faults)?;
        let value: Option<u64> = text.parse().ok().filter(|value| (least..=most).contains(value));
        if value.is_none() {
            self.add(faults, Fault::Range { given: Quoted::of(text), least, most });
        }
        value
    }

    /// The elements of a list that is not too long.
    pub(super) fn list(&self, faults: &mut Faults<'_>, limit: usize) -> Vec<Self> {
        let Kind::Array(elements) = &self.node.kind else {
            self.wrong(faults, "a list");
            return Vec::new();
        };
        if elements.len() > limit {
            self.add(faults, Fault::TooMany { given: elements.len(), limit, unit: "items" });
        }
        let place = |(index, node)| Self { node, path: format!("{}[{index}]", self.path) };
        elements.iter().take(limit).enumerate().map(place).collect()
    }

    pub(super) fn is_empty_list(&self) -> bool {
        matches!(&self.node.kind, Kind::Array(elements) if elements.is_empty())
    }

    /// The members of an object whose keys are names, none twice.
    pub(super) fn map(&self, faults: &mut Faults<'_>, limit: usize) -> Vec<(&'n str, Self)> {
        let Kind::Object(members) = &self.node.kind else {
            self.wrong(faults, "an object");
            return Vec::new();
        };
        if members.len() > limit {
            self.add(faults, Fault::TooMany { given: members.len(), limit, unit: "members" });
        }
        repeated_keys(&self.path, members, faults);
        let place = |(key, node): &'n (String, Node<'n>)| {
            (key.as_str(), Self { node, path: member_path(&self.path, key) })
        };
        members.iter().take(limit).map(place).collect()
    }

    /// An object with known keys.
    pub(super) fn fields(
        &self,
        faults: &mut Faults<'_>,
        known: &'static [&'static str],
    ) -> Option<Fields<'n>> {
        let Kind::Object(members) = &self.node.kind else {
            self.wrong(faults, "an object");
            return None;
        };
        for (key, value) in members.iter().filter(|(key, _)| !known.contains(&key.as_str())) {
            let fault = Fault::UnknownKey { key: Quoted::of(key), nearest: nearest(key, known) };
            faults.add(value.at, &member_path(&self.path, key), fault);
        }
        repeated_keys(&self.path, members, faults);
        Some(Fields { at: self.node.at, path: self.path.clone(), members })
    }
}

impl<'n> Fields<'n> {
    pub(super) fn optional(&self, key: &'static str) -> Option<Place<'n>> {
        let (_, node) = self.members.iter().find(|(name, _)| name == key)?;
        Some(Place { node, path: member_path(&self.path, key) })
    }

    pub(super) fn required(&self, faults: &mut Faults<'_>, key: &'static str) -> Option<Place<'n>> {
        let found = self.optional(key);
        if found.is_none() {
            faults.add(self.at, &member_path(&self.path, key), Fault::Missing { key });
        }
        found
    }

    /// Notes fields that belong to another transport.
    pub(super) fn refuse(&self, faults: &mut Faults<'_>, transport: &'static str, keys: &[&'static str]) {
        for &key in keys {
            if let Some(place) = self.optional(key) {
                place.add(faults, Fault::OtherTransport { key, transport });
            }
        }
    }

    /// Checks the version of the file's form.
    pub(super) fn schema_version(&self, faults: &mut Faults<'_>) {
        let Some(place) = self.required(faults, "schema_version") else { return };
        let Some(given) = place.number(faults) else { return };
        if given != "1" {
            place.add(faults, Fault::SchemaVersion { given: Quoted::of(given) });
        }
    }
}

fn repeated_keys(path: &str, members: &[(String, Node<'_>)], faults: &mut Faults<'_>) {
    let mut seen = Unique::default();
    for (key, value) in members {
        if seen.first(key, String::new()).is_some() {
            let fault = Fault::RepeatedKey { key: Quoted::of(key) };
            faults.add(value.at, &member_path(path, key), fault);
        }
    }
}

/// Notices what is there twice.
#[derive(Default)]
pub(super) struct Unique(BTreeMap<String, String>);

impl Unique {
    /// The path of the first one, when this is another one.
    fn first(&mut self, key: &str, path: String) -> Option<&str> {
        if self.0.contains_key(key) {
            return self.0.get(key).map(String::as_str);
        }
        self.0.insert(key.to_owned(), path);
        None
    }

    /// Notes one, and a problem when it is not the first.
    pub(super) fn note(&mut self, faults: &mut Faults<'_>, key: &impl Display, place: &Place<'_>) {
        let key = key.to_string();
        if let Some(first) = self.first(&key, place.path.clone()) {
            let fault = Fault::Repeated { given: Quoted::of(&key), first: first.to_owned() };
            place.add(faults, fault);
        }
    }
}

/// The known key that is most like a given one, when one is like it at all.
fn nearest(key: &str, known: &'static [&'static str]) -> Option<&'static str> {
    let plain = |text: &str| text.to_lowercase().replace(['-', ' ', '.'], "_").replace('_', "");
    let given: Vec<char> = plain(key).chars().take(64).collect();
    let distance = |candidate: &str| distance(&given, &plain(candidate).chars().collect::<Vec<_>>());
    let close = known.iter().map(|candidate| (distance(candidate), *candidate)).min()?;
    (close.0 <= 1 + given.len() / 4).then_some(close.1)
}

/// How many letters have to be changed, added or removed.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
