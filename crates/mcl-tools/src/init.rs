//! `init`: a manifest from a live server, for a person to review.

use mxd_core::manifest::{AgentManifest, Package, Placeholders, ServerSpec, Tools, Transport};
use mxd_core::raw::RawJson;
use mxd_core::tool::CleanText;
use mxd_tools::mcp::{Connection, class_of};
use mxd_tools::package::{PackageError, definitions_digest, is_companion};
use serde_json::{Map, Value, json};

use crate::answer::{Answer, Failure, Trouble, Warning};
use crate::cli::{Common, Init};
use crate::code::Code;
use crate::files;
use crate::inspect::{self, REVIEW};
use crate::live::{self, World, package_code, wait_for};

/// A digest that stands in for one that is not known yet.
const UNKNOWN: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000000";
/// Bytes of a server's own words about a tool that are taken over.
const DESCRIPTION_BYTES: usize = 300;

pub(crate) fn run(common: &Common, init: &Init) -> Result<Answer, Failure> {
    let probe = probe(init)?;
    let wrong = |error: PackageError| Trouble::new(package_code(&error), &error, error.hint());
    let measured = match &probe.transport {
        Transport::Stdio(program) if !is_companion(program) => {
            Some(live::to_measure(common, &init.with)?.measure(program).map_err(wrong)?)
        }
        // Nobody can look into a package that runs elsewhere: what it offers has to do.
        Transport::Stdio(_) | Transport::Http(_) | Transport::Sse(_) => None,
    };
    let known = init.version.as_ref().map(ToString::to_string);
    let known = known.or_else(|| measured.as_ref().and_then(|measured| measured.version.clone()));
    let (document, has_more) = wait_for(async {
        let common = Common { allow_placeholders: true, ..common.clone() };
        let world = World::open(&common, &init.with).await?;
        let mut server = probe.clone();
        server.tools = Tools::FirstUse;
        if let (Some(package), Some(known)) = (&mut server.package, &known) {
            package.version = known.parse().map_err(|_| no_version(known))?;
        }
        let connection = world.connect(&server).await?;
        let version = known.or_else(|| said_version(&connection)).ok_or_else(|| no_version("nothing"))?;
        let digest = match &measured {
            Some(measured) => measured.digest,
            None => definitions_digest(&connection.discovered()),
        };
        let document = document(init, &connection, (&version, &format!("sha256:{digest}")));
        let has_more = connection.introduction().capabilities.contains_key("resources");
        connection.close().await;
        document.map(|document| (document, has_more))
    })?;
    let mut answer = written(init, &document)?;
    if has_more {
        let what = format!("{} has resources, which an agent may not read as it is", init.alias);
        let hint =
            "Look at them with `mcl-tools list-resources`; \"resources\": true in its entry allows it.";
        answer.warnings.push(Warning::look(what, hint));
    }
    Ok(answer)
}

fn no_version(given: &str) -> Trouble {
    let what = format!("the server says {given} about its version, which is none of the form 1.2.3");
    Trouble::new(Code::Usage, what, "Say it with --server-version.")
}

fn said_version(connection: &Connection) -> Option<String> {
    let info = connection.introduction().server_info.as_ref()?;
    let version = info.get("version")?.as_str()?;
    version.parse::<mxd_core::tool::Version>().ok().map(|version| version.to_string())
}

/// The server as the command line gives it, held to every rule of manifests.
fn probe(init: &Init) -> Result<ServerSpec, Failure> {
    let mut server = described(init)?;
    server["package_digest"] = json!(UNKNOWN);
    server["version"] = json!("0.0.0");
    server["tools"] = json!([{ "name": "unknown", "side_effect_class": "read" }]);
    let document = json!({ "schema_version": 1, "agent": init.agent, "servers": [server] });
    let parsed = AgentManifest::parse(document.to_string().as_bytes(), Placeholders::Allow);
    let manifest = parsed.map_err(|problems| {
        let told = Trouble::of_file("the command line", &problems);
        told.into_iter()
            .map(|trouble| Trouble { code: Code::Usage, line: None, ..trouble })
            .collect::<Failure>()
    })?;
    manifest.servers.into_iter().next().ok_or_else(Vec::new)
}

