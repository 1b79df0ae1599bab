//! Credentials by reference: `$env:NAME` in the environment and the headers of a server.
//!
//! A reference may be the whole value or a part of it (`Bearer $env:TOKEN`), several times. Its name is the
//! longest run of letters, digits and `_` behind the colon. `$$env:` stands for the text `$env:`; any other
//! `$` is itself. A bare `$env:NAME` in a list of variables means `NAME=$env:NAME`. A variable that is set but
//! empty counts as unset: an empty credential never is what anybody meant.

use std::fmt;
use std::str::FromStr;

use secrecy::{ExposeSecret as _, SecretString};
use thiserror::Error;

use super::fault::Fault;
use super::limits;
use super::literal::{HOLE, Spot};
use crate::tool::Quoted;
use crate::tool::spelling::checked_text;

checked_text! {
    /// The name of a variable of the environment.
    EnvName, Fault, check_env_name
}

checked_text! {
    /// The name of a header.
    HeaderName, Fault, check_header_name
}

fn check_env_name(name: &str) -> Result<(), Fault> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = name.chars().all(is_part) && name.starts_with(|c: char| !c.is_ascii_digit());
    match is_name && name.len() <= limits::CREDENTIAL_NAME_CHARS {
        true => Ok(()),
        false => Err(Fault::EnvName { given: Quoted::of(name) }),
    }
}

fn check_header_name(name: &str) -> Result<(), Fault> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    match !name.is_empty() && name.chars().all(is_part) && name.len() <= limits::CREDENTIAL_NAME_CHARS {
        true => Ok(()),
        false => Err(Fault::HeaderName { given: Quoted::of(name) }),
    }
}

pub(super) const REFERENCE: &str = "$env:";
const ESCAPED: &str = "$$env:";

/// A value with references in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Vec<Part>);

/// A piece of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text as it is.
    Text(String),
    /// What the variable of this name holds.
    Variable(EnvName),
}

impl Template {
    /// Its pieces.
    pub fn parts(&self) -> &[Part] {
        &self.0
    }

    /// The variables it needs.
    pub fn variables(&self) -> impl Iterator<Item = &EnvName> {
        self.0.iter().filter_map(|part| match part {
            Part::Variable(name) => Some(name),
            Part::Text(_) => None,
        })
    }

    /// The text with a hole for every reference.
    pub(super) fn with_holes(&self) -> String {
        let piece = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Variable(_) => HOLE.to_string(),
        };
        self.0.iter().map(piece).collect()
    }

    fn push_text(&mut self, text: &str) {
        match self.0.last_mut() {
            _ if text.is_empty() => {}
            Some(Part::Text(before)) => before.push_str(text),
            Some(Part::Variable(_)) | None => self.0.push(Part::Text(text.to_owned())),
        }
    }
}

impl FromStr for Template {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let mut template = Self(Vec::new());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            template.push_text(&rest[..at]);
            rest = &rest[at..];
            if let Some(after) = rest.strip_prefix(ESCAPED) {
                template.push_text(REFERENCE);
                rest = after;
            } else if let Some(after) = rest.strip_prefix(REFERENCE) {
                let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
                let name = after[..end].parse().map_err(|_| Fault::Reference)?;
                template.0.push(Part::Variable(name));
                rest = &after[end..];
            } else {
                template.push_text("$");
                rest = &rest[1..];
            }
        }
        template.push_text(rest);
        Ok(template)
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Text(text) => f.write_str(&text.replace(REFERENCE, ESCAPED)),
            Part::Variable(name) => write!(f, "{REFERENCE}{name}"),
        })
    }
}

/// A reference that has no value to stand for.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the variable {variable}, which {place} needs, {why}")]
pub struct Unresolved {
    /// Which variable.
    pub variable: EnvName,
    /// Where it is needed: `env GITHUB_TOKEN` or `header Authorization`, and of which server.
    pub place: String,
    /// What is wrong with it.
    pub why: Unfit,
}

impl Unresolved {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self.why {
            Unfit::Unset | Unfit::Empty => {
                format!("Set {} where the daemon runs, and start it again.", self.variable)
            }
            Unfit::Control => format!("Set {} to a value without control characters.", self.variable),
        }
    }
}

/// Why a variable cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Unfit {
    /// Nobody set it.
    #[error("is not set")]
    Unset,
    /// It is set to nothing.
    #[error("is empty")]
    Empty,
    /// It could end the header or the variable that it stands in.
    #[error("holds a line break or a control character")]
    Control,
}

/// The credentials of a server, ready for use. Nothing of it can be printed.
#[derive(Debug, Default)]
pub struct Resolved {
    /// What its process gets as environment.
    pub env: Vec<(EnvName, SecretString)>,
    /// What its requests carry.
    pub headers: Vec<(HeaderName, SecretString)>,
    secrets: Vec<SecretString>,
}

impl Resolved {
    /// What came out of variables, each once: what must not be seen anywhere else.
    pub fn secrets(&self) -> &[SecretString] {
        &self.secrets
    }
}

/// Looks variables up; what is not there is noted.
pub(super) struct Resolver<'l> {
    lookup: &'l dyn Fn(&str) -> Option<SecretString>,
    pub(super) resolved: Resolved,
    pub(super) unresolved: Vec<Unresolved>,
}

impl<'l> Resolver<'l> {
    pub(super) fn new(lookup: &'l dyn Fn(&str) -> Option<SecretString>) -> Self {
        Self { lookup, resolved: Resolved::default(), unresolved: Vec::new() }
    }

    pub(super) fn value(&mut self, spot: Spot, place: &str, template: &Template) -> SecretString {
        let mut value = String::new();
        for part in template.parts() {
            match part {
                Part::Text(text) => value.push_str(text),
                Part::Variable(name) => match self.variable(spot, name) {
                    Ok(secret) => value.push_str(secret.expose_secret()),
                    Err(why) => {
                        let place = place.to_owned();
                        self.unresolved.push(Unresolved { variable: name.clone(), place, why });
                    }
                },
            }
        }
        value.into()
    }

    fn variable(&mut self, spot: Spot, name: &EnvName) -> Result<SecretString, Unfit> {
        let secret = (self.lookup)(name.as_str()).ok_or(Unfit::Unset)?;
        let text = secret.expose_secret();
        if text.is_empty() {
            return Err(Unfit::Empty);
        }
        // A variable may have several lines, as keys do; the system only cannot pass on a zero.
        let breaks_out = |c: char| if spot == Spot::Env { c == '\0' } else { c.is_control() };
        if text.chars().any(breaks_out) {
            return Err(Unfit::Control);
        }
        if !self.resolved.secrets.iter().any(|known| known.expose_secret() == text) {
            self.resolved.secrets.push(secret.clone());
        }
        Ok(secret)
    }

    pub(super) fn finish(self) -> Result<Resolved, Vec<Unresolved>> {
        if self.unresolved.is_empty() { Ok(self.resolved) } else { Err(self.unresolved) }
    }
}
