//! Skills: a way of working, and the tools it may use while it is active.
//!
//! There are two kinds of files, and both give the same [`Skill`]. A file that lists no tools allows none:
//! whoever wants all of them writes `mcp:*:*`, where that is possible.

mod fault;
mod md;
mod mtx;
mod tools;
mod value;

pub use fault::{SkillErrors, SkillFault, SkillProblem};
pub use md::parse_md;
pub use mtx::parse_mtx;
pub use tools::{Listed, SkillTool, SkillToolError, SkillTools};

use thiserror::Error;

use super::limits;
use super::pin::Version;
use super::spelling::checked_text;
use super::text::{CleanText, Quoted};

checked_text! {
    /// The name of a skill: lower-case letters, digits, `-` and `_`.
    SkillName, SkillNameError, check
}

/// Why a text is no name of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{given}` is no name of a skill")]
pub struct SkillNameError {
    /// What was given.
    pub given: Quoted,
}

fn check(name: &str) -> Result<(), SkillNameError> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    if !name.is_empty() && name.len() <= limits::SKILL_NAME_CHARS && name.chars().all(allowed) {
        return Ok(());
    }
    Err(SkillNameError { given: Quoted::of(name) })
}

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// What it is called.
    pub name: SkillName,
    /// Its version, when it says one.
    pub version: Option<Version>,
    /// When to use it.
    pub description: CleanText,
    /// What it may use.
    pub tools: SkillTools,
    /// What it says to do.
    pub body: CleanText,
}

/// What both parsers find out before they know whether there is a skill.
#[derive(Default)]
struct Draft {
    name: Option<SkillName>,
    version: Option<Version>,
    description: Option<String>,
    tools: Vec<(usize, String)>,
    body: String,
    faults: fault::Faults,
}

impl Draft {
    /// Refuses a file that is too long to be read at all.
    fn of(text: &str) -> Result<Self, SkillErrors> {
        let mut draft = Self::default();
        if text.len() > limits::SKILL_BYTES {
            draft.faults.add(1, SkillFault::TooLong { given: text.len(), limit: limits::SKILL_BYTES });
            return Err(draft.faults.into_errors());
        }
        Ok(draft)
    }

    fn set_name(&mut self, line: usize, text: &str) {
        self.name = self.faults.take(line, text.parse());
    }

    fn set_version(&mut self, line: usize, text: &str) {
        self.version = self.faults.take(line, text.parse());
    }

    /// The skill, or everything that is wrong with its file. `name_key` is what the file calls the name.
    fn finish(mut self, name_key: &'static str) -> Result<Skill, SkillErrors> {
        let tools = tools::collect(&self.tools, &mut self.faults);
        let description = self.description.filter(|description| !description.trim().is_empty());
        if description.is_none() {
            self.faults.missing_key("description");
        }
        if self.name.is_none() {
            self.faults.missing_key(name_key);
        }
        match (self.name, description) {
            (Some(name), Some(description)) if self.faults.is_empty() => Ok(Skill {
                name,
                version: self.version,
                description: CleanText::clean(description.trim(), limits::SKILL_DESCRIPTION_BYTES),
                tools,
                body: CleanText::clean(&self.body, limits::SKILL_BYTES),
            }),
            _ => Err(self.faults.into_errors()),
        }
    }
}
