//! A repository under a condition, and what can become of the story in it.

use std::fmt;

/// A repository under a condition.
///
/// Scripts are bash. They have `$HOME`, an empty folder at first, and `$REPO`, the repository, which `prepare` has to make.
/// The functions of `shell::PRELUDE` are there.
#[derive(Debug, Clone, Copy)]
pub struct Scene {
    /// Short and without spaces; the name of its test.
    pub id: &'static str,
    /// What is special about it, for the table.
    pub title: &'static str,
    /// Gets what `prepare` finds in `$PACKAGE` with the package clients of this machine, as they are set up for the developer
    /// who runs it. It runs in that folder, once.
    pub fetch: &'static str,
    /// Makes `$HOME` and `$REPO`. It runs in `$HOME`.
    pub prepare: &'static str,
    /// The project's own tests. Agents run them, and they are the check of every task and merge.
    pub test: &'static str,
    /// What makes a worktree ready: `nothing` or the text of a script.
    pub set_up: &'static str,
    /// The file that both agents add a line to.
    pub shared: &'static str,
    /// What a comment begins with in it.
    pub comment: &'static str,
    /// What the first agent does beside, in its worktree.
    pub agent: &'static str,
    /// What the user does between `mxd init` and the first message.
    pub before: &'static str,
    /// What has to be true at the end, in `$REPO`.
    pub after: &'static str,
    /// The branch that everything is merged into.
    pub base: &'static str,
    /// Whether the files of `$REPO` are those of the base branch at the end.
    pub follows: bool,
    /// Who wrote all the commits.
    pub author: &'static str,
    /// Words that `mxd init` has to say although the story works.
    pub told: &'static str,
    /// What else is to be known, for the table.
    pub note: &'static str,
    /// What should become of it.
    pub expected: Expected,
}

/// What should become of a scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// The story ends well.
    Works,
    /// `mxd init` says why not, with these words, and what to do.
    RefusedAtInit(&'static str),
}

/// What became of a scene.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The story ended well, and everything was as it should be.
    Worked,
    /// `mxd init` refused or named what is missing.
    RefusedAtInit {
        /// Its words.
        said: String,
    },
    /// It went wrong after `mxd init` was content.
    FailedLater {
        /// What was wrong.
        what: String,
    },
    /// The repository itself could not be made here.
    NotMade {
        /// Why.
        why: String,
    },
}

impl Outcome {
    /// Whether it is what should become of it.
    #[must_use]
    pub fn fits(&self, expected: Expected) -> bool {
        match (self, expected) {
            (Self::Worked, Expected::Works) => true,
            (Self::RefusedAtInit { said }, Expected::RefusedAtInit(words)) => said.contains(words),
            _ => false,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Worked => f.write_str("✔"),
            Self::RefusedAtInit { said } => write!(f, "refused at init: {said}"),
            Self::FailedLater { what } => write!(f, "fails later: {what}"),
            Self::NotMade { why } => write!(f, "not tried: {why}"),
        }
    }
}

impl Scene {
    /// The small program of `shell::PRELUDE`, with a user whom git knows and nothing special.
    pub const ORDINARY: Self = Self {
        id: "",
        title: "",
        fetch: "",
        prepare: "identity; repository",
        test: "sh tests/run.sh",
        set_up: "nothing",
        shared: "hello.sh",
        comment: "# ",
        agent: "true",
        before: "true",
        after: "true",
        base: "main",
        follows: true,
        author: "User <user@example.org>",
        told: "",
        note: "",
        expected: Expected::Works,
    };
}
