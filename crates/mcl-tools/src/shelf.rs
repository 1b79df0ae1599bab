//! `list-resources`, `read-resource` and `list-prompts`: what servers have beside their tools.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mxd_core::manifest::{AgentManifest, ResourceAccess, ServerSpec};
use mxd_core::tool::{CleanText, Quoted, SideEffect};
use mxd_tools::builtin;
use mxd_tools::mcp::{Argument, CallError, CallOptions, Prompts, Resource, Resources, Servers};
use serde_json::{Value, json};

use crate::answer::{Answer, Failure, Trouble, Warning};
use crate::cli::{Common, LiveArgs, OfServer, ReadResource};
use crate::code::Code;
use crate::live::{World, wait_for};
use crate::{caller, files, inspect};
use mxd_core::tool::visible;

pub(crate) fn resources(common: &Common, of: &OfServer) -> Result<Answer, Failure> {
    let (manifest, server) = meant(common, &of.server)?;
    let name = server.name.clone();
    let list = |servers: Servers| async move { servers.resources(&name).await };
    let Resources { resources, templates, left_out } = asked(common, &of.with, &server, list)?;
    let mut text = String::new();
    let rows = resources.iter().map(|one| ("resource", one));
    for (what, one) in rows.chain(templates.iter().map(|one| ("template", one))) {
        let _ = writeln!(text, "{what}\t{}", row(one));
    }
    let mut warnings = inspect::warnings(&manifest);
    warnings.extend(unaddressed(left_out, &server));
    match (text.is_empty(), refusal(&manifest, &server)) {
        (true, _) => text = format!("{} has no resources.\n", server.name),
        (false, Some((why, hint))) => warnings.push(Warning::look(why, hint)),
        (false, None) => {}
    }
    let result = json!({
        "server": server.name,
        "open": server.resources == ResourceAccess::Open,
        "resources": resources,
        "templates": templates,
        "left_out": left_out,
    });
    Ok(Answer { result, text, warnings, ..Answer::default() })
}

pub(crate) fn prompts(common: &Common, of: &OfServer) -> Result<Answer, Failure> {
    let (manifest, server) = meant(common, &of.server)?;
    let name = server.name.clone();
    let list = |servers: Servers| async move { servers.prompts(&name).await };
    let Prompts { prompts, left_out } = asked(common, &of.with, &server, list)?;
    let mut text = String::new();
    for prompt in &prompts {
        let argument = |one: &Argument| format!("{}{}", one.name, if one.required { "" } else { "?" });
        let arguments: Vec<String> = prompt.arguments.iter().map(argument).collect();
        let _ = writeln!(text, "{}({})\t{}", prompt.name, arguments.join(", "), prompt.description);
    }
    if prompts.is_empty() {
        text = format!("{} has no prompts.\n", server.name);
    }
    let warnings = inspect::warnings(&manifest).into_iter().chain(unaddressed(left_out, &server)).collect();
    let result = json!({ "server": server.name, "prompts": prompts, "left_out": left_out });
    Ok(Answer { result, text, warnings, ..Answer::default() })
}

pub(crate) fn read(common: &Common, read: &ReadResource) -> Result<Answer, Failure> {
    let (manifest, server) = meant(common, &read.server)?;
    if let Some((why, hint)) = refusal(&manifest, &server) {
        return Err(Trouble::new(Code::Denied, why, hint).of_server(&server.name).into());
    }
    if let Some(path) = read.output.as_deref().filter(|path| path.exists()) {
        let what = format!("{} is there already", path.display());
        return Err(Trouble::new(Code::Usage, what, "Choose another file, or remove it.").into());
    }
    let (name, uri) = (server.name.clone(), read.uri.clone());
    let options = CallOptions::within(Duration::from_secs(read.timeout));
    let ask = |servers: Servers| async move { servers.read_resource(&name, &uri, options).await };
    let found = asked(common, &read.with, &server, ask)?;
    let pieces = pieces(&found).map_err(|why| odd(&server, &why))?;
    let mut answer = Answer { warnings: inspect::warnings(&manifest), ..Answer::default() };
    answer.result = json!({ "server": server.name, "uri": read.uri, "contents": found["contents"] });
    match &read.output {
        Some(path) => answer.text = written(path, &pieces, &server)?,
        None => answer.text = shown(&pieces),
    }
    Ok(answer)
}

/// The server that is meant, which must be one that can have such things.
fn meant(common: &Common, alias: &str) -> Result<(AgentManifest, ServerSpec), Failure> {
    let manifest = files::manifest(&common.manifest, common.placeholders())?;
    let found = manifest.servers.iter().find(|server| server.name.as_str() == alias).cloned();
    let hint = "`mcl-tools list-servers` has those that are.";
    match found {
        Some(server) if builtin::is_built_in(&server) => {
            let what = format!("{alias} are the built-in tools, which have neither resources nor prompts");
            Err(Trouble::new(Code::Denied, what, "Name another server.").of_server(alias).into())
        }
        Some(server) => Ok((manifest, server)),
        None => {
            let what = format!("the server {} is not in the manifest", Quoted::of(alias));
            Err(Trouble::new(Code::Denied, what, hint).into())
        }
    }
}

