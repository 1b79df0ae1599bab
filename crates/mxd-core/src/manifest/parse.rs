//! Reading a manifest: every rule of `schema_version` 1, and all problems at once.

use super::agent::Agent;
use super::common;
use super::fault::{Fault, Faults, Problems};
use super::limits;
use super::package::{DigestState, PackageDigest};
use super::place::{Fields, Place, Unique};
use super::server::{DeclaredTool, Package, Program, Reconnect, Remote, ServerSpec, Tools, Transport};
use crate::json;
use crate::tool::{
    CleanText, Digest, EffectSet, Namespace, NativeTool, Pin, Quoted, ServerName, SideEffect, Version,
};

const MANIFEST_KEYS: &[&str] =
    &["schema_version", "agent", "description", "allowed_side_effects", "servers", "native_tools"];
const SERVER_KEYS: &[&str] = &[
    "alias",
    "transport",
    "command",
    "args",
    "env",
    "endpoint",
    "headers",
    "package_digest",
    "version",
    "tools",
    "sampling",
    "resources",
];
const TOOL_KEYS: &[&str] = &["name", "description", "side_effect_class", "timeout_ms"];
const NATIVE_KEYS: &[&str] = &["namespace", "name", "version", "digest", "side_effect_class"];

/// What an agent may use, as its manifest says. Nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentManifest {
    /// Whose manifest it is.
    pub agent: Agent,
    /// What the agent is for.
    pub description: CleanText,
    /// What its tools may do to the world; none when the manifest does not say.
    pub allowed: EffectSet,
    /// Its servers, in the order of the file.
    pub servers: Vec<ServerSpec>,
    /// Native tools: listed, and refused when they are called.
    pub native_tools: Vec<NativeEntry>,
    canonical: String,
}

/// A native tool in a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeEntry {
    /// Which tool.
    pub tool: NativeTool,
    /// The digest of its contract.
    pub digest: PackageDigest,
    /// What it does to the world.
    pub effect: SideEffect,
}

/// What to do with digests that nobody computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placeholders {
    /// They are problems.
    Refuse,
    /// They pass: for development only.
    Allow,
}

impl AgentManifest {
    /// Reads a manifest, or says everything that is wrong with it.
    pub fn parse(bytes: &[u8], placeholders: Placeholders) -> Result<Self, Problems> {
        let text = str::from_utf8(bytes).map_err(|_| Problems::whole(Fault::NotUtf8))?;
        let node = json::read(text, limits::MANIFEST).map_err(|error| Problems::whole(error.into()))?;
        let mut faults = Faults::of(text);
        let read = Reader { placeholders, faults: &mut faults }.manifest(&Place::root(&node));
        let manifest = read.and_then(|manifest| match json::canonical(&node) {
            Ok(canonical) => Some(Self { canonical, ..manifest }),
            Err(error) => {
                // A repeated key is told where it stands.
                if faults.is_empty() {
                    faults.add(node.at, "", error);
                }
                None
            }
        });
        faults.finish(manifest)
    }

    /// The one spelling of the manifest: what is hashed and signed.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// The name of the manifest by what it says: the SHA-256 of its canonical spelling.
    pub fn address(&self) -> Digest {
        Digest::of(self.canonical.as_bytes())
    }

    /// A server by its name.
    pub fn server(&self, name: &ServerName) -> Option<&ServerSpec> {
        self.servers.iter().find(|server| &server.name == name)
    }

    /// Where a digest is only a placeholder: servers and native tools, by name.
    pub fn placeholders(&self) -> Vec<String> {
        let packages = self.servers.iter().filter_map(|server| {
            let package = server.package.as_ref()?;
            Some((server.name.to_string(), package.digest))
        });
        let natives = self.native_tools.iter().map(|entry| (entry.tool.to_string(), entry.digest));
        let is_placeholder =
            |(_, digest): &(String, PackageDigest)| digest.state() == DigestState::Placeholder;
        packages.chain(natives).filter(is_placeholder).map(|(name, _)| name).collect()
    }
}

struct Reader<'f, 't> {
    placeholders: Placeholders,
    faults: &'f mut Faults<'t>,
}

