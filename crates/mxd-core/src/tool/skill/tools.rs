//! The tools a skill lists.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::fault::{Faults, SkillFault};
use crate::tool::id::{CAPABILITY_SCHEME, PinnedTool};
use crate::tool::limits;
use crate::tool::pattern::{ToolPattern, ToolPatternError};
use crate::tool::pin::Pin;
use crate::tool::text::Quoted;
use crate::tool::uri::{ToolUri, ToolUriError};
use crate::tool::wire_name::{WireName, WireNameError};

/// The tools a skill lists. An empty list allows none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillTools(Vec<SkillTool>);

/// One entry, in one of the three spellings of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillTool {
    /// One tool in one version. A native tool may be listed and cannot be called.
    Uri(ToolUri),
    /// One tool in whatever version is held, by the name models use.
    Wire(WireName),
    /// Tools in whatever version is held.
    Pattern(ToolPattern),
}

/// Whether a skill lists a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed<'a> {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// It does, but in this version.
    OtherPin(&'a Pin),
}

impl SkillTools {
    /// The list without entries, which allows no tool.
    pub const NONE: Self = Self(Vec::new());

    /// The entries, in the order of the file.
    pub fn entries(&self) -> &[SkillTool] {
        &self.0
    }

    /// Whether a tool is listed.
    pub fn lists(&self, tool: &PinnedTool) -> Listed<'_> {
        let mut listed = Listed::No;
        for entry in &self.0 {
            match entry {
                SkillTool::Uri(ToolUri::Mcp(one)) if one.id == tool.id && one.pin != tool.pin => {
                    listed = Listed::OtherPin(&one.pin);
                }
                entry if entry.covers(tool) => return Listed::Yes,
                SkillTool::Uri(_) | SkillTool::Wire(_) | SkillTool::Pattern(_) => {}
            }
        }
        listed
    }
}

impl FromIterator<SkillTool> for SkillTools {
    /// Entries behind the limit are left out, so they are not allowed either; the readers of files say so.
    fn from_iter<I: IntoIterator<Item = SkillTool>>(entries: I) -> Self {
        Self(entries.into_iter().take(limits::SKILL_TOOLS).collect())
    }
}

impl SkillTool {
    fn covers(&self, tool: &PinnedTool) -> bool {
        match self {
            Self::Uri(ToolUri::Mcp(one)) => one == tool,
            Self::Uri(ToolUri::Native(_)) => false,
            Self::Wire(name) => *name == WireName::of(&tool.id),
            Self::Pattern(pattern) => pattern.matches(&tool.id),
        }
    }
}

impl fmt::Display for SkillTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uri(uri) => uri.fmt(f),
            Self::Wire(name) => name.fmt(f),
            Self::Pattern(pattern) => pattern.fmt(f),
        }
    }
}

/// Why an entry is none.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SkillToolError {
    /// A URI that is none, or not pinned.
    #[error("{0}")]
    Uri(#[from] ToolUriError),
    /// A pattern that is none.
    #[error("{0}")]
    Pattern(#[from] ToolPatternError),
    /// A wire name that is none.
    #[error("{0}")]
    Wire(#[from] WireNameError),
    /// Nothing that begins like a tool.
    #[error("`{given}` is no tool")]
    NoSpelling {
        /// What was given.
        given: Quoted,
    },
}

impl SkillToolError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Uri(error) => error.hint(),
            Self::Pattern(error) => error.hint(),
            Self::Wire(_) => "Write mcp__<server>__<tool>, as models see it.",
            Self::NoSpelling { .. } => {
                "Write matrix://tool/mcp/<server>/<tool>@<pin>, mcp:<server>:<tool> or mcp__<server>__<tool>."
            }
        }
    }
}

impl FromStr for SkillTool {
    type Err = SkillToolError;

    fn from_str(text: &str) -> Result<Self, SkillToolError> {
        if text.contains("://") {
            Ok(Self::Uri(text.parse()?))
        } else if text.strip_prefix(CAPABILITY_SCHEME).is_some_and(|rest| rest.starts_with(':')) {
            Ok(Self::Pattern(text.parse()?))
        } else if text.strip_prefix(CAPABILITY_SCHEME).is_some_and(|rest| rest.starts_with("__")) {
            Ok(Self::Wire(text.parse()?))
        } else {
            Err(SkillToolError::NoSpelling { given: Quoted::of(text) })
        }
    }
}

/// The word for no tools.
const NONE: &str = "none";

/// Reads the entries of a file, each with its line.
pub(super) fn collect(given: &[(usize, String)], faults: &mut Faults) -> SkillTools {
    let (none, tools): (Vec<_>, Vec<_>) = given.iter().partition(|(_, text)| text == NONE);
    if let (Some((line, _)), false) = (none.first(), tools.is_empty()) {
        faults.add(*line, SkillFault::NoneWithTools);
    }
    if let Some((line, _)) = tools.get(limits::SKILL_TOOLS) {
        faults.add(*line, SkillFault::TooManyTools { given: tools.len(), limit: limits::SKILL_TOOLS });
    }
    tools.into_iter().filter_map(|(line, text)| faults.take(*line, text.parse::<SkillTool>())).collect()
}