/// How the server is reached, as a manifest says it.
fn described(init: &Init) -> Result<Value, Failure> {
    if let Some(url) = &init.url {
        let mut headers = Map::new();
        for item in &init.header {
            let what = || format!("--header {item} has no name");
            let hint = "Write --header NAME=value, credentials as $env:NAME.";
            let (name, value) =
                item.split_once('=').ok_or_else(|| Trouble::new(Code::Usage, what(), hint))?;
            headers.insert(name.to_owned(), json!(value));
        }
        let mut server = json!({ "alias": init.alias, "transport": "http", "endpoint": url });
        if !headers.is_empty() {
            server["headers"] = Value::Object(headers);
        }
        return Ok(server);
    }
    let (command, args) =
        init.command.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    let mut server = json!({ "alias": init.alias, "transport": "stdio", "command": command, "args": args });
    if !init.env.is_empty() {
        server["env"] = json!(init.env);
    }
    Ok(server)
}

/// The same server without anything that holds it.
pub(crate) fn unheld(server: &ServerSpec) -> ServerSpec {
    let placeholder = UNKNOWN.parse().ok();
    let package = server.package.as_ref().zip(placeholder);
    let package = package.map(|(package, digest)| Package { version: package.version.clone(), digest });
    ServerSpec { package, ..server.clone() }
}

fn document(init: &Init, connection: &Connection, (version, digest): (&str, &str)) -> Result<Value, Failure> {
    let tools: Vec<Value> = connection.definitions().iter().filter_map(tool).collect();
    let mut server = described(init)?;
    server["package_digest"] = json!(digest);
    server["version"] = json!(version);
    server["tools"] = tools.into();
    Ok(json!({
        "schema_version": 1,
        "agent": init.agent,
        "description": "Written by mcl-tools init. Review the class of every tool before you allow more than read.",
        "allowed_side_effects": ["read"],
        "servers": [server],
    }))
}

/// A tool with the class that its own words suggest. Nobody should rely on them.
fn tool(definition: &RawJson) -> Option<Value> {
    let definition: Value = serde_json::from_str(definition.get()).ok()?;
    let name = definition.get("name")?.as_str()?;
    let (class, why) = class_of(&definition);
    let words = definition.get("description").and_then(Value::as_str).unwrap_or_default();
    let words = CleanText::clean(words.lines().next().unwrap_or_default(), DESCRIPTION_BYTES);
    let description = format!("{REVIEW}{class} because {why}. {}", words.text());
    Some(json!({
        "name": name,
        "description": description.trim_end(),
        "side_effect_class": class,
        "timeout_ms": mxd_core::manifest::limits::DEFAULT_TIMEOUT_MS,
    }))
}

fn written(init: &Init, document: &Value) -> Result<Answer, Failure> {
    let pretty = format!("{}\n", serde_json::to_string_pretty(document).unwrap_or_default());
    let manifest = AgentManifest::parse(pretty.as_bytes(), Placeholders::Refuse)
        .map_err(|problems| Trouble::of_file("the server", &problems))?;
    let warnings = inspect::warnings(&manifest);
    let text = match &init.output {
        None => pretty,
        Some(path) if path.exists() => {
            let what = format!("{} is there already", path.display());
            return Err(Trouble::new(Code::Usage, what, "Choose another file, or remove it.").into());
        }
        Some(path) => {
            files::write(path, &pretty)?;
            format!("{} is written. Review the class of every tool in it.\n", path.display())
        }
    };
    let result = json!({ "manifest": document, "output": init.output });
    Ok(Answer { result, text, warnings, ..Answer::default() })
}
