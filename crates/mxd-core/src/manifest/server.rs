//! A server as everything behind the files sees it, wherever it was declared.

use super::credential::{EnvName, HeaderName, Resolved, Resolver, Template, Unresolved};
use super::literal::Spot;
use super::lock::LockedServer;
use super::package::PackageDigest;
use crate::tool::{CleanText, EffectSet, Pin, PinnedTool, ServerName, SideEffect, ToolId, ToolName, Version};
use secrecy::SecretString;

/// A server that an agent may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSpec {
    /// What it is called.
    pub name: ServerName,
    /// How it is reached.
    pub transport: Transport,
    /// Which package runs, when somebody says so.
    pub package: Option<Package>,
    /// What it offers.
    pub tools: Tools,
    /// What happens when it is lost.
    pub reconnect: Reconnect,
    /// How long a call may take when its tool does not say so.
    pub timeout_ms: u64,
    /// Whether it may have the model of its agent write for it.
    pub sampling: Sampling,
    /// Whether agents may read what it has beside its tools.
    pub resources: ResourceAccess,
}

/// Whether a server may have the model of its agent write for it, at the expense of that agent's budget.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sampling {
    /// It may not, and is not told that it could.
    #[default]
    Off,
    /// It may.
    On,
}

/// Whether agents may list and read the resources of a server, and list its prompts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ResourceAccess {
    /// They may not, and are not told of them.
    #[default]
    Closed,
    /// They may, where they may read at all.
    Open,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// A program of ours, by its standard input and output.
    Stdio(Program),
    /// Streamable HTTP.
    Http(Remote),
    /// The older HTTP transport with server-sent events; not in manifests.
    Sse(Remote),
}

impl Transport {
    /// Its word.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Stdio(_) => "stdio",
            Self::Http(_) => "http",
            Self::Sse(_) => "sse",
        }
    }
}

/// A program to start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    /// What is run; no shell looks at it.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The variables it gets beside the few that every process gets.
    pub env: Vec<(EnvName, Template)>,
}

/// A server elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remote {
    /// Its URL: https, or http on this machine.
    pub endpoint: String,
    /// What every request carries.
    pub headers: Vec<(HeaderName, Template)>,
}

/// What runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Its version: the pin of its tools.
    pub version: Version,
    /// Its digest.
    pub digest: PackageDigest,
}

/// What a server offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tools {
    /// Exactly these.
    Declared(Vec<DeclaredTool>),
    /// What it offers when it is first seen; from then on the lock file says.
    FirstUse,
}

/// A tool as its manifest declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredTool {
    /// Its name.
    pub name: ToolName,
    /// What the author of the manifest says about it.
    pub description: CleanText,
    /// What it does to the world.
    pub effect: SideEffect,
    /// How long a call may take.
    pub timeout_ms: u64,
}

/// What happens when a server is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reconnect {
    /// It stays lost.
    Never,
    /// It is looked for so many times.
    UpTo(u64),
}

impl ServerSpec {
    /// The tools that are declared.
    pub fn declared(&self) -> &[DeclaredTool] {
        match &self.tools {
            Tools::Declared(tools) => tools,
            Tools::FirstUse => &[],
        }
    }

    /// A declared tool in its version.
    pub fn pinned(&self, tool: &DeclaredTool) -> Option<PinnedTool> {
        let id = ToolId { server: self.name.clone(), tool: tool.name.clone() };
        let version = self.package.as_ref()?.version.clone();
        Some(PinnedTool { id, pin: Pin::Version(version) })
    }

    /// Puts values in place of references, or names every variable that has none.
    pub fn resolve(
        &self,
        lookup: &dyn Fn(&str) -> Option<SecretString>,
    ) -> Result<Resolved, Vec<Unresolved>> {
        let mut resolver = Resolver::new(lookup);
        match &self.transport {
            Transport::Stdio(program) => {
                for (name, template) in &program.env {
                    let place = format!("env {name} of the server {}", self.name);
                    let value = resolver.value(Spot::Env, &place, template);
                    resolver.resolved.env.push((name.clone(), value));
                }
            }
            Transport::Http(remote) | Transport::Sse(remote) => {
                for (name, template) in &remote.headers {
                    let place = format!("header {name} of the server {}", self.name);
                    let value = resolver.value(Spot::Header, &place, template);
                    resolver.resolved.headers.push((name.clone(), value));
                }
            }
        }
        resolver.finish()
    }
}

/// The classes of all tools of a server together: they decide its sandbox.
///
/// A server without declared tools has the classes that its lock gives them, and none before.
pub fn effects_of_server(server: &ServerSpec, locked: Option<&LockedServer>) -> EffectSet {
    match &server.tools {
        Tools::Declared(tools) => tools.iter().map(|tool| tool.effect).collect(),
        Tools::FirstUse => locked
            .into_iter()
            .flat_map(|locked| locked.tools.values())
            .filter_map(|tool| tool.effect)
            .collect(),
    }
}
