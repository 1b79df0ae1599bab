//! Patterns over tools: `mcp:<server>:<tool>`, in which `*` stands for a run of characters of one part.
//!
//! `mcp:*:*` is every tool, `mcp:fs:*` every tool of one server, `mcp:fs:read_*` those that begin so,
//! `mcp:*:*_status` those that end so on any server. A `*` never reaches over a `:`, and the first part is
//! always `mcp`. Letters are compared as they are: tools `Read` and `read` are two.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::glob::{Glob, GlobError, Reading};
use super::id::{CAPABILITY_SCHEME, CapabilityError, ToolId, is_tool_char, split_capability};
use super::spelling::text_serde;
use super::text::Quoted;

/// A pattern over tools.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolPattern {
    server: Glob,
    tool: Glob,
}

/// Why a text is no pattern over tools.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ToolPatternError {
    /// Not the three parts.
    #[error("{0}")]
    Form(#[from] CapabilityError),
    /// A part that is no glob.
    #[error("in `{pattern}`: {error}")]
    Glob {
        /// The whole pattern.
        pattern: Quoted,
        /// What is wrong with the part.
        error: GlobError,
    },
    /// A character that no name has, so that the pattern would never match.
    #[error("`{found}` stands in no name of a server or a tool: `{pattern}`")]
    Character {
        /// The whole pattern.
        pattern: Quoted,
        /// The character.
        found: Quoted,
    },
}

impl ToolPatternError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Form(_) | Self::Character { .. } => {
                "Write mcp:<server>:<tool>, with `*` for any run of characters of one part."
            }
            Self::Glob { error, .. } => error.hint(),
        }
    }
}

/// How closely a pattern points at a tool, from any to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Closeness {
    /// `mcp:*:*`
    Any,
    /// The server is not named whole.
    SomeServers,
    /// `mcp:fs:*`
    OneServer,
    /// `mcp:fs:read_*`
    SomeTools,
    /// `mcp:fs:read_file`
    OneTool,
}

impl ToolPattern {
    /// Whether a tool is meant.
    pub fn matches(&self, id: &ToolId) -> bool {
        // Names have no character that would tell the readings apart.
        self.server.matches(id.server.as_str(), Reading::Narrow)
            && self.tool.matches(id.tool.as_str(), Reading::Narrow)
    }

    /// How closely it points at a tool.
    pub fn closeness(&self) -> Closeness {
        match (self.server.has_wildcard(), self.tool.has_wildcard()) {
            (false, false) => Closeness::OneTool,
            (false, true) if self.tool.is_any() => Closeness::OneServer,
            (false, true) => Closeness::SomeTools,
            (true, _) if self.is_any() => Closeness::Any,
            (true, _) => Closeness::SomeServers,
        }
    }

    /// Whether it matches every tool.
    pub fn is_any(&self) -> bool {
        self.server.is_any() && self.tool.is_any()
    }
}

impl FromStr for ToolPattern {
    type Err = ToolPatternError;

    fn from_str(text: &str) -> Result<Self, ToolPatternError> {
        let (server, tool) = split_capability(text)?;
        let is_server_char = |c: char| !c.is_ascii_uppercase() && c != '.' && is_tool_char(c);
        let part = |part: &str, allowed: &dyn Fn(char) -> bool| {
            if let Some(found) = part.chars().find(|c| *c != '*' && !allowed(*c)) {
                let found = Quoted::of(&found.to_string());
                return Err(ToolPatternError::Character { pattern: Quoted::of(text), found });
            }
            part.parse().map_err(|error| ToolPatternError::Glob { pattern: Quoted::of(text), error })
        };
        Ok(Self { server: part(server, &is_server_char)?, tool: part(tool, &is_tool_char)? })
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{CAPABILITY_SCHEME}:{}:{}", self.server, self.tool)
    }
}

impl fmt::Debug for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ToolPattern({self})")
    }
}

text_serde!(ToolPattern);
