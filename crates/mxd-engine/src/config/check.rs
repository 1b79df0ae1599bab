//! What the schema cannot say: who may say what, credentials, addresses, patterns, servers and rules.

use std::net::IpAddr;
use std::path::{Component, Path};

use mxd_core::json::Position;
use mxd_core::manifest::{DidKey, EnvName, parse_mcp_servers};
use mxd_core::tool::{ApprovalPolicy, Quoted};
use mxd_llm::Models;
use mxd_tools::proxy::HostRules;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use url::{Host, Url};

use super::keys::{self, Repository};
use super::layer::Layer;
use super::problem::{Fault, Problem};
use super::read::LayerFile;
use super::secret::{REFERENCE, is_literal};

/// The members of an auth group that are credentials.
pub(super) const SECRETS: [&str; 4] = ["anthropicApiKey", "claudeOauthToken", "openaiApiKey", "proxy"];

/// The members of an auth group that belong to one provider.
const OF_PROVIDER: [(&str, &str); 6] = [
    ("claudeOauthToken", "anthropic"),
    ("anthropicApiKey", "anthropic"),
    ("anthropicBaseUrl", "anthropic"),
    ("openaiApiKey", "openai"),
    ("openaiBaseUrl", "openai"),
    ("wire", "openai"),
];

/// Everything that is wrong with a layer beside its shape.
pub(super) fn layer(file: &LayerFile) -> Vec<Problem> {
    let mut found = Found { file, problems: Vec::new() };
    if file.layer == Layer::Repository {
        found.authority("", "", &file.value);
    }
    found.auth_groups();
    found.servers();
    found.policy();
    found.network();
    found.signers();
    found.paths();
    found.addresses();
    found.models();
    found.problems
}

struct Found<'f> {
    file: &'f LayerFile,
    problems: Vec<Problem>,
}

