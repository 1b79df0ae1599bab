//! What an attempt is.

use std::path::PathBuf;

use super::ground::Ground;

/// What an attempt is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Settings that name programs or files, and attributes.
    Settings,
    /// Files of a worktree.
    Files,
    /// What a repository consists of, in two parts that are tried side by side.
    Structure(u8),
}

/// Whether others can be in the same worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Company {
    /// Those with the same word.
    With(&'static str),
    /// Nobody.
    Nobody,
}

/// Something that is planted.
type Plant = Box<dyn Fn(&Ground, &Spot) + Send + Sync>;

/// Content that attacks.
pub(super) struct Attempt {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) company: Company,
    /// Files that are in a commit of the agent.
    pub(super) committed: Option<Plant>,
    /// What is written after that commit.
    pub(super) planted: Option<Plant>,
}

/// Where an attempt may write.
pub(super) struct Spot {
    /// A folder of its own in the worktree.
    pub(super) folder: PathBuf,
    /// The same, relative to the worktree.
    pub(super) name: String,
    /// A command that leaves its marker.
    pub(super) command: String,
    /// A word that no other attempt has.
    pub(super) word: String,
}

impl Attempt {
    pub(super) fn new(kind: Kind, name: impl Into<String>) -> Self {
        Self { name: name.into(), kind, company: Company::With("all"), committed: None, planted: None }
    }

    pub(super) fn alone(mut self) -> Self {
        self.company = Company::Nobody;
        self
    }

    pub(super) fn with(mut self, others: &'static str) -> Self {
        self.company = Company::With(others);
        self
    }

    pub(super) fn committed(mut self, plant: impl Fn(&Ground, &Spot) + Send + Sync + 'static) -> Self {
        self.committed = Some(Box::new(plant));
        self
    }

    pub(super) fn planted(mut self, plant: impl Fn(&Ground, &Spot) + Send + Sync + 'static) -> Self {
        self.planted = Some(Box::new(plant));
        self
    }
}