/// Why an agent of this manifest may not read what a server has, and what to do about it.
fn refusal(manifest: &AgentManifest, server: &ServerSpec) -> Option<(String, &'static str)> {
    let name = &server.name;
    if server.resources == ResourceAccess::Closed {
        let why = format!("the manifest does not let its agent read resources of {name}");
        return Some((why, "Write \"resources\": true into the entry of the server."));
    }
    let why = format!("resources of {name} are of the class read, which the manifest does not allow");
    let hint = "Add \"read\" to allowed_side_effects.";
    (!manifest.allowed.contains(SideEffect::Read)).then_some((why, hint))
}

/// Connects one server, asks it, and ends it.
fn asked<T, F: Future<Output = Result<T, CallError>>>(
    common: &Common,
    with: &LiveArgs,
    server: &ServerSpec,
    ask: impl FnOnce(Servers) -> F,
) -> Result<T, Failure> {
    wait_for(async {
        let world = World::open(common, with).await?;
        let servers = caller::connect(&world, &[server]).await?;
        world.progress.tell(format!("asking {} …", server.name));
        let found = ask(servers.clone()).await;
        servers.close().await;
        found.map_err(|error| failed(server, &error).into())
    })
}

fn failed(server: &ServerSpec, error: &CallError) -> Trouble {
    let code = match error {
        CallError::NoAddress { .. } => Code::Usage,
        CallError::Unavailable { .. } => Code::Unavailable,
        CallError::Drifted { .. } => Code::Drift,
        CallError::TimedOut { .. } | CallError::Cancelled { .. } => Code::Stopped,
        _ => Code::ToolFailed,
    };
    let hint = match error {
        CallError::Refused { .. } => "`mcl-tools list-resources` shows what it has.",
        _ => error.hint(),
    };
    Trouble::new(code, error, hint).of_server(&server.name)
}

fn odd(server: &ServerSpec, why: &str) -> Trouble {
    failed(server, &CallError::BadResult { server: server.name.clone(), why: why.to_owned() })
}

/// What is told of entries that nobody could ask for.
fn unaddressed(left_out: usize, server: &ServerSpec) -> Option<Warning> {
    let what = format!(
        "{left_out} more of {} cannot be asked for: without an address, too long, or with characters that nobody sees",
        server.name
    );
    (left_out > 0).then(|| Warning::look(what, "Ask the server's author."))
}

fn row(one: &Resource) -> String {
    let size = one.size.map_or_else(|| "-".to_owned(), |size| format!("{size} bytes"));
    let kind = one.mime_type.as_deref().filter(|kind| !kind.is_empty()).unwrap_or("-");
    let words = [&one.name, &one.description].map(String::as_str);
    let words: Vec<&str> = words.into_iter().filter(|words| !words.is_empty()).collect();
    format!("{}\t{kind}\t{size}\t{}", one.uri, words.join(": "))
}

/// A piece of a resource.
struct Piece {
    kind: String,
    content: Content,
}

enum Content {
    Text(String),
    Bytes(Vec<u8>),
}

/// What a server sent as the contents of a resource.
fn pieces(result: &Value) -> Result<Vec<Piece>, String> {
    let contents = result.get("contents").and_then(Value::as_array).ok_or("it has no contents")?;
    let piece = |content: &Value| {
        let text = |name: &str| content.get(name).and_then(Value::as_str);
        let kind = CleanText::clean(text("mimeType").unwrap_or("application/octet-stream"), 200);
        let content = match (text("text"), text("blob")) {
            (Some(words), _) => Content::Text(words.to_owned()),
            (None, Some(blob)) => {
                let bytes =
                    STANDARD.decode(blob).map_err(|error| format!("its bytes are no base64: {error}"));
                Content::Bytes(bytes?)
            }
            (None, None) => return Err("it has neither text nor bytes".to_owned()),
        };
        Ok(Piece { kind: kind.text().to_owned(), content })
    };
    contents.iter().map(piece).collect()
}

/// A resource for a person.
fn shown(pieces: &[Piece]) -> String {
    if pieces.is_empty() {
        return "It is empty.\n".to_owned();
    }
    let line = |Piece { kind, content }: &Piece| match content {
        Content::Text(words) => format!("{}\n", visible(words.trim_end_matches('\n'))),
        Content::Bytes(bytes) => {
            format!("[{kind}, {} bytes; --output writes them into a file]\n", bytes.len())
        }
    };
    pieces.iter().map(line).collect()
}

/// Writes a resource of one piece as it is.
fn written(path: &Path, pieces: &[Piece], server: &ServerSpec) -> Result<String, Trouble> {
    let [Piece { content, kind }] = pieces else {
        let what = format!("the resource has {} pieces, which are no one file", pieces.len());
        return Err(Trouble::new(Code::Usage, what, "Read it with --json.").of_server(&server.name));
    };
    let bytes = match content {
        Content::Text(words) => words.as_bytes(),
        Content::Bytes(bytes) => bytes,
    };
    files::write(path, bytes)?;
    Ok(format!("{} is written: {kind}, {} bytes.\n", path.display(), bytes.len()))
}
