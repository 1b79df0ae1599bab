//! The short form: the `mcpServers` of a configuration, lowered into the same servers as a manifest's.
//!
//! Nobody declares tools here. What a server offers is taken when it is first seen and accepted; from then on
//! the lock file holds it to that. Only here the older transport sse is allowed.

use super::common;
use super::fault::{Fault, Faults, Problems};
use super::limits;
use super::place::{Fields, Place};
use super::server::{Program, Reconnect, Remote, ResourceAccess, Sampling, ServerSpec, Tools, Transport};
use crate::json::{self, member_path};
use crate::tool::{Quoted, ServerName};

const KEYS: &[&str] = &[
    "command",
    "args",
    "env",
    "url",
    "headers",
    "type",
    "timeout",
    "reconnect",
    "max_reconnect_attempts",
    "sampling",
    "resources",
    "disabled",
];

/// Names that no server of a configuration may have: tools of both would have the same name, and providers refuse that.
const RESERVED: &[&str] = &["mxd"];

/// Where the object stands in its configuration.
const ROOT: &str = "mcpServers";

/// Reads the object `mcpServers` of a configuration: one server per member, without the disabled ones.
///
/// `timeout` is in seconds.
pub fn parse_mcp_servers(bytes: &[u8]) -> Result<Vec<ServerSpec>, Problems> {
    let text = str::from_utf8(bytes).map_err(|_| Problems::whole(Fault::NotUtf8))?;
    let node = json::read(text, limits::MANIFEST).map_err(|error| Problems::whole(error.into()))?;
    let mut faults = Faults::of(text);
    let root = Place { node: &node, path: ROOT.to_owned() };
    let mut servers = Vec::new();
    for (name, place) in root.map(&mut faults, limits::SERVERS) {
        if RESERVED.contains(&name) {
            let fault = Fault::ReservedName { given: Quoted::of(name) };
            faults.add(place.node.at, &member_path(ROOT, name), fault);
        }
        match name.parse() {
            Ok(name) => servers.extend(server(name, &place, &mut faults)),
            Err(error) => {
                faults.add(place.node.at, &member_path(ROOT, name), Fault::Name(error));
                server_fields(&place, &mut faults);
            }
        }
    }
    let enabled =
        servers.into_iter().filter_map(|(server, state)| (state == State::Enabled).then_some(server));
    faults.finish(Some(enabled.collect()))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Enabled,
    Disabled,
}

/// What of a server does not depend on its name.
struct Lowered {
    transport: Transport,
    reconnect: Reconnect,
    timeout_ms: u64,
    sampling: Sampling,
    resources: ResourceAccess,
    state: State,
}

fn server(name: ServerName, place: &Place<'_>, faults: &mut Faults<'_>) -> Option<(ServerSpec, State)> {
    let Lowered { transport, reconnect, timeout_ms, sampling, resources, state } =
        server_fields(place, faults)?;
    let (package, tools) = (None, Tools::FirstUse);
    let spec = ServerSpec { name, transport, package, tools, reconnect, timeout_ms, sampling, resources };
    Some((spec, state))
}

fn server_fields(place: &Place<'_>, faults: &mut Faults<'_>) -> Option<Lowered> {
    let fields = place.fields(faults, KEYS)?;
    let transport = transport(place, &fields, faults);
    let timeout_ms = common::timeout_seconds(fields.optional("timeout"), faults);
    let reconnect = reconnect(&fields, faults);
    let sampling = common::sampling(fields.optional("sampling"), faults);
    let resources = common::resources(fields.optional("resources"), faults);
    let disabled = fields.optional("disabled").and_then(|place| place.boolean(faults));
    let state = if disabled == Some(true) { State::Disabled } else { State::Enabled };
    Some(Lowered { transport: transport?, reconnect, timeout_ms, sampling, resources, state })
}

fn reconnect(fields: &Fields<'_>, faults: &mut Faults<'_>) -> Reconnect {
    let wanted = fields.optional("reconnect").and_then(|place| place.boolean(faults));
    let attempts = fields.optional("max_reconnect_attempts");
    let attempts = attempts.and_then(|place| place.whole(faults, (0, limits::RECONNECT_ATTEMPTS)));
    match (wanted, attempts.unwrap_or(limits::DEFAULT_RECONNECT_ATTEMPTS)) {
        (Some(false), _) | (_, 0) => Reconnect::Never,
        (Some(true) | None, attempts) => Reconnect::UpTo(attempts),
    }
}

fn transport(place: &Place<'_>, fields: &Fields<'_>, faults: &mut Faults<'_>) -> Option<Transport> {
    let kind = match fields.optional("type") {
        Some(kind) => match kind.string(faults)? {
            word @ ("stdio" | "http" | "sse") => word,
            other => {
                kind.add(faults, Fault::Transport { given: Quoted::of(other) });
                look_at_both_transports(fields, faults);
                return None;
            }
        },
        None if fields.optional("command").is_some() => "stdio",
        None if fields.optional("url").is_some() => "http",
        None => {
            place.add(faults, Fault::NoTransport);
            look_at_both_transports(fields, faults);
            return None;
        }
    };
    match kind {
        "stdio" => program(fields, faults).map(Transport::Stdio),
        "sse" => remote("sse", fields, faults).map(Transport::Sse),
        _ => remote("http", fields, faults).map(Transport::Http),
    }
}

/// Notes what is wrong with the members of a transport that cannot be told, so that no mistake hides another.
fn look_at_both_transports(fields: &Fields<'_>, faults: &mut Faults<'_>) {
    if let Some(place) = fields.optional("command") {
        common::command(&place, faults);
    }
    if let Some(place) = fields.optional("args") {
        common::arguments(&place, faults);
    }
    if let Some(place) = fields.optional("env") {
        common::env_map(&place, faults);
    }
    if let Some(place) = fields.optional("url") {
        common::endpoint(&place, faults);
    }
    if let Some(place) = fields.optional("headers") {
        common::headers(&place, faults);
    }
}

fn program(fields: &Fields<'_>, faults: &mut Faults<'_>) -> Option<Program> {
    fields.refuse(faults, "stdio", &["url", "headers"]);
    let command = fields.required(faults, "command").and_then(|place| common::command(&place, faults));
    let args = fields.optional("args").map(|place| common::arguments(&place, faults));
    let env = fields.optional("env").map(|place| common::env_map(&place, faults));
    Some(Program { command: command?, args: args.unwrap_or_default(), env: env.unwrap_or_default() })
}

fn remote(transport: &'static str, fields: &Fields<'_>, faults: &mut Faults<'_>) -> Option<Remote> {
    fields.refuse(faults, transport, &["command", "args", "env"]);
    let endpoint = fields.required(faults, "url").and_then(|place| common::endpoint(&place, faults));
    let headers = fields.optional("headers").map(|place| common::headers(&place, faults));
    Some(Remote { endpoint: endpoint?, headers: headers.unwrap_or_default() })
}
