//! The lock file: what every server offered when a person last looked, definition by definition.
//!
//! The definitions themselves are in it, not only their digests, so that a change can be shown.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::value::RawValue;
use thiserror::Error;

use super::common;
use super::definition::{DefinitionError, Discovered, ToolDefinition};
use super::fault::{Fault, Faults, Problems};
use super::limits;
use super::package::{DigestState, PackageDigest};
use super::place::{Fields, Place};
use super::server::{Package, ServerSpec, Transport};
use crate::json;
use crate::tool::{Digest, Pin, PinnedTool, Quoted, ServerName, SideEffect, ToolName};

const LOCK_KEYS: &[&str] = &["schema_version", "servers"];
const SERVER_KEYS: &[&str] = &["version", "package_digest", "transport", "tools"];
const TOOL_KEYS: &[&str] = &["digest", "definition", "side_effect_class"];
const IDENTITY_KEYS: &[&str] = &["type", "command", "args", "endpoint"];

/// What was accepted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LockFile {
    /// Servers by name.
    pub servers: BTreeMap<ServerName, LockedServer>,
}

/// A server that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedServer {
    /// What ran, when somebody says so.
    pub package: Option<Package>,
    /// How it was reached.
    pub identity: Identity,
    /// Its tools by name.
    pub tools: BTreeMap<ToolName, LockedTool>,
}

/// A tool that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedTool {
    /// What its server said about it.
    pub definition: ToolDefinition,
    /// What it does to the world, for a server whose tools no manifest declares.
    pub effect: Option<SideEffect>,
}

/// What makes a server the same one: how it is reached, without credentials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Identity {
    /// A program.
    Stdio {
        /// What is run.
        command: String,
        /// With which arguments.
        args: Vec<String>,
    },
    /// Streamable HTTP.
    Http {
        /// Its URL.
        endpoint: String,
    },
    /// The older HTTP transport.
    Sse {
        /// Its URL.
        endpoint: String,
    },
}

impl From<&Transport> for Identity {
    fn from(transport: &Transport) -> Self {
        match transport {
            Transport::Stdio(program) => {
                Self::Stdio { command: program.command.clone(), args: program.args.clone() }
            }
            Transport::Http(remote) => Self::Http { endpoint: remote.endpoint.clone() },
            Transport::Sse(remote) => Self::Sse { endpoint: remote.endpoint.clone() },
        }
    }
}

/// Why a pinned tool is not one that was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message above each variant says what its fields are")]
pub enum Unlocked {
    #[error("the server {server} is not in the lock file")]
    Server { server: ServerName },
    #[error("the tool {tool} of the server {server} is not in the lock file")]
    Tool { server: ServerName, tool: ToolName },
    #[error("{tool} is pinned to something else than the lock file has")]
    Pin { tool: PinnedTool },
}

impl Unlocked {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Server { .. } | Self::Tool { .. } => {
                "Look at what the server offers and run `mcl-tools lock`."
            }
            Self::Pin { .. } => {
                "Pin the version of the server, the digest of its package, or the digest of the tool."
            }
        }
    }
}

impl LockFile {
    /// Reads a lock file, or says everything that is wrong with it.
    pub fn parse(bytes: &[u8]) -> Result<Self, Problems> {
        let text = str::from_utf8(bytes).map_err(|_| Problems::whole(Fault::NotUtf8))?;
        let node = json::read(text, limits::LOCK).map_err(|error| Problems::whole(error.into()))?;
        let mut faults = Faults::of(text);
        let read = read(&Place::root(&node), &mut faults);
        faults.finish(read)
    }

    /// The accepted tool that is meant: by the version of its server, by the digest of the server's package,
    /// or by the tool's own digest. A placeholder means nothing.
    pub fn resolve(&self, tool: &PinnedTool) -> Result<&LockedTool, Unlocked> {
        let name = || tool.id.server.clone();
        let server = self.servers.get(&tool.id.server).ok_or_else(|| Unlocked::Server { server: name() })?;
        let locked = server.tools.get(&tool.id.tool);
        let locked = locked.ok_or_else(|| Unlocked::Tool { server: name(), tool: tool.id.tool.clone() })?;
        let package = server.package.as_ref();
        let is_meant = match &tool.pin {
            Pin::Version(version) => package.is_some_and(|package| package.version == *version),
            Pin::Sha256(digest) => {
                let real = package.filter(|package| package.digest.state() == DigestState::Real);
                locked.definition.digest() == *digest
                    || real.is_some_and(|package| package.digest.digest() == *digest)
            }
        };
        if is_meant { Ok(locked) } else { Err(Unlocked::Pin { tool: tool.clone() }) }
    }
}

impl LockedServer {
    /// Writes down what a server offers now. Classes are kept for tools that had one.
    pub fn accept(server: &ServerSpec, discovered: &Discovered, before: Option<&Self>) -> Self {
        let tool = |definition: &ToolDefinition| {
            let effect = before.and_then(|before| before.tools.get(definition.name())?.effect);
            (definition.name().clone(), LockedTool { definition: definition.clone(), effect })
        };
        Self {
            package: server.package.clone(),
            identity: (&server.transport).into(),
            tools: discovered.tools.iter().map(tool).collect(),
        }
    }
}

fn read(root: &Place<'_>, faults: &mut Faults<'_>) -> Option<LockFile> {
    let fields = root.fields(faults, LOCK_KEYS)?;
    fields.schema_version(faults);
    let servers = fields.required(faults, "servers")?;
    let mut lock = LockFile::default();
    for (name, place) in servers.map(faults, limits::SERVERS) {
        let server = server(&place, faults);
        match (name.parse(), server) {
            (Ok(name), Some(server)) => drop(lock.servers.insert(name, server)),
            (Ok(_), None) => {}
            (Err(error), _) => place.add(faults, Fault::Name(error)),
        }
    }
    Some(lock)
}

