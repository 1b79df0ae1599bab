//! What can be wrong with a skill's file: all of it at once, each with its line.

use std::fmt;

use thiserror::Error;

use super::{SkillNameError, SkillToolError};
use crate::tool::limits;
use crate::tool::pin::PinError;
use crate::tool::text::Quoted;

/// Everything that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillErrors {
    /// The problems, by line.
    pub problems: Vec<SkillProblem>,
    /// How many more there are than are listed.
    pub more: usize,
}

/// One problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillProblem {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub fault: SkillFault,
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message above each variant says what its fields are")]
pub enum SkillFault {
    #[error("the file has {given} bytes, more than {limit}")]
    TooLong { given: usize, limit: usize },
    #[error("`{given}` is no header of a section")]
    Header { given: Quoted },
    #[error("the section §{section} is there twice")]
    RepeatedSection { section: &'static str },
    #[error("there is no section §{section}")]
    MissingSection { section: &'static str },
    #[error("`{given}` stands before the first section")]
    BeforeSections { given: Quoted },
    #[error("the file does not begin with front matter between two lines `---`")]
    NoFrontMatter,
    #[error("the front matter that begins here does not end")]
    OpenFrontMatter,
    #[error("`{given}` is no line of the form {form}")]
    Form { given: Quoted, form: &'static str },
    #[error("`{key}` is there twice")]
    RepeatedKey { key: Quoted },
    #[error("there is no `{key}`, or it is empty")]
    MissingKey { key: &'static str },
    #[error("`{key}` is not read; the tools are listed under allowed-tools")]
    MisspeltTools { key: Quoted },
    #[error("the value of `{key}` cannot be read: {problem}")]
    Value { key: &'static str, problem: &'static str },
    #[error("{0}")]
    Name(#[from] SkillNameError),
    #[error("{0}")]
    Version(#[from] PinError),
    #[error("{0}")]
    Tool(#[from] SkillToolError),
    #[error("`none` stands beside tools")]
    NoneWithTools,
    #[error("it lists {given} tools, more than {limit}")]
    TooManyTools { given: usize, limit: usize },
}

impl SkillFault {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::TooLong { .. } => "Move parts of it into files that it names.",
            Self::Header { .. } => "Write § and a name in capitals, alone on the line, such as §TOOLS.",
            Self::RepeatedSection { .. } | Self::RepeatedKey { .. } => "Keep one of them.",
            Self::MissingSection { .. } => "Begin with §SKILL and its id, version and description.",
            Self::BeforeSections { .. } => "Put it into a section, or begin the line with # to comment.",
            Self::NoFrontMatter | Self::OpenFrontMatter => {
                "Put name and description between two lines `---`."
            }
            Self::Form { .. } => "Correct the line, or begin it with # to comment.",
            Self::MissingKey { .. } => "Add it.",
            Self::MisspeltTools { .. } => "Rename it to allowed-tools.",
            Self::Value { .. } => "Write it on one line, in double quotes when it has special characters.",
            Self::Name(_) => "Use lower-case letters, digits, `-` and `_`.",
            Self::Version(error) => error.hint(),
            Self::Tool(error) => error.hint(),
            Self::NoneWithTools => "Remove `none`, or the tools.",
            Self::TooManyTools { .. } => "Split the skill, or use patterns where the file takes them.",
        }
    }
}

impl fmt::Display for SkillErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, SkillProblem { line, fault }) in self.problems.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { "\n" })?;
            write!(f, "line {line}: {fault}")?;
        }
        match self.more {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

impl std::error::Error for SkillErrors {}

/// Collects problems while a file is read.
#[derive(Default)]
pub(super) struct Faults(Vec<SkillProblem>);

impl Faults {
    pub(super) fn add(&mut self, line: usize, fault: SkillFault) {
        self.0.push(SkillProblem { line, fault });
    }

    /// What was read, or nothing and a problem more.
    pub(super) fn take<T, E: Into<SkillFault>>(&mut self, line: usize, read: Result<T, E>) -> Option<T> {
        read.map_err(|fault| self.add(line, fault.into())).ok()
    }

    /// Notes a key that is missing, unless its line already has a problem of its own.
    pub(super) fn missing_key(&mut self, key: &'static str) {
        let is_about_it = |fault: &SkillFault| match fault {
            SkillFault::Name(_) => key != "description",
            SkillFault::Value { key: about, .. } => *about == key,
            // Without the section or the front matter nothing can be there.
            SkillFault::MissingSection { .. } | SkillFault::NoFrontMatter | SkillFault::OpenFrontMatter => {
                true
            }
            SkillFault::TooLong { .. }
            | SkillFault::Header { .. }
            | SkillFault::RepeatedSection { .. }
            | SkillFault::BeforeSections { .. }
            | SkillFault::Form { .. }
            | SkillFault::RepeatedKey { .. }
            | SkillFault::MissingKey { .. }
            | SkillFault::MisspeltTools { .. }
            | SkillFault::Version(_)
            | SkillFault::Tool(_)
            | SkillFault::NoneWithTools
            | SkillFault::TooManyTools { .. } => false,
        };
        if !self.0.iter().any(|problem| is_about_it(&problem.fault)) {
            self.add(1, SkillFault::MissingKey { key });
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn into_errors(mut self) -> SkillErrors {
        self.0.sort_by_key(|problem| problem.line);
        let more = self.0.len().saturating_sub(limits::SKILL_PROBLEMS);
        self.0.truncate(limits::SKILL_PROBLEMS);
        SkillErrors { problems: self.0, more }
    }
}
