//! How the servers of a project are, for whoever shows it.

use std::sync::Arc;

use mxd_core::json::{Change, Difference};
use mxd_core::manifest::{DeclaredTool, Finding, LockedServer, Report, ServerSpec};
use mxd_core::tool::{Digest, ServerName, SideEffect, ToolName};
use mxd_tools::mcp::{Status, finding};

use super::stock::Source;

/// A server of a project.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerReport {
    /// Its name.
    pub name: ServerName,
    /// Who says that it is to be used.
    pub source: Source,
    /// How it is.
    pub state: ServerState,
    /// The tools that were accepted, or else declared, by name.
    pub tools: Vec<ToolReport>,
    /// How many agents are connected to it.
    pub agents: usize,
}

/// A tool of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolReport {
    /// Its name.
    pub name: ToolName,
    /// What it does to the world; nothing is known about one without a class, and it is not called.
    pub class: Option<SideEffect>,
    /// The digest of what was accepted.
    pub digest: Option<Digest>,
}

/// How a server is.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerState {
    /// No agent has needed it since the project was opened.
    Idle,
    /// It is being connected, for the first time or again.
    Connecting {
        /// Why it was lost.
        why: Option<String>,
    },
    /// It can be used.
    Ready,
    /// It offers something else than was accepted, and is not used until the user accepts that.
    Drifted(Arc<Report>),
    /// The user has not accepted what it offers, and it is not used.
    Unaccepted,
    /// It does not come back by itself.
    Down {
        /// Why.
        why: String,
        /// What to do about it.
        hint: String,
    },
}

/// One place at which a server offers something else than was accepted, with the words of both. They are the server's own:
/// whoever shows them shows what cannot be seen in them, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolChange {
    /// Which tool.
    pub tool: ToolName,
    /// Where in its definition; empty for the whole of it.
    pub path: String,
    /// What was accepted; nothing for what is new.
    pub was: Option<String>,
    /// What it says now; nothing for what is gone.
    pub now: Option<String>,
}

/// The manifest of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestReport {
    /// Its path in the repository.
    pub path: String,
    /// The digest of what was accepted; none as long as no agent has worked under it.
    pub accepted: Option<Digest>,
    /// The digest of what it says now, when that is another one: agents go on under what was accepted.
    pub changed: Option<Digest>,
}

impl ServerState {
    /// The differences, each in words; none unless it has drifted.
    pub fn differences(&self) -> Vec<String> {
        match self {
            Self::Drifted(report) => report.findings.iter().map(finding).collect(),
            Self::Idle | Self::Connecting { .. } | Self::Ready | Self::Unaccepted | Self::Down { .. } => {
                Vec::new()
            }
        }
    }

    /// The same with the words that were accepted and those that are offered now, for a person who has to decide.
    pub fn changes(&self) -> Vec<ToolChange> {
        let Self::Drifted(report) = self else { return Vec::new() };
        let mut changes = Vec::new();
        for finding in &report.findings {
            match finding {
                Finding::Drift { tool, differences, .. } => {
                    changes.extend(differences.iter().map(|one| ToolChange::of(tool, one)));
                }
                Finding::ToolNotLocked { tool, definition, .. } => changes.push(ToolChange {
                    tool: tool.clone(),
                    path: String::new(),
                    was: None,
                    now: Some(definition.clone()),
                }),
                _ => {}
            }
        }
        changes
    }

    /// In one sentence, for an agent; nothing when it can be used.
    pub(crate) fn trouble(&self, server: &ServerName) -> Option<String> {
        match self {
            Self::Idle | Self::Ready => None,
            Self::Connecting { why: None } => Some(format!("The server {server} is being connected.")),
            Self::Connecting { why: Some(why) } => {
                Some(format!("The server {server} was lost and is looked for again: {why}"))
            }
            Self::Drifted(_) => Some(format!(
                "The server {server} offers something else than the user accepted ({}). Its tools cannot be used until \
                 the user accepts that, which `mxd servers` shows.",
                self.differences().join("; ")
            )),
            Self::Unaccepted => {
                Some(format!("The server {server} is not used: the user has not accepted what it offers."))
            }
            Self::Down { why, .. } => Some(format!("The server {server} cannot be used: {why}")),
        }
    }
}

impl ToolChange {
    fn of(tool: &ToolName, difference: &Difference) -> Self {
        let (was, now) = match &difference.change {
            Change::Added { now } => (None, Some(now.clone())),
            Change::Removed { was } => (Some(was.clone()), None),
            Change::Replaced { was, now } => (Some(was.clone()), Some(now.clone())),
        };
        Self { tool: tool.clone(), path: difference.path.clone(), was, now }
    }
}

impl From<Status> for ServerState {
    fn from(status: Status) -> Self {
        match status {
            Status::Connecting { why, .. } => Self::Connecting { why },
            Status::Ready => Self::Ready,
            Status::Drifted(report) => Self::Drifted(report),
            Status::Unaccepted(_) => Self::Unaccepted,
            Status::Down { why, hint } => Self::Down { why, hint },
            Status::Closed => Self::Idle,
        }
    }
}

/// The tools of a server, as far as they are known.
pub(crate) fn tools(spec: &ServerSpec, locked: Option<&LockedServer>) -> Vec<ToolReport> {
    let declared = |tool: &DeclaredTool| ToolReport {
        name: tool.name.clone(),
        class: Some(tool.effect),
        digest: locked.and_then(|locked| Some(locked.tools.get(&tool.name)?.definition.digest())),
    };
    let accepted = locked.into_iter().flat_map(|locked| &locked.tools).map(|(name, tool)| ToolReport {
        name: name.clone(),
        class: tool.effect,
        digest: Some(tool.definition.digest()),
    });
    match spec.declared() {
        [] => accepted.collect(),
        tools => tools.iter().map(declared).collect(),
    }
}
