//! The built-in tools in a manifest.
//!
//! A manifest lists them as the server `mxd`, started as `mxd mcp`, in the version of the program. Nothing is started
//! for it: the program that reads the manifest has them. Its package digest is that of all definitions, because whoever
//! builds the program gets other bytes. The manifest need not list all of them; what it lists must be as it is here.

use mxd_core::manifest::{DigestState, Discovered, Placeholders, ServerSpec, Transport};
use mxd_core::raw::RawJson;
use mxd_core::tool::{Digest, SideEffect, ToolName};
use serde_json::json;
use thiserror::Error;

use super::list::{SERVER, tools};
use crate::package::definitions_digest;

/// How a manifest says that it means the built-in tools.
const COMMAND: (&str, &[&str]) = ("mxd", &["mcp"]);

/// What a manifest says wrongly about the built-in tools.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message above each variant says what its fields are")]
pub enum Misfit {
    #[error("the name {SERVER} belongs to the built-in tools")]
    Command,
    #[error("the built-in tools have version {}, not {declared}", env!("CARGO_PKG_VERSION"))]
    Version { declared: String },
    #[error("the definitions of the built-in tools are sha256:{found}, the manifest says sha256:{declared}")]
    Digest { declared: Digest, found: Digest },
    #[error("there is no built-in tool {tool}")]
    Unknown { tool: ToolName },
    #[error("the built-in tool {tool} has the class {found}, not {declared}")]
    Effect { tool: ToolName, declared: SideEffect, found: SideEffect },
    #[error("a call of the built-in tool {tool} may take {found} ms, not {declared}")]
    Timeout { tool: ToolName, declared: u64, found: u64 },
}

impl Misfit {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Command => {
                "Write \"command\": \"mxd\", \"args\": [\"mcp\"], or choose another alias.".to_owned()
            }
            Self::Version { .. } => format!("Write {}.", env!("CARGO_PKG_VERSION")),
            Self::Digest { found, .. } => format!("Look at what changed, then write sha256:{found}."),
            Self::Unknown { .. } => {
                let names: Vec<&str> = tools().iter().map(|listing| listing.name).collect();
                format!("There are {}.", names.join(", "))
            }
            Self::Effect { found, .. } => format!("Write {found}."),
            Self::Timeout { found, .. } => format!("Write {found}."),
        }
    }
}

/// Whether a server of a manifest is the built-in one.
pub fn is_built_in(server: &ServerSpec) -> bool {
    server.name.as_str() == SERVER
}

/// What the built-in tools say about themselves.
pub fn definitions() -> Discovered {
    let definition = |listing: super::Listing| {
        let definition = json!({
            "name": listing.name,
            "description": listing.description,
            "inputSchema": listing.input_schema,
        });
        RawJson::parse(&definition.to_string()).ok()
    };
    let definitions: Vec<RawJson> = tools().into_iter().filter_map(definition).collect();
    Discovered::read(&definitions)
}

/// What a manifest says wrongly about the built-in tools; nothing when it is right.
pub fn misfits(server: &ServerSpec, placeholders: Placeholders) -> Vec<Misfit> {
    let mut misfits = Vec::new();
    let is_ours = match &server.transport {
        Transport::Stdio(program) => program.command == COMMAND.0 && program.args == COMMAND.1,
        Transport::Http(_) | Transport::Sse(_) => false,
    };
    if !is_ours {
        return vec![Misfit::Command];
    }
    if let Some(package) = &server.package {
        if package.version.as_str() != env!("CARGO_PKG_VERSION") {
            misfits.push(Misfit::Version { declared: package.version.to_string() });
        }
        let passes =
            placeholders == Placeholders::Allow && package.digest.state() == DigestState::Placeholder;
        let (declared, found) = (package.digest.digest(), definitions_digest(&definitions()));
        if declared != found && !passes {
            misfits.push(Misfit::Digest { declared, found });
        }
    }
    let known = tools();
    for declared in server.declared() {
        let tool = declared.name.clone();
        let Some(listing) = known.iter().find(|listing| listing.name == tool.as_str()) else {
            misfits.push(Misfit::Unknown { tool });
            continue;
        };
        if declared.effect != listing.effect {
            let (declared, found) = (declared.effect, listing.effect);
            misfits.push(Misfit::Effect { tool: tool.clone(), declared, found });
        }
        if declared.timeout_ms != listing.timeout_ms {
            let (declared, found) = (declared.timeout_ms, listing.timeout_ms);
            misfits.push(Misfit::Timeout { tool, declared, found });
        }
    }
    misfits
}
