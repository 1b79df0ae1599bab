//! Differences between what was declared, accepted and offered: for people, and for programs.

use std::fmt::Write as _;

use mxd_core::json::{Change, Difference};
use mxd_core::manifest::{Comparison, Discovered, Finding, Identity, Package, Report, ToolDefinition};
use serde_json::{Value, json};

use crate::answer::{BAD, GOOD, Trouble, WEAK};
use crate::code::Code;
use mxd_core::tool::visible;

/// A word for programs.
fn kind(finding: &Finding) -> &'static str {
    match finding {
        Finding::ServerNotLocked => "server_not_accepted",
        Finding::OtherIdentity { .. } => "other_command",
        Finding::OtherPackage { .. } => "other_package",
        Finding::Unreadable { .. } => "unreadable",
        Finding::TooMany { .. } => "too_many",
        Finding::Missing { .. } => "missing",
        Finding::Unexpected { .. } => "unexpected",
        Finding::Repeated { .. } => "repeated",
        Finding::ToolNotLocked { .. } => "tool_not_accepted",
        Finding::Drift { .. } => "changed",
    }
}

/// One sentence.
pub(crate) fn sentence(finding: &Finding) -> String {
    match finding {
        Finding::ServerNotLocked => "nobody has accepted what it offers".to_owned(),
        Finding::OtherIdentity { was, now } => {
            format!("it was accepted as {}, and is {} now", identity(was), identity(now))
        }
        Finding::OtherPackage { was, now } => {
            format!("it was accepted as package {}, and is {} now", package(was), package(now))
        }
        Finding::Unreadable { error } => format!("it offers something that is no tool: {error}"),
        Finding::TooMany { given, limit } => format!("it offers {given} tools, more than {limit}"),
        Finding::Missing { tool } => format!("{tool} is declared, and it does not offer it"),
        Finding::Unexpected { tool } => format!("it offers {tool}, which is not declared"),
        Finding::Repeated { tool, times } => format!("it offers {tool} {times} times"),
        Finding::ToolNotLocked { tool, .. } => format!("nobody has accepted the definition of {tool}"),
        Finding::Drift { tool, differences, .. } => {
            let places: Vec<&str> = differences.iter().map(|one| one.path.as_str()).collect();
            format!("{tool} says something else than what was accepted: {}", places.join(", "))
        }
    }
}

fn identity(identity: &Identity) -> String {
    match identity {
        Identity::Stdio { command, args } => {
            let words: Vec<&str> = std::iter::once(command).chain(args).map(String::as_str).collect();
            format!("`{}`", words.join(" "))
        }
        Identity::Http { endpoint } | Identity::Sse { endpoint } => endpoint.clone(),
    }
}

fn package(package: &Option<Package>) -> String {
    match package {
        Some(Package { version, digest }) => format!("{version} {digest}"),
        None => "none".to_owned(),
    }
}

/// What to do about it.
fn hint(finding: &Finding) -> &'static str {
    match finding {
        Finding::Missing { .. } => "Remove it from the manifest, or use the version that has it.",
        Finding::Unexpected { .. } => "Add it to the manifest with its class, or use the version without it.",
        Finding::Unreadable { .. } | Finding::TooMany { .. } | Finding::Repeated { .. } => {
            "Ask the server's author to follow MCP."
        }
        Finding::ServerNotLocked
        | Finding::OtherIdentity { .. }
        | Finding::OtherPackage { .. }
        | Finding::ToolNotLocked { .. }
        | Finding::Drift { .. } => {
            "Look at it with `mcl-tools diff`; accept it with `mcl-tools lock --accept`."
        }
    }
}

/// What a report comes to, as problems.
pub(crate) fn troubles(report: &Report) -> Vec<Trouble> {
    let trouble = |finding: &Finding| {
        let what = format!("the server {}: {}", report.server, sentence(finding));
        Trouble::new(Code::Drift, what, hint(finding)).of_server(&report.server)
    };
    report.findings.iter().map(trouble).collect()
}

/// A word for what a report comes to.
pub(crate) fn word(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Same => "same",
        Comparison::Unaccepted => "unaccepted",
        Comparison::Drift => "drift",
    }
}