impl Reader<'_, '_> {
    fn manifest(&mut self, root: &Place<'_>) -> Option<AgentManifest> {
        let fields = root.fields(self.faults, MANIFEST_KEYS)?;
        fields.schema_version(self.faults);
        let agent = fields.required(self.faults, "agent").and_then(|place| place.parsed(self.faults));
        let description = common::description(fields.optional("description"), self.faults);
        let allowed = fields.optional("allowed_side_effects").map(|place| self.effects(&place));
        let servers = fields.optional("servers").map(|place| self.servers(&place));
        let native_tools = fields.optional("native_tools").map(|place| self.natives(&place));
        Some(AgentManifest {
            agent: agent?,
            description,
            allowed: allowed.unwrap_or_default(),
            servers: servers.unwrap_or_default(),
            native_tools: native_tools.unwrap_or_default(),
            canonical: String::new(),
        })
    }

    fn effects(&mut self, place: &Place<'_>) -> EffectSet {
        let mut seen = Unique::default();
        let mut effects = EffectSet::NONE;
        for item in place.list(self.faults, SideEffect::ALL.len()) {
            if let Some(effect) = item.parsed::<SideEffect>(self.faults) {
                seen.note(self.faults, &effect, &item);
                effects = effects.with(effect);
            }
        }
        effects
    }

    fn servers(&mut self, place: &Place<'_>) -> Vec<ServerSpec> {
        let mut seen = Unique::default();
        let items = place.list(self.faults, limits::SERVERS);
        items.iter().filter_map(|item| self.server(item, &mut seen)).collect()
    }

    fn server(&mut self, place: &Place<'_>, seen: &mut Unique) -> Option<ServerSpec> {
        let fields = place.fields(self.faults, SERVER_KEYS)?;
        let name: Option<ServerName> = fields.required(self.faults, "alias").and_then(|alias| {
            let name = alias.parsed(self.faults)?;
            seen.note(self.faults, &name, &alias);
            Some(name)
        });
        let transport = self.transport(&fields);
        let version = fields.required(self.faults, "version").and_then(|place| self.version(&place));
        let digest = fields.required(self.faults, "package_digest").and_then(|place| self.digest(&place));
        let tools = fields.required(self.faults, "tools").map(|place| self.tools(&place));
        let sampling = common::sampling(fields.optional("sampling"), self.faults);
        let resources = common::resources(fields.optional("resources"), self.faults);
        Some(ServerSpec {
            name: name?,
            transport: transport?,
            package: Some(Package { version: version?, digest: digest? }),
            tools: Tools::Declared(tools?),
            reconnect: Reconnect::UpTo(limits::DEFAULT_RECONNECT_ATTEMPTS),
            timeout_ms: limits::DEFAULT_TIMEOUT_MS,
            sampling,
            resources,
        })
    }

    fn transport(&mut self, fields: &Fields<'_>) -> Option<Transport> {
        let place = fields.required(self.faults, "transport")?;
        match place.string(self.faults)? {
            "stdio" => {
                fields.refuse(self.faults, "stdio", &["endpoint", "headers"]);
                let command = fields.required(self.faults, "command");
                let command = command.and_then(|place| common::command(&place, self.faults));
                let args = fields.optional("args").map(|place| common::arguments(&place, self.faults));
                let env = fields.optional("env").map(|place| common::env_list(&place, self.faults));
                let (args, env) = (args.unwrap_or_default(), env.unwrap_or_default());
                Some(Transport::Stdio(Program { command: command?, args, env }))
            }
            "http" => {
                fields.refuse(self.faults, "http", &["command", "args", "env"]);
                let endpoint = fields.required(self.faults, "endpoint");
                let endpoint = endpoint.and_then(|place| common::endpoint(&place, self.faults));
                let headers = fields.optional("headers").map(|place| common::headers(&place, self.faults));
                Some(Transport::Http(Remote { endpoint: endpoint?, headers: headers.unwrap_or_default() }))
            }
            "sse" => {
                place.add(self.faults, Fault::Sse);
                self.look_at_both_transports(fields);
                None
            }
            other => {
                place.add(self.faults, Fault::Transport { given: Quoted::of(other) });
                self.look_at_both_transports(fields);
                None
            }
        }
    }

