//! The rules of the repository that no compiler knows, as functions from a [`Workspace`] to problems.
//!
//! A rule never reads the disk: everything it may look at was loaded before, so that its test can show it a
//! bad example of three lines. `tests/tidy.rs` runs all of them on the real repository.

mod dependencies;
mod invariants;
mod links;
mod manifests;
mod module_docs;
mod programs;
mod project;
mod pure_core;
mod size;
mod text;
mod tokens;
mod workspace;

use std::fmt;

pub use workspace::{Dependency, DependencyKind, LoadError, Package, Workspace};

/// Something to repair, where it is, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, from the root of the repository.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

impl Problem {
    fn new(file: &str, line: usize, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, what: what.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}\n    {}", self.file, self.line, self.what, self.remedy)
    }
}

/// One rule.
pub type Rule = fn(&Workspace) -> Vec<Problem>;

/// Every rule with the name it is known by.
pub const RULES: &[(&str, Rule)] = &[
    ("crate dependencies", dependencies::check),
    ("pure core", pure_core::check),
    ("programs", programs::check),
    ("size", size::check),
    ("module docs", module_docs::check),
    ("manifests", manifests::check),
    ("invariants", invariants::check),
    ("links", links::check),
    ("text", text::check),
    ("project files", project::check),
];
