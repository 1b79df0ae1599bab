//! Declared, locked, discovered: whether a server offers what it should, and everything that is different.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use super::definition::{DefinitionError, Discovered, ToolDefinition};
use super::limits;
use super::lock::{Identity, LockedServer};
use super::server::{Package, ServerSpec, Tools};
use crate::json::Difference;
use crate::tool::{Digest, ServerName, ToolName};

/// Everything that is different about one server, in one order: the server, then its tools by name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the server {server} does not offer what it should: {} differences", findings.len())]
pub struct Report {
    /// Which server.
    pub server: ServerName,
    /// The differences.
    pub findings: Vec<Finding>,
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// Nobody ever accepted what the server offers.
    ServerNotLocked,
    /// It is reached in another way than when it was accepted.
    OtherIdentity {
        /// How it was reached.
        was: Identity,
        /// How it is now.
        now: Identity,
    },
    /// It is another package than the accepted one.
    OtherPackage {
        /// What was accepted.
        was: Option<Package>,
        /// What the manifest says now.
        now: Option<Package>,
    },
    /// The server offers something that is no tool.
    Unreadable {
        /// Why not.
        error: DefinitionError,
    },
    /// The server offers more tools than any may.
    TooMany {
        /// How many.
        given: usize,
        /// How many it may offer.
        limit: usize,
    },
    /// It should be there and is not.
    Missing {
        /// Which tool.
        tool: ToolName,
    },
    /// It is there and should not be.
    Unexpected {
        /// Which tool.
        tool: ToolName,
    },
    /// It is there several times.
    Repeated {
        /// Which tool.
        tool: ToolName,
        /// How often.
        times: usize,
    },
    /// It is there as it should be, but nobody accepted its definition.
    ToolNotLocked {
        /// Which tool.
        tool: ToolName,
        /// The digest of what it says.
        now: Digest,
        /// All that it says, in its canonical spelling.
        definition: String,
    },
    /// It says something else than what was accepted.
    Drift {
        /// Which tool.
        tool: ToolName,
        /// The accepted digest.
        was: Digest,
        /// The digest of what it says now.
        now: Digest,
        /// Field by field.
        differences: Vec<Difference>,
    },
}

/// What a report comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// All is as it was accepted.
    Same,
    /// Nothing contradicts what was declared, but a person has yet to accept definitions.
    Unaccepted,
    /// The server offers something else.
    Drift,
}

impl Report {
    /// What it comes to.
    pub fn comparison(&self) -> Comparison {
        let is_new =
            |finding: &Finding| matches!(finding, Finding::ServerNotLocked | Finding::ToolNotLocked { .. });
        match &self.findings[..] {
            [] => Comparison::Same,
            findings if findings.iter().all(is_new) => Comparison::Unaccepted,
            _ => Comparison::Drift,
        }
    }

    /// Whether the server may be used without asking anybody.
    pub fn is_acceptable(&self) -> bool {
        self.comparison() == Comparison::Same
    }
}

/// Compares what a server should offer, what was accepted, and what it offers.
///
/// The tools that are declared must be exactly those that are there. A server without declared tools must
/// offer exactly those that are locked, once it is.
pub fn compare(server: &ServerSpec, locked: Option<&LockedServer>, discovered: &Discovered) -> Report {
    let mut findings = Vec::new();
    match locked {
        Some(locked) => compare_server(server, locked, &mut findings),
        None => findings.push(Finding::ServerNotLocked),
    }
    let unreadable = discovered.unreadable.iter();
    findings.extend(unreadable.map(|error| Finding::Unreadable { error: error.clone() }));
    let (given, limit) = (discovered.tools.len(), limits::TOOLS_PER_SERVER);
    if given > limit {
        findings.push(Finding::TooMany { given, limit });
    }
    let mut offered: BTreeMap<&ToolName, Vec<&ToolDefinition>> = BTreeMap::new();
    for tool in &discovered.tools {
        offered.entry(tool.name()).or_default().push(tool);
    }
    let expected: Option<BTreeSet<&ToolName>> = match &server.tools {
        Tools::Declared(tools) => Some(tools.iter().map(|tool| &tool.name).collect()),
        Tools::FirstUse => locked.map(|locked| locked.tools.keys().collect()),
    };
    let names: BTreeSet<&ToolName> =
        offered.keys().copied().chain(expected.iter().flatten().copied()).collect();
    for name in names {
        let definitions = offered.get(name).map_or(&[][..], Vec::as_slice);
        let is_expected = expected.as_ref().is_none_or(|expected| expected.contains(name));
        compare_tool(name, is_expected, definitions, &mut findings);
        compare_definition(name, locked, definitions, &mut findings);
    }
    Report { server: server.name.clone(), findings }
}

fn compare_server(server: &ServerSpec, locked: &LockedServer, findings: &mut Vec<Finding>) {
    let now = Identity::from(&server.transport);
    if now != locked.identity {
        findings.push(Finding::OtherIdentity { was: locked.identity.clone(), now });
    }
    if server.package != locked.package {
        let (was, now) = (locked.package.clone(), server.package.clone());
        findings.push(Finding::OtherPackage { was, now });
    }
}

/// The bijection: each expected tool once, and no other.
fn compare_tool(
    name: &ToolName,
    is_expected: bool,
    offered: &[&ToolDefinition],
    findings: &mut Vec<Finding>,
) {
    let tool = || name.clone();
    if is_expected && offered.is_empty() {
        findings.push(Finding::Missing { tool: tool() });
    }
    if !is_expected {
        findings.push(Finding::Unexpected { tool: tool() });
    }
    if offered.len() > 1 {
        findings.push(Finding::Repeated { tool: tool(), times: offered.len() });
    }
}

/// The definitions against the accepted one; of equal ones only the first is told.
fn compare_definition(
    name: &ToolName,
    locked: Option<&LockedServer>,
    offered: &[&ToolDefinition],
    findings: &mut Vec<Finding>,
) {
    // Without a lock of the server, that it has none says it all.
    let Some(locked) = locked else { return };
    let accepted = locked.tools.get(name).map(|tool| &tool.definition);
    let mut told = BTreeSet::new();
    for definition in offered.iter().filter(|definition| told.insert(definition.digest())) {
        let (tool, now) = (name.clone(), definition.digest());
        match accepted {
            None => {
                let definition = definition.canonical().to_owned();
                findings.push(Finding::ToolNotLocked { tool, now, definition });
            }
            Some(accepted) if accepted.digest() != now => {
                let differences = accepted.differences(definition);
                findings.push(Finding::Drift { tool, was: accepted.digest(), now, differences });
            }
            Some(_) => {}
        }
    }
}
