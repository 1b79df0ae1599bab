//! Globs over paths: `*` stays within one part of a path, `**` stands for any number of whole parts.
//!
//! Only the text of a path is looked at; where a link leads is the sandbox's business. A match that opens
//! something therefore never goes through `..` or takes a URL for a path, and a pattern that begins nowhere
//! in particular opens nothing below `/` or `~`. For a match that closes something `..` is followed first,
//! as far as the text tells.

use super::glob::{self, GlobError, Reading};
use super::limits;
use super::spelling::checked_text;
use super::text::Quoted;

checked_text! {
    /// A pattern over paths, such as `src/**/*.rs`.
    PathGlob, GlobError, check
}

const ANY_DEPTH: &str = "**";
/// The part that stands for the beginning of an absolute path; no other part has a `/`.
const ROOT: &str = "/";

fn check(pattern: &str) -> Result<(), GlobError> {
    glob::check_size(pattern)?;
    if parts(pattern).any(|part| part.contains(ANY_DEPTH) && part != ANY_DEPTH) {
        return Err(GlobError::Doubled { pattern: Quoted::of(pattern) });
    }
    Ok(())
}

impl PathGlob {
    /// Whether it covers a path.
    pub fn matches(&self, path: &str, reading: Reading) -> bool {
        let pattern: Vec<&str> = parts(&self.0).collect();
        match reading {
            Reading::Narrow => {
                let given: Vec<&str> = parts(path).collect();
                is_plain(path, &given) && begins_alike(&pattern, &given) && covers(&pattern, &given)
            }
            Reading::Wide => path.len() > limits::PATH_BYTES || covers(&pattern, &followed(path)),
        }
    }
}

fn parts(path: &str) -> impl Iterator<Item = &str> {
    let root = path.starts_with('/').then_some(ROOT);
    root.into_iter().chain(path.split('/').filter(|part| !matches!(*part, "" | ".")))
}

/// Whether the text says without doubt which path is meant.
fn is_plain(path: &str, parts: &[&str]) -> bool {
    path.len() <= limits::PATH_BYTES
        && parts.first().is_some_and(|first| !first.ends_with(':'))
        && !parts.contains(&"..")
        && !path.contains(char::is_control)
}

/// A path that begins at the root or at somebody's home needs a pattern that says so.
fn begins_alike(pattern: &[&str], path: &[&str]) -> bool {
    let is_anchor = |part: &&&str| **part == ROOT || part.starts_with('~');
    let anchor = |parts: &[&str]| parts.first().filter(is_anchor).map(|part| (*part).to_owned());
    anchor(pattern) == anchor(path)
}

/// The parts of a path with every `..` followed.
fn followed(path: &str) -> Vec<&str> {
    let mut followed: Vec<&str> = Vec::new();
    for part in parts(path) {
        match (part, followed.last().copied()) {
            ("..", Some(ROOT)) => {}
            ("..", Some(last)) if last != ".." => {
                followed.pop();
            }
            _ => followed.push(part),
        }
    }
    followed
}

/// Whether the parts of a pattern cover those of a path, by filling one row after the other: `row[n]` says
/// whether the pattern so far covers the first `n` parts.
fn covers(pattern: &[&str], path: &[&str]) -> bool {
    let mut row = vec![false; path.len() + 1];
    row[0] = true;
    for part in pattern {
        let mut next = vec![false; path.len() + 1];
        for end in 0..=path.len() {
            next[end] = if *part == ANY_DEPTH {
                row[end] || end > 0 && next[end - 1]
            } else {
                // Nothing in a path is active by itself, so a wildcard covers whatever stands in the part.
                end > 0 && row[end - 1] && glob::matches(part, path[end - 1], Reading::Wide)
            };
        }
        row = next;
    }
    row.last().copied().unwrap_or(false)
}