/// The definitions that nobody has accepted, of which a finding speaks: a person has to see them whole.
fn unaccepted<'a>(
    finding: &'a Finding,
    discovered: &'a Discovered,
) -> impl Iterator<Item = &'a ToolDefinition> {
    let is_meant = move |definition: &&ToolDefinition| match finding {
        Finding::ServerNotLocked => true,
        Finding::ToolNotLocked { tool, now, .. } => definition.name() == tool && definition.digest() == *now,
        Finding::Unexpected { tool } => definition.name() == tool,
        _ => false,
    };
    discovered.tools.iter().filter(is_meant)
}

/// Every difference, for programs.
pub(crate) fn value(report: &Report, discovered: &Discovered) -> Value {
    let with_definitions = |finding: &Finding| {
        let mut value = finding_value(finding);
        let definitions = unaccepted(finding, discovered).map(|one| parsed(one.canonical()));
        let definitions: Vec<Value> = definitions.collect();
        if !definitions.is_empty() {
            value["definitions"] = definitions.into();
        }
        value
    };
    let findings: Vec<Value> = report.findings.iter().map(with_definitions).collect();
    json!({ "server": report.server, "comparison": word(report.comparison()), "findings": findings })
}

fn finding_value(finding: &Finding) -> Value {
    let mut value = json!({ "kind": kind(finding), "message": sentence(finding) });
    match finding {
        Finding::Missing { tool } | Finding::Unexpected { tool } | Finding::Repeated { tool, .. } => {
            value["tool"] = json!(tool);
        }
        Finding::ToolNotLocked { tool, now, .. } => {
            value["tool"] = json!(tool);
            value["now"] = json!(format!("sha256:{now}"));
        }
        Finding::Drift { tool, was, now, differences } => {
            value["tool"] = json!(tool);
            value["was"] = json!(format!("sha256:{was}"));
            value["now"] = json!(format!("sha256:{now}"));
            value["differences"] = differences.iter().map(difference_value).collect();
        }
        Finding::ServerNotLocked
        | Finding::OtherIdentity { .. }
        | Finding::OtherPackage { .. }
        | Finding::Unreadable { .. }
        | Finding::TooMany { .. } => {}
    }
    value
}

/// Canonical JSON becomes JSON again.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or(Value::from(text))
}

fn difference_value(difference: &Difference) -> Value {
    match &difference.change {
        Change::Added { now } => json!({ "path": difference.path, "now": parsed(now) }),
        Change::Removed { was } => json!({ "path": difference.path, "was": parsed(was) }),
        Change::Replaced { was, now } => {
            json!({ "path": difference.path, "was": parsed(was), "now": parsed(now) })
        }
    }
}

/// Every difference, for people: `-` was, `+` is.
pub(crate) fn text(report: &Report, discovered: &Discovered) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        let (style, mark) = match finding {
            Finding::Missing { .. } => (BAD, '-'),
            Finding::Unexpected { .. } | Finding::ToolNotLocked { .. } => (GOOD, '+'),
            _ => (WEAK, '~'),
        };
        let _ = writeln!(text, "  {style}{mark} {}{style:#}", visible(&sentence(finding)));
        unaccepted(finding, discovered).for_each(|definition| show_definition(definition, &mut text));
        if let Finding::Drift { differences, .. } = finding {
            for difference in differences {
                let _ = writeln!(text, "      {}", visible(&difference.path));
                let (was, now) = match &difference.change {
                    Change::Added { now } => (None, Some(now)),
                    Change::Removed { was } => (Some(was), None),
                    Change::Replaced { was, now } => (Some(was), Some(now)),
                };
                for (style, mark, value) in [(BAD, '-', was), (GOOD, '+', now)] {
                    if let Some(value) = value {
                        let _ = writeln!(text, "      {style}{mark} {}{style:#}", visible(value));
                    }
                }
            }
        }
    }
    text
}

/// A definition, member by member.
fn show_definition(definition: &ToolDefinition, text: &mut String) {
    let _ = writeln!(text, "      {GOOD}+ {}{GOOD:#}", definition.name());
    let Value::Object(members) = parsed(definition.canonical()) else { return };
    for (key, value) in members.iter().filter(|(key, _)| *key != "name") {
        let _ = writeln!(text, "        {GOOD}{}: {}{GOOD:#}", visible(key), visible(&value.to_string()));
    }
}
