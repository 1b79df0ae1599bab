//! All tools that can be called, by the name models use.

use std::collections::BTreeMap;
use std::sync::Arc;

use mxd_core::prompt::ToolSpec;
use mxd_core::raw::RawJson;
use mxd_core::tool::{
    Annotations, ArgProblem, NameError, Pin, PinError, PinState, SideEffect, ToolDef, ToolDefError,
    ToolFacts, ToolId, ToolOffer, WireName,
};
use serde_json::Value;

use super::function::Function;
use super::schema::{Schema, SchemaError};
use crate::builtin::{self, BuiltIn, Listing};
use crate::mcp::{McpTool, ReadingTool};

/// Tools of one registry.
pub const MAX_TOOLS: usize = 1_000;

/// What runs a tool.
#[derive(Debug, Clone)]
pub enum Executor {
    /// A function of ours.
    BuiltIn(BuiltIn),
    /// A function of the program that holds the plane.
    Function(Function),
    /// A tool of an MCP server.
    Mcp(Box<McpTool>),
    /// A tool about what MCP servers have beside tools.
    Reading(Box<ReadingTool>),
}

impl Executor {
    /// Whether it cannot go on because somebody else is being asked: time stands still meanwhile.
    pub(super) fn is_held_up(&self) -> bool {
        match self {
            Self::Mcp(tool) => tool.is_held_up(),
            Self::Reading(tool) => tool.is_held_up(),
            Self::BuiltIn(_) | Self::Function(_) => false,
        }
    }
}

/// All tools that can be called. Copies share what was compiled.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    tools: BTreeMap<WireName, Entry>,
}

#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) def: ToolDef,
    pub(super) schema: Arc<Schema>,
    pub(super) executor: Executor,
}

/// Why a tool cannot be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// There are too many.
    #[error("there are {MAX_TOOLS} tools already; leave some out of the manifest")]
    Full,
    /// Another tool has its name.
    #[error("{first} and {second} would both be called `{name}`; leave one out of the manifest")]
    Taken {
        /// The name.
        name: WireName,
        /// Who has it.
        first: ToolId,
        /// Who wants it.
        second: ToolId,
    },
    /// Arguments cannot be checked.
    #[error("{tool}: {source}")]
    Schema {
        /// Whose.
        tool: ToolId,
        /// Why.
        source: SchemaError,
    },
    /// It is not described as tools are.
    #[error(transparent)]
    Definition(#[from] ToolDefError),
    /// It is not named as tools are.
    #[error(transparent)]
    Name(#[from] NameError),
    /// It has no version.
    #[error(transparent)]
    Pin(#[from] PinError),
}

impl Registry {
    /// The built-in tools.
    ///
    /// # Errors
    ///
    /// When one of them is not as tools have to be, which a test excludes.
    pub fn built_in() -> Result<Self, RegistryError> {
        let mut registry = Self::default();
        for listing in builtin::tools() {
            registry.register(OwnTool::from(&listing).definition()?, Executor::BuiltIn(listing.tool))?;
        }
        Ok(registry)
    }

    /// Adds a tool.
    ///
    /// # Errors
    ///
    /// When its name is taken, its schema is none, or there are too many.
    pub fn register(&mut self, def: ToolDef, executor: Executor) -> Result<(), RegistryError> {
        let id = &def.facts.id;
        let name = WireName::of(id);
        if let Some(other) = self.tools.get(&name) {
            let (first, second) = (other.def.facts.id.clone(), id.clone());
            return Err(RegistryError::Taken { name, first, second });
        }
        if self.tools.len() >= MAX_TOOLS {
            return Err(RegistryError::Full);
        }
        let schema = compiled(def.input.given())
            .map_err(|source| RegistryError::Schema { tool: id.clone(), source })?;
        let schema = Arc::new(schema);
        self.tools.insert(name, Entry { def, schema, executor });
        Ok(())
    }

    /// What models are told about the tools, always in the same order.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.values().map(|entry| entry.def.spec()).collect()
    }

    /// The tools, in the same order.
    pub fn defs(&self) -> impl Iterator<Item = &ToolDef> {
        self.tools.values().map(|entry| &entry.def)
    }

    /// What is wrong with these arguments of a tool; nothing when there is no such tool.
    pub fn argument_problems(&self, tool: &ToolId, args: &Value) -> Vec<ArgProblem> {
        let entry = self.tools.get(&WireName::of(tool));
        entry.map(|entry| entry.schema.problems(args)).unwrap_or_default()
    }

    /// The tool of this name.
    pub(super) fn find(&self, name: &str) -> Option<&Entry> {
        let name: WireName = name.parse().ok()?;
        self.tools.get(&name)
    }
}

fn compiled(schema: &RawJson) -> Result<Schema, SchemaError> {
    let value: Value =
        serde_json::from_str(schema.get()).map_err(|error| SchemaError { why: error.to_string() })?;
    Schema::compile(&value)
}

/// A tool of ours, as a model sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnTool<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) input_schema: &'a Value,
    pub(crate) effect: SideEffect,
    pub(crate) timeout_ms: u64,
}

impl<'a> From<&'a Listing> for OwnTool<'a> {
    fn from(listing: &'a Listing) -> Self {
        Self {
            name: listing.name,
            description: listing.description,
            input_schema: &listing.input_schema,
            effect: listing.effect,
            timeout_ms: listing.timeout_ms,
        }
    }
}

impl OwnTool<'_> {
    /// It is pinned to the version of the program that has it.
    pub(crate) fn definition(self) -> Result<ToolDef, RegistryError> {
        let id = ToolId { server: builtin::SERVER.parse()?, tool: self.name.parse()? };
        let pin: Pin = env!("CARGO_PKG_VERSION").parse()?;
        let facts = ToolFacts { id: id.clone(), pin: PinState::Held(pin), effect: Some(self.effect) };
        let schema = RawJson::parse(&self.input_schema.to_string()).map_err(|error| {
            RegistryError::Schema { tool: id, source: SchemaError { why: error.to_string() } }
        })?;
        Ok(ToolDef::from_offer(ToolOffer {
            facts,
            title: "",
            description: self.description,
            input_schema: &schema,
            output_schema: None,
            timeout_ms: self.timeout_ms,
            annotations: Annotations::default(),
        })?)
    }
}
