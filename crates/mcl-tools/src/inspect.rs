//! `list-servers`, `list-tools` and `describe-tool`: what a manifest says.

use std::fmt::Write as _;

use mxd_core::manifest::{
    AgentManifest, DeclaredTool, DigestState, NativeEntry, Package, PackageDigest, ResourceAccess, Sampling,
    ServerSpec,
};
use mxd_core::tool::ToolUri;
use serde_json::{Value, json};

use crate::answer::{Answer, BAD, DIM, Failure, Warning};
use crate::cli::{Common, ToolArgs};
use crate::files;
use crate::uri::{self, Meant};
use mxd_core::tool::visible;

/// A digest, in red when it is none.
pub(crate) fn shown(digest: &PackageDigest) -> String {
    match digest.state() {
        DigestState::Real => digest.to_string(),
        DigestState::Placeholder => format!("{BAD}{digest} placeholder{BAD:#}"),
    }
}

/// Whether a digest says anything, for programs.
pub(crate) fn state(digest: &PackageDigest) -> &'static str {
    match digest.state() {
        DigestState::Real => "real",
        DigestState::Placeholder => "placeholder",
    }
}

/// What should be known about a manifest that is well-formed.
pub(crate) fn warnings(manifest: &AgentManifest) -> Vec<Warning> {
    let placeholder = |name: String| {
        let what = format!("the package digest of {name} is a placeholder: nothing says what runs");
        Warning::danger(what, "Compute it with `mcl-tools digest --update`.")
    };
    let guessed = manifest.servers.iter().filter_map(guessed);
    manifest.placeholders().into_iter().map(placeholder).chain(guessed).collect()
}

/// The tools of a server whose class nobody has reviewed, in one warning.
fn guessed(server: &ServerSpec) -> Option<Warning> {
    let guessed = server.declared().iter().filter(|tool| tool.description.text().starts_with(REVIEW));
    let names: Vec<&str> = guessed.map(|tool| tool.name.as_str()).collect();
    let (classes, were) = match names.len() {
        0 => return None,
        1 => ("class", "was"),
        _ => ("classes", "were"),
    };
    let tools = counted(names.len(), "tool");
    let (server, names) = (&server.name, names.join(", "));
    let what = format!("the {classes} of {tools} of {server} {were} guessed by a program: {names}");
    Some(Warning::look(what, format!("Check each, and remove `{REVIEW}` from its description.")))
}

/// So many of them, in words.
pub(crate) fn counted(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

/// How a description begins whose class nobody has reviewed.
pub(crate) const REVIEW: &str = "REVIEW: ";

fn opened(common: &Common) -> Result<AgentManifest, Failure> {
    files::manifest(&common.manifest, common.placeholders())
}

/// A server, for programs.
pub(crate) fn server(server: &ServerSpec) -> Value {
    let package = server.package.as_ref();
    json!({
        "alias": server.name,
        "transport": server.transport.name(),
        "version": package.map(|package| package.version.to_string()),
        "package_digest": package.map(|package| package.digest.to_string()),
        "digest_state": package.map(|package| state(&package.digest)),
        "tools": server.declared().len(),
        "sampling": server.sampling == Sampling::On,
        "resources": server.resources == ResourceAccess::Open,
    })
}

pub(crate) fn servers(common: &Common) -> Result<Answer, Failure> {
    let manifest = opened(common)?;
    let mut text = String::new();
    for server in &manifest.servers {
        let Some(Package { version, digest }) = &server.package else { continue };
        let (transport, tools) = (server.transport.name(), server.declared().len());
        let digest = match digest.state() {
            DigestState::Real => format!("{digest}@{version}"),
            DigestState::Placeholder => format!("{BAD}{digest}@{version} placeholder{BAD:#}"),
        };
        let sampling = if server.sampling == Sampling::On { "\tsampling" } else { "" };
        let resources = if server.resources == ResourceAccess::Open { "\tresources" } else { "" };
        let tools = counted(tools, "tool");
        let _ = writeln!(text, "{}\t{transport}\t{digest}\t{tools}{sampling}{resources}", server.name);
    }
    let result = manifest.servers.iter().map(self::server).collect();
    Ok(Answer { result, text, warnings: warnings(&manifest), ..Answer::default() })
}

/// Every tool of a manifest by its URI, sorted.
pub(crate) fn uris(manifest: &AgentManifest) -> Vec<String> {
    let of_server = |server: &ServerSpec| -> Vec<String> {
        server.declared().iter().filter_map(|tool| server.pinned(tool)).map(|tool| tool.to_string()).collect()
    };
    let native = manifest.native_tools.iter().map(|entry| entry.tool.to_string());
    let mut uris: Vec<String> = manifest.servers.iter().flat_map(of_server).chain(native).collect();
    uris.sort();
    uris
}

pub(crate) fn tools(common: &Common) -> Result<Answer, Failure> {
    let manifest = opened(common)?;
    let uris = uris(&manifest);
    let text = uris.iter().map(|uri| format!("{uri}\n")).collect();
    Ok(Answer { result: uris.into(), text, warnings: warnings(&manifest), ..Answer::default() })
}

pub(crate) fn tool(common: &Common, args: &ToolArgs) -> Result<Answer, Failure> {
    let manifest = opened(common)?;
    let lock = files::lock(&common.lock())?;
    let warnings = warnings(&manifest);
    let described = match uri::find(&args.uri, &manifest, lock.as_ref())? {
        Meant::Native(entry) => native(entry),
        Meant::Server(server, tool) => {
            let pinned = server.pinned(tool);
            let accepted = lock.as_ref().and_then(|lock| lock.resolve(pinned.as_ref()?).ok());
            let allowed = manifest.allowed.contains(tool.effect);
            of_server(server, tool, (allowed, accepted.map(|locked| &locked.definition)))
        }
    };
    let (result, text) = described;
    Ok(Answer { result, text, warnings, ..Answer::default() })
}

type Accepted<'a> = (bool, Option<&'a mxd_core::manifest::ToolDefinition>);