fn server(place: &Place<'_>, faults: &mut Faults<'_>) -> Option<LockedServer> {
    let fields = place.fields(faults, SERVER_KEYS)?;
    let package = package(&fields, faults);
    let transport = fields.required(faults, "transport");
    let identity = transport.and_then(|place| identity(&place, faults));
    let mut tools = BTreeMap::new();
    let listed = fields.required(faults, "tools").map(|place| place.map(faults, limits::TOOLS_PER_SERVER));
    for (name, place) in listed? {
        let tool = tool(name, &place, faults);
        match (name.parse(), tool) {
            (Ok(name), Some(tool)) => drop(tools.insert(name, tool)),
            (Ok(_), None) => {}
            (Err(error), _) => place.add(faults, Fault::Name(error)),
        }
    }
    Some(LockedServer { package, identity: identity?, tools })
}

/// Both fields, or none of them.
fn package(fields: &Fields<'_>, faults: &mut Faults<'_>) -> Option<Package> {
    if fields.optional("version").is_none() && fields.optional("package_digest").is_none() {
        return None;
    }
    let version = fields.required(faults, "version").and_then(|place| place.parsed(faults));
    let digest = fields.required(faults, "package_digest").and_then(|place| place.parsed(faults));
    Some(Package { version: version?, digest: digest? })
}

fn identity(place: &Place<'_>, faults: &mut Faults<'_>) -> Option<Identity> {
    let fields = place.fields(faults, IDENTITY_KEYS)?;
    let kind = fields.required(faults, "type")?;
    match kind.string(faults)? {
        "stdio" => {
            fields.refuse(faults, "stdio", &["endpoint"]);
            let command =
                fields.required(faults, "command").and_then(|place| common::command(&place, faults));
            let args = fields.required(faults, "args").map(|place| common::arguments(&place, faults));
            Some(Identity::Stdio { command: command?, args: args? })
        }
        "http" => remote("http", &fields, faults).map(|endpoint| Identity::Http { endpoint }),
        "sse" => remote("sse", &fields, faults).map(|endpoint| Identity::Sse { endpoint }),
        other => {
            kind.add(faults, Fault::Transport { given: Quoted::of(other) });
            None
        }
    }
}

fn remote(transport: &'static str, fields: &Fields<'_>, faults: &mut Faults<'_>) -> Option<String> {
    fields.refuse(faults, transport, &["command", "args"]);
    fields.required(faults, "endpoint").and_then(|place| common::endpoint(&place, faults))
}

fn tool(name: &str, place: &Place<'_>, faults: &mut Faults<'_>) -> Option<LockedTool> {
    let fields = place.fields(faults, TOOL_KEYS)?;
    let effect = fields.optional("side_effect_class").and_then(|place| place.parsed(faults));
    let digest = fields.required(faults, "digest").and_then(|place| place.parsed::<PackageDigest>(faults));
    let place = fields.required(faults, "definition")?;
    let definition = ToolDefinition::of(place.node).map_err(|error| place.add(faults, error)).ok()?;
    if definition.name().as_str() != name {
        place.add(faults, Fault::OtherDefinition { found: Quoted::of(definition.name().as_str()) });
    }
    if digest?.digest() != definition.digest() {
        place.add(faults, Fault::TamperedDefinition);
    }
    Some(LockedTool { definition, effect })
}

impl From<DefinitionError> for Fault {
    fn from(error: DefinitionError) -> Self {
        match error {
            DefinitionError::Json(error) => Self::Json(error),
            DefinitionError::NotAnObject { found } => Self::Type { expected: "an object", found },
            DefinitionError::Nameless => Self::Missing { key: "name" },
            DefinitionError::Name(error) => Self::Name(error),
            DefinitionError::Canonical { error, .. } => Self::Canonical(error),
        }
    }
}

#[derive(Serialize)]
struct File<'a> {
    schema_version: u32,
    servers: BTreeMap<&'a ServerName, ServerEntry<'a>>,
}

#[derive(Serialize)]
struct ServerEntry<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    package_digest: Option<String>,
    transport: &'a Identity,
    tools: BTreeMap<&'a ToolName, ToolEntry>,
}

#[derive(Serialize)]
struct ToolEntry {
    digest: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    side_effect_class: Option<SideEffect>,
    definition: Box<RawValue>,
}

impl ToolEntry {
    fn of(tool: &LockedTool) -> Result<Self, serde_json::Error> {
        let digest: Digest = tool.definition.digest();
        Ok(Self {
            digest: Pin::Sha256(digest).to_string(),
            side_effect_class: tool.effect,
            definition: RawValue::from_string(tool.definition.canonical().to_owned())?,
        })
    }
}

impl ServerEntry<'_> {
    fn of(server: &LockedServer) -> Result<ServerEntry<'_>, serde_json::Error> {
        let entry = |(name, tool)| Ok((name, ToolEntry::of(tool)?));
        Ok(ServerEntry {
            version: server.package.as_ref().map(|package| package.version.to_string()),
            package_digest: server.package.as_ref().map(|package| package.digest.to_string()),
            transport: &server.identity,
            tools: server.tools.iter().map(entry).collect::<Result<_, serde_json::Error>>()?,
        })
    }
}

impl fmt::Display for LockFile {
    /// The file: sorted, and a definition on a line, so that version control shows what changed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = |(name, server)| Ok((name, ServerEntry::of(server)?));
        let servers: Result<_, serde_json::Error> = self.servers.iter().map(entry).collect();
        let text =
            servers.and_then(|servers| serde_json::to_string_pretty(&File { schema_version: 1, servers }));
        writeln!(f, "{}", text.map_err(|_| fmt::Error)?)
    }
}
