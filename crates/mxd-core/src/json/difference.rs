//! What changed from one JSON value to another, place by place, in one order.

use std::cmp::Ordering;

use super::canonical::{by_code_units, canonical, string};
use super::{Kind, Node};

/// One place at which two values differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Where, such as `inputSchema.properties.path.type`.
    pub path: String,
    /// What is different there.
    pub change: Change,
}

/// What is different at a place. Values are in their canonical spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It is only in the second value.
    Added {
        /// What is there now.
        now: String,
    },
    /// It is only in the first value.
    Removed {
        /// What was there.
        was: String,
    },
    /// It is another one.
    Replaced {
        /// What was there.
        was: String,
        /// What is there now.
        now: String,
    },
}

/// All differences, ordered by place: keys by their code units, elements by their index.
pub fn differences(was: &Node<'_>, now: &Node<'_>) -> Vec<Difference> {
    let mut found = Vec::new();
    compare("", was, now, &mut found);
    found
}

fn compare(path: &str, was: &Node<'_>, now: &Node<'_>, found: &mut Vec<Difference>) {
    match (&was.kind, &now.kind) {
        (Kind::Object(was), Kind::Object(now)) => compare_objects(path, was, now, found),
        (Kind::Array(was), Kind::Array(now)) => {
            for index in 0..was.len().max(now.len()) {
                one(&format!("{path}[{index}]"), was.get(index), now.get(index), found);
            }
        }
        _ => one_value(path, was, now, found),
    }
}

fn compare_objects(
    path: &str,
    was: &[(String, Node<'_>)],
    now: &[(String, Node<'_>)],
    found: &mut Vec<Difference>,
) {
    let (was, now) = (sorted(was), sorted(now));
    let (mut was, mut now) = (was.into_iter().peekable(), now.into_iter().peekable());
    loop {
        let order = match (was.peek(), now.peek()) {
            (None, None) => return,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((a, _)), Some((b, _))) => by_code_units(a, b),
        };
        let before = if order == Ordering::Greater { None } else { was.next() };
        let after = if order == Ordering::Less { None } else { now.next() };
        let Some((key, _)) = before.or(after) else { return };
        one(&member_path(path, key), before.map(|(_, value)| value), after.map(|(_, value)| value), found);
    }
}

type Member<'n, 'a> = (&'n str, &'n Node<'a>);

fn sorted<'n, 'a>(members: &'n [(String, Node<'a>)]) -> Vec<Member<'n, 'a>> {
    let mut sorted: Vec<_> = members.iter().map(|(key, value)| (key.as_str(), value)).collect();
    sorted.sort_by(|(a, _), (b, _)| by_code_units(a, b));
    sorted
}

fn one(path: &str, was: Option<&Node<'_>>, now: Option<&Node<'_>>, found: &mut Vec<Difference>) {
    let change = match (was, now) {
        (Some(was), Some(now)) => return compare(path, was, now, found),
        (Some(was), None) => Change::Removed { was: spelling(was) },
        (None, Some(now)) => Change::Added { now: spelling(now) },
        (None, None) => return,
    };
    found.push(Difference { path: path.to_owned(), change });
}

fn one_value(path: &str, was: &Node<'_>, now: &Node<'_>, found: &mut Vec<Difference>) {
    let (was, now) = (spelling(was), spelling(now));
    if was != now {
        found.push(Difference { path: path.to_owned(), change: Change::Replaced { was, now } });
    }
}

/// What is shown: a value without a canonical spelling has at least its reason.
fn spelling(node: &Node<'_>) -> String {
    canonical(node).unwrap_or_else(|error| error.to_string())
}

/// The path of a member, in quotes when its key is no plain word.
pub(crate) fn member_path(path: &str, key: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$');
    if key.is_empty() || !key.chars().all(is_plain) {
        let mut quoted = String::new();
        string(key, &mut quoted);
        return format!("{path}[{quoted}]");
    }
    let dot = if path.is_empty() { "" } else { "." };
    format!("{path}{dot}{key}")
}