impl Found<'_> {
    fn add(&mut self, pointer: &str, fault: Fault) {
        self.problems.push(self.file.problem(pointer, fault));
    }

    fn at(&self, pointer: &str) -> Option<&Value> {
        self.file.value.pointer(pointer)
    }

    fn list(&self, pointer: &str) -> Vec<(String, String)> {
        let elements = self.at(pointer).and_then(Value::as_array).cloned().unwrap_or_default();
        let text =
            |(index, value): (usize, Value)| Some((format!("{pointer}/{index}"), value.as_str()?.to_owned()));
        elements.into_iter().enumerate().filter_map(text).collect()
    }

    /// What a repository says that is not its to say.
    fn authority(&mut self, path: &str, pointer: &str, value: &Value) {
        if path.is_empty() || keys::is_group(path) {
            let members: Vec<(String, Value)> =
                value.as_object().map(|map| map.clone().into_iter().collect()).unwrap_or_default();
            for (key, value) in members {
                let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                self.authority(&below, &below_pointer(pointer, &key), &value);
            }
            return;
        }
        let Some(key) = keys::of_path(path) else { return };
        match key.repository {
            Repository::MayAdd | Repository::MayLower => {}
            Repository::MayNot => self.add(pointer, Fault::NotTheRepositorys { narrower: None }),
            Repository::MayNarrow(words) => self.narrowed(key.path, pointer, value, words),
        }
    }

    fn narrowed(&mut self, key: &str, pointer: &str, value: &Value, words: &'static str) {
        let fault = || Fault::NotTheRepositorys { narrower: Some(words) };
        match (key, value) {
            ("approvals.rules", Value::Array(rules)) => {
                for (index, rule) in rules.iter().enumerate() {
                    if rule.get("ruling").and_then(Value::as_str) != Some("deny") {
                        self.add(&format!("{pointer}/{index}"), fault());
                    }
                }
            }
            ("mcpServers", Value::Object(servers)) if pointer == "/mcpServers" => {
                for (name, server) in servers {
                    let below = below_pointer(pointer, name);
                    if server.get("sampling") == Some(&Value::Bool(true)) {
                        self.add(&below_pointer(&below, "sampling"), fault());
                    }
                    self.narrowed(key, &below, server, words);
                }
            }
            (_, Value::String(text)) if text.contains(REFERENCE) => self.add(pointer, fault()),
            (_, Value::Array(elements)) => {
                for (index, element) in elements.iter().enumerate() {
                    self.narrowed(key, &format!("{pointer}/{index}"), element, words);
                }
            }
            (_, Value::Object(members)) => {
                for (name, member) in members {
                    self.narrowed(key, &below_pointer(pointer, name), member, words);
                }
            }
            _ => {}
        }
    }

    fn auth_groups(&mut self) {
        let groups = self.at("/authGroups").and_then(Value::as_object).cloned().unwrap_or_default();
        let mut has_literal = false;
        for (name, group) in &groups {
            let Some(group) = group.as_object() else { continue };
            let pointer = below_pointer("/authGroups", name);
            has_literal |= self.secrets(&pointer, group);
            let provider = group.get("provider").and_then(Value::as_str).unwrap_or_default();
            for (member, of) in OF_PROVIDER {
                if group.contains_key(member) && of != provider {
                    let provider = if of == "openai" { "anthropic" } else { "openai" };
                    self.add(&below_pointer(&pointer, member), Fault::OtherProvider { provider });
                }
            }
            if group.contains_key("anthropicApiKey") && group.contains_key("claudeOauthToken") {
                let problem = "a group has a key or a token, not both".to_owned();
                self.add(&below_pointer(&pointer, "claudeOauthToken"), Fault::Shape { problem });
            }
            for url in ["anthropicBaseUrl", "openaiBaseUrl"] {
                let Some(text) = group.get(url).and_then(Value::as_str) else { continue };
                let has_key = SECRETS.iter().any(|key| *key != "proxy" && group.contains_key(*key));
                if let Err(fault) = check_url(text, has_key) {
                    self.add(&below_pointer(&pointer, url), fault);
                }
            }
        }
        let exposed = self.file.mode.filter(|mode| mode & 0o077 != 0);
        if let (true, Some(mode)) = (has_literal, exposed) {
            self.add("", Fault::Exposed { mode });
        }
    }

    fn secrets(&mut self, pointer: &str, group: &Map<String, Value>) -> bool {
        let mut has_literal = false;
        for member in SECRETS {
            let Some(text) = group.get(member).and_then(Value::as_str) else { continue };
            let at = below_pointer(pointer, member);
            match text.strip_prefix(REFERENCE) {
                Some(name) if name.parse::<EnvName>().is_err() => self.add(&at, Fault::Reference),
                Some(_) => {}
                None => {
                    has_literal |= is_literal(text);
                    if self.file.layer != Layer::User {
                        self.add(&at, Fault::LiteralSecret { layer: self.file.layer });
                    }
                }
            }
        }
        has_literal
    }

    fn servers(&mut self) {
        let members: Result<std::collections::BTreeMap<String, &RawValue>, _> =
            serde_json::from_str(&self.file.text);
        let Some(text) = members.ok().and_then(|members| members.get("mcpServers").map(|raw| raw.get()))
        else {
            return;
        };
        let Err(faults) = parse_mcp_servers(text.as_bytes()) else { return };
        let place = self.file.problem("/mcpServers", Fault::NotUtf8);
        for fault in faults.problems {
            let position = place.position.map(|start| moved(start, fault.position));
            let path = if fault.path.is_empty() { place.path.clone() } else { fault.path };
            let fault = Fault::Server(Box::new(fault.fault));
            self.problems.push(Problem { path, position, fault, ..place.clone() });
        }
    }

    fn policy(&mut self) {
        let Some(approvals) = self.at("/approvals").cloned() else { return };
        if let Err(error) = serde_json::from_value::<ApprovalPolicy>(approvals) {
            self.add("/approvals", Fault::Shape { problem: Quoted::of(&error.to_string()).to_string() });
        }
    }

    fn network(&mut self) {
        for list in ["allow", "allowPrivate", "deny"] {
            for (pointer, rule) in self.list(&format!("/sandbox/network/{list}")) {
                if let Err(error) = HostRules::default().deny(&rule) {
                    self.add(&pointer, Fault::Rule(error));
                }
            }
        }
    }

    fn signers(&mut self) {
        for (pointer, signer) in self.list("/manifestSigners") {
            if let Err(fault) = signer.parse::<DidKey>() {
                self.add(&pointer, Fault::Server(Box::new(fault)));
            }
        }
    }

    fn paths(&mut self) {
        let manifest = self.at("/manifest").and_then(Value::as_str).map(str::to_owned);
        let mut inside: Vec<(String, String)> =
            manifest.into_iter().map(|path| ("/manifest".to_owned(), path)).collect();
        inside.extend(self.list("/skills"));
        inside.extend(self.list("/include"));
        for (pointer, path) in inside {
            let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
            if !Path::new(&path).components().all(plain) {
                self.add(&pointer, Fault::LeadsOut);
            }
        }
        for (pointer, glob) in self.list("/include") {
            if let Err(error) = globset::Glob::new(&glob) {
                self.add(&pointer, Fault::Shape { problem: format!("it is no glob: {}", error.kind()) });
            }
        }
        for list in ["/sandbox/read", "/sandbox/write"] {
            for (pointer, path) in self.list(list) {
                if !Path::new(&path).is_absolute() {
                    self.add(&pointer, Fault::NotAbsolute);
                }
            }
        }
    }

    fn addresses(&mut self) {
        let host = self.at("/host").and_then(Value::as_str);
        if host.is_some_and(|host| host.parse::<IpAddr>().is_err()) {
            self.add("/host", Fault::Host);
        }
        let collector = self.at("/telemetry/endpoint").and_then(Value::as_str);
        if let Some(Err(fault)) = collector.map(|text| check_url(text, false)) {
            self.add("/telemetry/endpoint", fault);
        }
    }

    fn models(&mut self) {
        let Some(models) = self.at("/models").cloned() else { return };
        if Models::parse_overrides(&models.to_string()).is_err() {
            self.add(
                "/models",
                Fault::Shape { problem: "an entry holds a number that is no price".to_owned() },
            );
        }
    }
}

