//! Names of git that cannot be mistaken for something else: objects, branches, and the branch of a task.

use std::fmt;
use std::str::FromStr;

use mxd_core::id::TaskId;
use serde::{Deserialize, Serialize};

use super::limits;

/// The first part of the name of every branch that belongs to an agent.
pub const NAMESPACE: &str = "mxd";

/// The full name of an object, in hexadecimal.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ObjectId(String);

impl ObjectId {
    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first digits, for people.
    #[must_use]
    pub fn short(&self) -> &str {
        &self.0[..12]
    }

    /// What stands for "nothing" in the same format.
    pub(super) fn nothing(&self) -> String {
        "0".repeat(self.0.len())
    }
}

impl FromStr for ObjectId {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let digits = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if digits && matches!(text.len(), 40 | 64) {
            return Ok(Self(text.to_owned()));
        }
        Err(NameError {
            what: "object",
            name: text.to_owned(),
            why: "it is not 40 or 64 lower-case hex digits",
        })
    }
}

impl TryFrom<String> for ObjectId {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl From<ObjectId> for String {
    fn from(id: ObjectId) -> Self {
        id.0
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a branch, without `refs/heads/`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Branch(String);

impl Branch {
    /// The branch of a task.
    #[must_use]
    pub fn of_task(task: TaskId, slug: &Slug) -> Self {
        Self(format!("{NAMESPACE}/{task}/{slug}"))
    }

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether agents may write to it.
    #[must_use]
    pub fn is_of_agents(&self) -> bool {
        self.0.starts_with(&format!("{NAMESPACE}/"))
    }

    /// The full name of its ref.
    pub(super) fn refname(&self) -> String {
        format!("refs/heads/{}", self.0)
    }

    /// From the full name of a ref.
    pub(super) fn from_refname(name: &str) -> Option<Self> {
        name.strip_prefix("refs/heads/")?.parse().ok()
    }
}

impl FromStr for Branch {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        match fault(name) {
            None => Ok(Self(name.to_owned())),
            Some(why) => Err(NameError { what: "branch", name: name.to_owned(), why }),
        }
    }
}

impl TryFrom<String> for Branch {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl From<Branch> for String {
    fn from(branch: Branch) -> Self {
        branch.0
    }
}

impl fmt::Display for Branch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Branch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

/// What is wrong with a branch name; the rules are those of `git check-ref-format --branch`.
fn fault(name: &str) -> Option<&'static str> {
    let odd = |c: char| c.is_control() || matches!(c, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\');
    if name.is_empty() {
        return Some("it is empty");
    }
    if name.len() > limits::BRANCH_NAME {
        return Some("it is too long");
    }
    if name.starts_with('-') || name == "@" || name == "HEAD" {
        return Some("git would take it for something else");
    }
    if name.contains(odd) || name.contains("..") || name.contains("@{") {
        return Some("it has characters that git does not allow in names");
    }
    if name.ends_with('.') {
        return Some("it ends with a dot");
    }
    let bad = |part: &str| part.is_empty() || part.starts_with('.') || part.ends_with(".lock");
    name.split('/').any(bad).then_some("a part of it is empty, begins with a dot or ends with .lock")
}

/// The readable end of a task's branch and folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slug(String);

impl Slug {
    /// Makes one of a title: lower-case letters, digits and single dashes, never empty.
    #[must_use]
    pub fn of_title(title: &str) -> Self {
        let mut slug = String::new();
        for c in title.chars() {
            if slug.len() >= limits::SLUG {
                break;
            }
            if c.is_ascii_alphanumeric() {
                slug.push(c.to_ascii_lowercase());
            } else if !slug.is_empty() && !slug.ends_with('-') {
                slug.push('-');
            }
        }
        let slug = slug.trim_end_matches('-');
        Self(if slug.is_empty() { "task".to_owned() } else { slug.to_owned() })
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Why a text is not a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is no name of a {what}: {why}")]
pub struct NameError {
    what: &'static str,
    name: String,
    why: &'static str,
}

/// A name of a file as people read it: what is not text is shown as such, never dropped.
pub(super) fn readable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_slugs() {
        let cases = [
            ("Fix the  login/logout flow!", "fix-the-login-logout-flow"),
            ("--rm -rf /", "rm-rf"),
            ("日本語", "task"),
            ("", "task"),
            ("a title that is much longer than thirty characters", "a-title-that-is-much-longer-th"),
            ("x.lock", "x-lock"),
        ];
        for (title, slug) in cases {
            assert_eq!(Slug::of_title(title).to_string(), slug, "{title}");
        }
    }

    #[test]
    fn objects_are_full_names() {
        assert!("abc".parse::<ObjectId>().is_err());
        assert!("HEAD".parse::<ObjectId>().is_err());
        assert!("A".repeat(40).parse::<ObjectId>().is_err());
        assert_eq!("a".repeat(40).parse::<ObjectId>().unwrap().short(), "aaaaaaaaaaaa");
        assert!("0".repeat(64).parse::<ObjectId>().is_ok());
    }
}
