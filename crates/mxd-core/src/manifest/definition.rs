//! The definition of a tool as its server gives it, and its digest.
//!
//! A server that changes what a tool says about itself changes what models do with it. So the digest covers
//! everything of the definition that anybody acts upon: name, title, description, schemas and annotations.
//! Icons and private metadata are left out.

use thiserror::Error;

use super::limits;
use crate::json::{self, Bounds, CanonicalError, Difference, JsonError, Kind, Node};
use crate::raw::RawJson;
use crate::tool::{Digest, NameError, Quoted, ToolName};

const NAME: &str = "name";
const COVERED: &[&str] = &[NAME, "title", "description", "inputSchema", "outputSchema", "annotations"];

/// What a server says about one of its tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDefinition {
    name: ToolName,
    canonical: String,
}

/// Why what a server says is no definition of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message above each variant says what its fields are")]
pub enum DefinitionError {
    #[error("a definition cannot be read: {0}")]
    Json(#[from] JsonError),
    #[error("a definition is {found} instead of an object")]
    NotAnObject { found: &'static str },
    #[error("a definition has no name")]
    Nameless,
    #[error("a definition has a bad name: {0}")]
    Name(#[from] NameError),
    #[error("the definition of {tool} cannot be hashed: {error}")]
    Canonical { tool: Quoted, error: CanonicalError },
}

impl DefinitionError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Json(error) => error.hint(),
            Self::NotAnObject { .. } | Self::Nameless => "Ask the server's author to follow MCP.",
            Self::Name(error) => error.hint(),
            Self::Canonical { error, .. } => error.hint(),
        }
    }
}

impl ToolDefinition {
    /// Reads an element of what `tools/list` answers.
    pub fn read(definition: &RawJson) -> Result<Self, DefinitionError> {
        Self::of(&json::read(definition.get(), limits::DEFINITION)?)
    }

    pub(super) fn of(node: &Node<'_>) -> Result<Self, DefinitionError> {
        let Kind::Object(members) = &node.kind else {
            return Err(DefinitionError::NotAnObject { found: node.kind.name() });
        };
        // Some servers write null for what they do not have.
        let is_covered =
            |(key, value): &&(String, Node<'_>)| COVERED.contains(&key.as_str()) && value.kind != Kind::Null;
        let covered: Vec<_> = members.iter().filter(is_covered).cloned().collect();
        let name = covered.iter().find(|(key, _)| key == NAME).ok_or(DefinitionError::Nameless)?;
        let Kind::String(name) = &name.1.kind else { return Err(DefinitionError::Nameless) };
        let name: ToolName = name.parse()?;
        let covered = Node { at: node.at, kind: Kind::Object(covered) };
        let failed = |error| DefinitionError::Canonical { tool: Quoted::of(name.as_str()), error };
        let canonical = json::canonical(&covered).map_err(failed)?;
        Ok(Self { name, canonical })
    }

    /// The name of the tool.
    pub fn name(&self) -> &ToolName {
        &self.name
    }

    /// The definition in its canonical spelling, without what the digest does not cover.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// The SHA-256 of the canonical spelling.
    pub fn digest(&self) -> Digest {
        Digest::of(self.canonical.as_bytes())
    }

    /// What is different in another definition, field by field.
    pub fn differences(&self, now: &Self) -> Vec<Difference> {
        // What was read once reads again; a canonical spelling is never longer than its limit for that.
        let bounds = Bounds { bytes: usize::MAX, ..limits::DEFINITION };
        match (json::read(&self.canonical, bounds), json::read(&now.canonical, bounds)) {
            (Ok(was), Ok(now)) => json::differences(&was, &now),
            (Err(_), _) | (_, Err(_)) => Vec::new(),
        }
    }
}

/// What a server offers: its definitions, and what it offers beside them that is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Discovered {
    /// The definitions, as they came: a tool may be there twice.
    pub tools: Vec<ToolDefinition>,
    /// What cannot be read.
    pub unreadable: Vec<DefinitionError>,
}

impl Discovered {
    /// Reads all elements of what `tools/list` answers.
    pub fn read<'a>(definitions: impl IntoIterator<Item = &'a RawJson>) -> Self {
        let mut discovered = Self::default();
        for definition in definitions {
            match ToolDefinition::read(definition) {
                Ok(tool) => discovered.tools.push(tool),
                Err(error) => discovered.unreadable.push(error),
            }
        }
        discovered
    }
}