fn below_pointer(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// A position in a text that begins at another position.
fn moved(start: Position, inside: Position) -> Position {
    match inside.line {
        1 => Position { line: start.line, column: start.column + inside.column - 1 },
        line => Position { line: start.line + line - 1, column: inside.column },
    }
}

fn check_url(text: &str, has_key: bool) -> Result<(), Fault> {
    let url = Url::parse(text).map_err(|_| Fault::Url { why: "it cannot be read" })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Fault::Url { why: "it does not begin with http:// or https://" });
    }
    if !url.username().is_empty()
        || url.password().is_some()
        || url.query().is_some()
        || url.fragment().is_some()
    {
        return Err(Fault::Url { why: "it holds more than a host and a path" });
    }
    let here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    if url.scheme() == "http" && has_key && !here { Err(Fault::PlainHttp) } else { Ok(()) }
}

/// What is wrong only in view of the other layers.
pub(super) fn together(files: &[LayerFile]) -> Vec<Problem> {
    let mut problems = raised(files);
    problems.extend(replaced(files));
    problems.extend(unknown_groups(files));
    problems.extend(open_to_all(files));
    problems
}

/// Groups that are named and do not exist.
pub(super) fn unknown_groups(files: &[LayerFile]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let groups = |file: &LayerFile| -> Vec<String> {
        let groups = file.value.get("authGroups").and_then(Value::as_object);
        groups.map(|groups| groups.keys().cloned().collect()).unwrap_or_default()
    };
    let known: Vec<String> = files.iter().flat_map(groups).collect();
    for file in files {
        for key in ["defaultAuth", "childAuth"] {
            let Some(name) = file.value.get(key).and_then(Value::as_str) else { continue };
            if !known.iter().any(|known| known == name) {
                let known =
                    known.iter().map(|name| Quoted::of(name).to_string()).collect::<Vec<_>>().join(", ");
                problems.push(file.problem(&format!("/{key}"), Fault::UnknownGroup { known }));
            }
        }
    }
    problems
}

