//! What manifests and the short form in configurations have in common: programs, endpoints, credentials.

use std::time::Duration;

use super::credential::{EnvName, HeaderName, Part, REFERENCE, Template};
use super::fault::{Fault, Faults};
use super::limits;
use super::literal::{self, Spot};
use super::place::{Place, Unique};
use super::server::{ResourceAccess, Sampling};
use crate::tool::{CleanText, Quoted, host_of_url};

/// A command, or one of its arguments.
pub(super) fn argument(place: &Place<'_>, faults: &mut Faults<'_>) -> Option<String> {
    let text = place.string(faults)?;
    if text.len() > limits::ARGUMENT_BYTES {
        let fault = Fault::TooMany { given: text.len(), limit: limits::ARGUMENT_BYTES, unit: "bytes" };
        place.add(faults, fault);
    }
    if text.contains('\0') {
        place.add(faults, Fault::Control);
    }
    if text.contains(REFERENCE) {
        place.add(faults, Fault::ReferenceElsewhere);
    }
    Some(text.to_owned())
}

/// What is run.
pub(super) fn command(place: &Place<'_>, faults: &mut Faults<'_>) -> Option<String> {
    place.text(faults, limits::ARGUMENT_BYTES)?;
    let command = argument(place, faults)?;
    if let Some(finding) = literal::find(Spot::Elsewhere, "", &command) {
        place.add(faults, Fault::LiteralCredential(finding));
    }
    Some(command)
}

/// The arguments of a command, none of them a credential.
pub(super) fn arguments(place: &Place<'_>, faults: &mut Faults<'_>) -> Vec<String> {
    let mut arguments = Vec::new();
    for item in place.list(faults, limits::ARGUMENTS) {
        let Some(text) = argument(&item, faults) else { continue };
        // Both `--token=x` and `--token` before `x`.
        let is_flag = |text: &&String| text.starts_with('-') && !text.contains('=');
        let before = arguments.last().filter(is_flag).map_or("", String::as_str);
        let (name, value) = match text.split_once('=') {
            Some((name, value)) if !name.contains([' ', '/', '?', ':']) => (name, value),
            // A flag behind a flag is not its value.
            None if text.starts_with("--") => ("", text.as_str()),
            Some(_) | None => (before, text.as_str()),
        };
        // A reference is refused already, with a better hint.
        let finding = literal::find(Spot::Elsewhere, name, value).filter(|_| !text.contains(REFERENCE));
        if let Some(finding) = finding {
            item.add(faults, Fault::LiteralCredential(finding));
        }
        arguments.push(text);
    }
    arguments
}

/// A URL: https, or http on this machine.
pub(super) fn endpoint(place: &Place<'_>, faults: &mut Faults<'_>) -> Option<String> {
    let url = place.text(faults, limits::ENDPOINT_BYTES)?;
    if url.contains(REFERENCE) {
        place.add(faults, Fault::ReferenceElsewhere);
        return None;
    }
    if let Some(finding) = literal::find(Spot::Elsewhere, "", url) {
        place.add(faults, Fault::LiteralCredential(finding));
        return None;
    }
    match check_endpoint(url) {
        Ok(()) => Some(url.to_owned()),
        Err(fault) => {
            place.add(faults, fault);
            None
        }
    }
}

fn check_endpoint(url: &str) -> Result<(), Fault> {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'#' | b'"' | b'<' | b'>');
    let (scheme, rest) = url.split_once("://").ok_or(Fault::Endpoint)?;
    let host = host_of_url(url).ok_or(Fault::Endpoint)?;
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let behind_host = authority.rsplit_once(']').map_or(authority, |(_, port)| port);
    let port = behind_host.rsplit_once(':').map(|(_, port)| port);
    if !url.bytes().all(is_plain) || port.is_some_and(|port| port.parse::<u16>().is_err()) {
        return Err(Fault::Endpoint);
    }
    match scheme {
        "https" => Ok(()),
        "http" if is_loopback(&host) => Ok(()),
        "http" => Err(Fault::PlainHttp),
        _ => Err(Fault::Endpoint),
    }
}

fn is_loopback(host: &str) -> bool {
    // A host that begins with a number was read as a whole address before.
    matches!(host, "localhost" | "[::1]")
        || host.starts_with("127.") && host.ends_with(|c: char| c.is_ascii_digit())
}

/// Variables as a list of `NAME=value` and `$env:NAME`.
pub(super) fn env_list(place: &Place<'_>, faults: &mut Faults<'_>) -> Vec<(EnvName, Template)> {
    let mut seen = Unique::default();
    let mut env = Vec::new();
    for item in place.list(faults, limits::CREDENTIALS) {
        let Some(text) = item.string(faults) else { continue };
        let entry = match text.split_once('=') {
            Some((name, value)) => variable(&item, name, value, faults),
            None => bare(&item, text, faults),
        };
        if let Some((name, _)) = &entry {
            seen.note(faults, name, &item);
        }
        env.extend(entry);
    }
    env
}

/// `$env:NAME`, which hands a variable on under its own name.
fn bare(place: &Place<'_>, text: &str, faults: &mut Faults<'_>) -> Option<(EnvName, Template)> {
    let form = || Fault::EnvItem { given: quoted(text) };
    let template = if text.starts_with(REFERENCE) { text.parse() } else { Err(form()) };
    let template: Template = template.map_err(|fault| place.add(faults, fault)).ok()?;
    let [Part::Variable(name)] = template.parts() else {
        place.add(faults, form());
        return None;
    };
    Some((name.clone(), template))
}

