//! The spelling models use: `mcp__<server>__<tool>`.
//!
//! Providers take at most 64 letters, digits, `_` and `-`. A name that is longer or has a `.` is shortened:
//! the server stays whole, the tool keeps its beginning, and a part of the hash of the whole name follows.
//! The wire name of a tool depends on that tool alone, so a set of tools that grows renames none of them. A
//! hash has no way back; [`WireNames`] knows both directions for the tools of a session.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use super::digest::Digest;
use super::id::{NameError, ToolId};
use super::limits;
use super::spelling::checked_text;
use super::text::Quoted;

const PREFIX: &str = "mcp__";
const SEPARATOR: &str = "__";
/// Digits of the hash in a shortened name. Two names of one server can be made to agree with some work, but
/// then both are refused; names of different servers cannot agree at all.
const HASH_DIGITS: usize = 12;

checked_text! {
    /// The name a model calls a tool by.
    WireName, WireNameError, check
}

/// Why a text is no wire name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WireNameError {
    /// Something else than what providers take, or not of our form.
    #[error("`{given}` is not of the form mcp__<server>__<tool>")]
    Form {
        /// What was given.
        given: Quoted,
    },
    /// One of the names is none.
    #[error("{0}")]
    Name(#[from] NameError),
}

impl WireName {
    /// The name under which models see this tool.
    pub fn of(id: &ToolId) -> Self {
        let whole = format!("{PREFIX}{}{SEPARATOR}{}", id.server, id.tool);
        if whole.len() <= limits::WIRE_NAME_CHARS && whole.chars().all(is_wire_char) {
            return Self(whole);
        }
        let hash = Digest::of(id.to_string().as_bytes()).to_string();
        let room = limits::WIRE_NAME_CHARS - HASH_DIGITS - 1;
        let kept: String = whole.chars().take(room).map(|c| if is_wire_char(c) { c } else { '_' }).collect();
        Self(format!("{kept}_{}", &hash[..HASH_DIGITS]))
    }

    /// The tool that the name says, read by its letters.
    ///
    /// For a shortened name this is no tool anybody has; [`WireNames::tool`] knows the one that is meant.
    pub fn literal(&self) -> Result<ToolId, WireNameError> {
        let (server, tool) = split(&self.0)?;
        Ok(ToolId { server: server.parse()?, tool: tool.parse()? })
    }
}

fn is_wire_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

fn split(text: &str) -> Result<(&str, &str), WireNameError> {
    let parts = text.strip_prefix(PREFIX).and_then(|rest| rest.split_once(SEPARATOR));
    parts.ok_or_else(|| WireNameError::Form { given: Quoted::of(text) })
}

fn check(text: &str) -> Result<(), WireNameError> {
    if text.len() > limits::WIRE_NAME_CHARS || !text.chars().all(is_wire_char) {
        return Err(WireNameError::Form { given: Quoted::of(text) });
    }
    let (server, tool) = split(text)?;
    server.parse::<super::id::ServerName>()?;
    tool.parse::<super::id::ToolName>()?;
    Ok(())
}

/// The wire names of a set of tools, in both directions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WireNames {
    by_name: BTreeMap<WireName, ToolId>,
}

/// Two tools of one server that models could not tell apart.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the tools {first} and {second} would both be called `{name}`")]
pub struct WireNameCollision {
    /// The name.
    pub name: WireName,
    /// The tool that sorts first.
    pub first: ToolId,
    /// The other.
    pub second: ToolId,
}

impl WireNameCollision {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        "Leave one of them out of the manifest, or have its server rename it."
    }
}

impl WireNames {
    /// The table of these tools; the order in which they come makes no difference.
    pub fn of(ids: impl IntoIterator<Item = ToolId>) -> Result<Self, WireNameCollision> {
        // Sorted first, so that the same set always gives the same table or the same error.
        let ids: BTreeSet<ToolId> = ids.into_iter().collect();
        let mut by_name: BTreeMap<WireName, ToolId> = BTreeMap::new();
        for second in ids {
            let name = WireName::of(&second);
            if let Some(first) = by_name.get(&name) {
                return Err(WireNameCollision { first: first.clone(), second, name });
            }
            by_name.insert(name, second);
        }
        Ok(Self { by_name })
    }

    /// The tool that is called by this name.
    pub fn tool(&self, name: &str) -> Option<&ToolId> {
        let name: WireName = name.parse().ok()?;
        self.by_name.get(&name)
    }

    /// The name of a tool of the set.
    pub fn name(&self, id: &ToolId) -> Option<WireName> {
        let name = WireName::of(id);
        (self.by_name.get(&name) == Some(id)).then_some(name)
    }

    /// All names with their tools, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&WireName, &ToolId)> {
        self.by_name.iter()
    }
}