fn of_server(server: &ServerSpec, tool: &DeclaredTool, (allowed, accepted): Accepted<'_>) -> (Value, String) {
    let uri = server.pinned(tool).map(|tool| tool.to_string()).unwrap_or_default();
    let definition = accepted.map(|definition| definition.canonical());
    let definition: Option<Value> = definition.and_then(|text| serde_json::from_str(text).ok());
    let digest = accepted.map(|definition| format!("sha256:{}", definition.digest()));
    let package = server.package.as_ref().map(|package| package.digest);
    let result = json!({
        "uri": uri,
        "provider": "mcp",
        "server": server.name,
        "name": tool.name,
        "description": tool.description.text(),
        "side_effect_class": tool.effect,
        "allowed": allowed,
        "timeout_ms": tool.timeout_ms,
        "package_digest": package.map(|digest| digest.to_string()),
        "digest_state": package.map(|digest| state(&digest)),
        "accepted_digest": digest,
        "accepted_definition": definition,
    });
    let mut text = String::new();
    let denied = if allowed { String::new() } else { format!(" {BAD}(not allowed by the manifest){BAD:#}") };
    let _ = writeln!(text, "URI:          {uri}");
    let _ = writeln!(text, "Description:  {}", tool.description.text());
    let _ = writeln!(text, "Side effect:  {}{denied}", tool.effect);
    let _ = writeln!(text, "Timeout:      {} ms", tool.timeout_ms);
    let _ = writeln!(text, "Provider:     mcp server {}", server.name);
    if let Some(package) = package {
        let _ = writeln!(text, "Package:      {}", shown(&package));
    }
    match (digest, definition) {
        (Some(digest), Some(definition)) => {
            let _ = writeln!(text, "Accepted:     {digest}");
            let pretty = serde_json::to_string_pretty(&definition).unwrap_or_default();
            let _ = writeln!(text, "{}", visible(&pretty));
        }
        _ => {
            let _ = writeln!(text, "Accepted:     {DIM}nobody has accepted its definition yet{DIM:#}");
        }
    }
    (result, text)
}

fn native(entry: &NativeEntry) -> (Value, String) {
    let uri = ToolUri::Native(entry.tool.clone());
    let result = json!({
        "uri": uri,
        "provider": "native",
        "namespace": entry.tool.namespace.name(),
        "name": entry.tool.name,
        "side_effect_class": entry.effect,
        "allowed": false,
        "digest": entry.digest.to_string(),
        "digest_state": state(&entry.digest),
    });
    let text = format!(
        "URI:          {uri}\nSide effect:  {}\nProvider:     native, namespace {}; it cannot be called\nDigest:       {}\n",
        entry.effect,
        entry.tool.namespace.name(),
        shown(&entry.digest),
    );
    (result, text)
}