/// Models that are chosen and that nothing is known about. A file with one is read all the same: the model may have been
/// known to another version of this program.
pub(super) fn unknown_models(files: &[LayerFile]) -> Vec<Problem> {
    let Ok(mut known) = Models::built_in() else { return Vec::new() };
    for file in files {
        let own = file.value.get("models").map(Value::to_string);
        if let Some(Ok(own)) = own.map(|own| Models::parse_overrides(&own)) {
            known = known.with(own);
        }
    }
    let mut problems = Vec::new();
    for file in files {
        for key in ["model", "childModel"] {
            let chosen = file.value.get(key).and_then(Value::as_str);
            if chosen.is_some_and(|name| known.get(name).is_err()) {
                problems.push(file.problem(&format!("/{key}"), Fault::UnknownModel));
            }
        }
    }
    problems
}

fn strongest<'f>(files: &'f [LayerFile], pointer: &str) -> Option<(&'f LayerFile, &'f Value)> {
    files.iter().rev().find_map(|file| Some((file, file.value.pointer(pointer)?)))
}

fn open_to_all(files: &[LayerFile]) -> Option<Problem> {
    let (file, _) = strongest(files, "/auth/enforced").filter(|(_, value)| **value == Value::Bool(false))?;
    let (_, host) = strongest(files, "/host")?;
    let address: IpAddr = host.as_str()?.parse().ok()?;
    (!address.is_loopback()).then(|| file.problem("/auth/enforced", Fault::Open))
}

/// Numbers that the repository would raise above what the user, or the program, says.
fn raised(files: &[LayerFile]) -> Vec<Problem> {
    let Some(repository) = files.iter().find(|file| file.layer == Layer::Repository) else {
        return Vec::new();
    };
    let defaults = keys::defaults();
    let user = files.iter().find(|file| file.layer == Layer::User);
    let lowered = keys::KEYS.iter().filter(|key| key.repository == Repository::MayLower);
    let mut problems = Vec::new();
    for key in lowered {
        let pointer = format!("/{}", key.path.replace('.', "/"));
        let given = repository.value.pointer(&pointer).and_then(Value::as_f64);
        let user = user.and_then(|file| file.value.pointer(&pointer));
        let limit = user.or_else(|| defaults.pointer(&pointer)).and_then(Value::as_f64);
        if let (Some(given), Some(limit)) = (given, limit)
            && given > limit
        {
            problems.push(repository.problem(&pointer, Fault::Raised { limit: limit.to_string() }));
        }
    }
    problems
}

/// What would take the place, and with it the trust, of something the user chose.
fn replaced(files: &[LayerFile]) -> Vec<Problem> {
    let of = |layer: Layer| files.iter().find(|file| file.layer == layer);
    let (Some(user), Some(repository)) = (of(Layer::User), of(Layer::Repository)) else { return Vec::new() };
    let names = |file: &LayerFile| -> Vec<(String, String, &'static str)> {
        let rules = file
            .value
            .pointer("/approvals/rules")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .enumerate();
        let rules = rules.filter_map(|(index, rule)| {
            Some((rule.get("name")?.as_str()?.to_owned(), format!("/approvals/rules/{index}"), "rule"))
        });
        let servers = file.value.get("mcpServers").and_then(Value::as_object).into_iter().flatten();
        let servers = servers.map(|(name, _)| (name.clone(), below_pointer("/mcpServers", name), "server"));
        rules.chain(servers).collect()
    };
    let users = names(user);
    let theirs = names(repository).into_iter();
    let twice =
        theirs.filter(|(name, _, what)| users.iter().any(|(other, _, kind)| (other, kind) == (name, what)));
    twice.map(|(_, pointer, what)| repository.problem(&pointer, Fault::Replaces { what })).collect()
}