/// Variables as an object.
pub(super) fn env_map(place: &Place<'_>, faults: &mut Faults<'_>) -> Vec<(EnvName, Template)> {
    let mut env = Vec::new();
    for (name, item) in place.map(faults, limits::CREDENTIALS) {
        let Some(value) = item.string(faults) else { continue };
        env.extend(variable(&item, name, value, faults));
    }
    env
}

fn variable(
    place: &Place<'_>,
    name: &str,
    value: &str,
    faults: &mut Faults<'_>,
) -> Option<(EnvName, Template)> {
    let template = template(place, (Spot::Env, name), value, faults);
    if value.contains('\0') {
        place.add(faults, Fault::Control);
    }
    // Who forgets the name has a secret before the `=` that ends many of them.
    if let Some(finding) = literal::find(Spot::Elsewhere, "", name) {
        place.add(faults, Fault::LiteralCredential(finding));
        return None;
    }
    let name = name.parse().map_err(|_| place.add(faults, Fault::EnvName { given: quoted(name) })).ok();
    Some((name?, template?))
}

/// A text that stands where a secret may stand by mistake: quoted only when it does not look like one.
fn quoted(text: &str) -> Quoted {
    Quoted::of(if literal::may_be_credential(text) { "…" } else { text })
}

/// Headers as an object.
pub(super) fn headers(place: &Place<'_>, faults: &mut Faults<'_>) -> Vec<(HeaderName, Template)> {
    let mut seen = Unique::default();
    let (mut headers, mut names) = (Vec::new(), Vec::new());
    for (name, item) in place.map(faults, limits::CREDENTIALS) {
        let Some(value) = item.string(faults) else { continue };
        let template = template(&item, (Spot::Header, name), value, faults);
        if value.chars().any(char::is_control) {
            item.add(faults, Fault::Control);
        }
        let parsed: Result<HeaderName, Fault> = name.parse();
        match (parsed, template) {
            (Ok(name), Some(template)) => headers.push((name, template)),
            (Ok(_), None) => {}
            (Err(fault), _) => item.add(faults, fault),
        }
        // The same spelling twice is a repeated key already.
        if !names.contains(&name) {
            seen.note(faults, &name.to_ascii_lowercase(), &item);
        }
        names.push(name);
    }
    headers
}

fn template(
    place: &Place<'_>,
    (spot, name): (Spot, &str),
    value: &str,
    faults: &mut Faults<'_>,
) -> Option<Template> {
    if value.len() > limits::CREDENTIAL_BYTES {
        let fault = Fault::TooMany { given: value.len(), limit: limits::CREDENTIAL_BYTES, unit: "bytes" };
        place.add(faults, fault);
        return None;
    }
    let template: Template = value.parse().map_err(|fault: Fault| place.add(faults, fault)).ok()?;
    if let Some(finding) = literal::find(spot, name, &template.with_holes()) {
        place.add(faults, Fault::LiteralCredential(finding));
    }
    Some(template)
}

/// What a person says about something; may be empty.
pub(super) fn description(place: Option<Place<'_>>, faults: &mut Faults<'_>) -> CleanText {
    let Some(place) = place else { return CleanText::default() };
    let text = place.string(faults).unwrap_or_default();
    if text.len() > limits::DESCRIPTION_BYTES {
        let fault = Fault::TooMany { given: text.len(), limit: limits::DESCRIPTION_BYTES, unit: "bytes" };
        place.add(faults, fault);
    }
    if let Some(finding) = literal::find_in_prose(text) {
        place.add(faults, Fault::LiteralCredential(finding));
    }
    CleanText::clean(text, limits::DESCRIPTION_BYTES)
}

/// Whether a server may have the model of its agent write for it.
pub(super) fn sampling(place: Option<Place<'_>>, faults: &mut Faults<'_>) -> Sampling {
    match place.and_then(|place| place.boolean(faults)) {
        Some(true) => Sampling::On,
        Some(false) | None => Sampling::Off,
    }
}

/// Whether agents may read what a server has beside its tools.
pub(super) fn resources(place: Option<Place<'_>>, faults: &mut Faults<'_>) -> ResourceAccess {
    match place.and_then(|place| place.boolean(faults)) {
        Some(true) => ResourceAccess::Open,
        Some(false) | None => ResourceAccess::Closed,
    }
}

/// How long a call may take.
pub(super) fn timeout_ms(place: Option<Place<'_>>, faults: &mut Faults<'_>) -> u64 {
    let given = place.and_then(|place| place.whole(faults, (1, limits::TIMEOUT_MS)));
    given.unwrap_or(limits::DEFAULT_TIMEOUT_MS)
}

/// How long a call may take, in seconds as the short form has it; parts of a second are allowed.
pub(super) fn timeout_seconds(place: Option<Place<'_>>, faults: &mut Faults<'_>) -> u64 {
    let Some(place) = place else { return limits::DEFAULT_TIMEOUT_MS };
    let Some(given) = place.number(faults) else { return limits::DEFAULT_TIMEOUT_MS };
    let most = limits::TIMEOUT_MS / 1000;
    let limit = Duration::from_millis(limits::TIMEOUT_MS);
    let seconds = given.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let time = seconds.filter(|time| *time >= Duration::from_millis(1) && *time <= limit);
    match time.and_then(|time| u64::try_from(time.as_millis()).ok()) {
        Some(milliseconds) => milliseconds,
        None => {
            place.add(faults, Fault::Seconds { given: Quoted::of(given), most });
            limits::DEFAULT_TIMEOUT_MS
        }
    }
}