    /// Notes what is wrong with the fields of a transport that cannot be told: whoever mends the one mistake should not
    /// find the next one only then.
    fn look_at_both_transports(&mut self, fields: &Fields<'_>) {
        if let Some(place) = fields.optional("command") {
            common::command(&place, self.faults);
        }
        if let Some(place) = fields.optional("args") {
            common::arguments(&place, self.faults);
        }
        if let Some(place) = fields.optional("env") {
            common::env_list(&place, self.faults);
        }
        if let Some(place) = fields.optional("endpoint") {
            common::endpoint(&place, self.faults);
        }
        if let Some(place) = fields.optional("headers") {
            common::headers(&place, self.faults);
        }
    }

    fn version(&mut self, place: &Place<'_>) -> Option<Version> {
        match place.parsed(self.faults)? {
            Pin::Version(version) => Some(version),
            Pin::Sha256(_) => {
                place.add(self.faults, Fault::VersionIsDigest);
                None
            }
        }
    }

    fn digest(&mut self, place: &Place<'_>) -> Option<PackageDigest> {
        let digest: PackageDigest = place.parsed(self.faults)?;
        if digest.state() == DigestState::Placeholder && self.placeholders == Placeholders::Refuse {
            place.add(self.faults, Fault::PlaceholderDigest);
        }
        Some(digest)
    }

    fn tools(&mut self, place: &Place<'_>) -> Vec<DeclaredTool> {
        let mut seen = Unique::default();
        let items = place.list(self.faults, limits::TOOLS_PER_SERVER);
        if place.is_empty_list() {
            place.add(self.faults, Fault::Empty);
        }
        items.iter().filter_map(|item| self.tool(item, &mut seen)).collect()
    }

    fn tool(&mut self, place: &Place<'_>, seen: &mut Unique) -> Option<DeclaredTool> {
        let fields = place.fields(self.faults, TOOL_KEYS)?;
        let name = fields.required(self.faults, "name").and_then(|place| {
            let name = place.parsed(self.faults)?;
            seen.note(self.faults, &name, &place);
            Some(name)
        });
        let description = common::description(fields.optional("description"), self.faults);
        let effect = fields.required(self.faults, "side_effect_class");
        let effect = effect.and_then(|place| place.parsed(self.faults));
        let timeout_ms = common::timeout_ms(fields.optional("timeout_ms"), self.faults);
        Some(DeclaredTool { name: name?, description, effect: effect?, timeout_ms })
    }

    fn natives(&mut self, place: &Place<'_>) -> Vec<NativeEntry> {
        let mut seen = Unique::default();
        let items = place.list(self.faults, limits::NATIVE_TOOLS);
        items.iter().filter_map(|item| self.native(item, &mut seen)).collect()
    }

    fn native(&mut self, place: &Place<'_>, seen: &mut Unique) -> Option<NativeEntry> {
        let fields = place.fields(self.faults, NATIVE_KEYS)?;
        let namespace = fields.required(self.faults, "namespace").and_then(|place| self.namespace(&place));
        let name = fields.required(self.faults, "name").and_then(|place| place.parsed(self.faults));
        let pin = fields.required(self.faults, "version").and_then(|place| place.parsed(self.faults));
        let digest = fields.required(self.faults, "digest").and_then(|place| self.digest(&place));
        let effect = match fields.optional("side_effect_class") {
            Some(place) => place.parsed(self.faults),
            None => Some(SideEffect::Chain),
        };
        let tool = NativeTool { namespace: namespace?, name: name?, pin: pin? };
        seen.note(self.faults, &format!("{}/{}", tool.namespace.name(), tool.name), place);
        Some(NativeEntry { tool, digest: digest?, effect: effect? })
    }

    fn namespace(&mut self, place: &Place<'_>) -> Option<Namespace> {
        let word = place.string(self.faults)?;
        let found = Namespace::ALL.iter().find(|namespace| namespace.name() == word);
        if found.is_none() {
            place.add(self.faults, Fault::Namespace { given: Quoted::of(word) });
        }
        found.copied()
    }
}
