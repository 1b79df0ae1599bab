//! Which tool: a server and a name on it, and its capability spelling `mcp:<server>:<tool>`.
//!
//! A tool has three spellings. This one is for rules and has no pin; [`super::uri`] has the one for manifests,
//! plans and the command line, [`super::wire_name`] the one models use. All three are read and printed only
//! in this folder.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::limits;
use super::pin::Pin;
use super::spelling::{checked_text, text_serde};
use super::text::Quoted;

/// What every capability begins with.
pub(super) const CAPABILITY_SCHEME: &str = "mcp";

checked_text! {
    /// The name of a server in its manifest: lower-case letters, digits, `-` and `_`.
    ///
    /// No `__` and no `_` at the end: in a wire name the first `__` behind the prefix ends the server.
    ServerName, NameError, check_server
}

checked_text! {
    /// The name of a tool on its server, as MCP has it: letters, digits, `_`, `-` and `.`.
    ToolName, NameError, check_tool
}

/// A tool, whatever its version.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolId {
    /// Where it lives.
    pub server: ServerName,
    /// What it is called there.
    pub tool: ToolName,
}

/// A tool in exactly one version. Its spelling is the URI.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PinnedTool {
    /// Which tool.
    pub id: ToolId,
    /// Which version of it.
    pub pin: Pin,
}

/// Why a text is no name of a server or a tool.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message above each variant says what its fields are")]
pub enum NameError {
    #[error("the name of a {what} is empty")]
    Empty { what: &'static str },
    #[error("the name of a {what} has {given} characters, more than {limit}")]
    TooLong { what: &'static str, given: usize, limit: usize },
    #[error("`{found}` cannot stand in the name of a {what}: `{name}`")]
    Character { what: &'static str, name: Quoted, found: Quoted },
    #[error("a tool with `/` in its name cannot be addressed: `{name}`")]
    Slash { name: Quoted },
    #[error("the name of a server has no `__` and does not end in `_`: `{name}`")]
    Underscores { name: Quoted },
}

impl NameError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Empty { .. } => "Give it a name.",
            Self::TooLong { .. } => "Choose a shorter name.",
            Self::Character { what: SERVER, .. } => "Use lower-case letters, digits, `-` and single `_`.",
            Self::Character { .. } => "Tools are named with letters, digits, `_`, `-` and `.`.",
            Self::Slash { .. } => "Ask the server's author to name it without `/`.",
            Self::Underscores { .. } => "Use `-` instead.",
        }
    }
}

const SERVER: &str = "server";
const TOOL: &str = "tool";

fn check_server(name: &str) -> Result<(), NameError> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    check(SERVER, name, limits::SERVER_NAME_CHARS, allowed)?;
    if name.contains("__") || name.ends_with('_') {
        return Err(NameError::Underscores { name: Quoted::of(name) });
    }
    Ok(())
}

fn check_tool(name: &str) -> Result<(), NameError> {
    if name.contains('/') {
        return Err(NameError::Slash { name: Quoted::of(name) });
    }
    check(TOOL, name, limits::TOOL_NAME_CHARS, is_tool_char)
}

/// What MCP allows in the name of a tool.
pub(super) fn is_tool_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

fn check(
    what: &'static str,
    name: &str,
    limit: usize,
    allowed: impl Fn(char) -> bool,
) -> Result<(), NameError> {
    if name.is_empty() {
        return Err(NameError::Empty { what });
    }
    if let Some(found) = name.chars().find(|c| !allowed(*c)) {
        let found = Quoted::of(&found.to_string());
        return Err(NameError::Character { what, name: Quoted::of(name), found });
    }
    if name.len() > limit {
        return Err(NameError::TooLong { what, given: name.len(), limit });
    }
    Ok(())
}

/// Why a text is no capability.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CapabilityError {
    /// Another number of parts, or another first one.
    #[error("a capability reads mcp:<server>:<tool>, not `{given}`")]
    Form {
        /// What was given.
        given: Quoted,
    },
    /// One of the names is none.
    #[error("{0}")]
    Name(#[from] NameError),
}

/// The two names of `mcp:<server>:<tool>`, unchecked.
pub(super) fn split_capability(text: &str) -> Result<(&str, &str), CapabilityError> {
    let form = || CapabilityError::Form { given: Quoted::of(text) };
    let rest =
        text.strip_prefix(CAPABILITY_SCHEME).and_then(|rest| rest.strip_prefix(':')).ok_or_else(form)?;
    rest.split_once(':').ok_or_else(form)
}

impl FromStr for ToolId {
    type Err = CapabilityError;

    fn from_str(text: &str) -> Result<Self, CapabilityError> {
        let (server, tool) = split_capability(text)?;
        Ok(Self { server: server.parse()?, tool: tool.parse()? })
    }
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{CAPABILITY_SCHEME}:{}:{}", self.server, self.tool)
    }
}

impl fmt::Debug for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ToolId({self})")
    }
}

text_serde!(ToolId);
