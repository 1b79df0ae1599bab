//! What can be wrong with a file: all of it at once, each with its path in the JSON, its line and a hint.

use std::borrow::Cow;
use std::fmt;

use thiserror::Error;

use super::limits;
use super::literal::Finding;
use crate::json::{CanonicalError, JsonError, Position};
use crate::tool::{InvalidSideEffect, NameError, PinError, Quoted};

/// Everything that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    /// The problems, by their place in the file.
    pub problems: Vec<Problem>,
    /// How many more there are than are listed.
    pub more: usize,
}

/// One problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where, such as `servers[1].tools[0].side_effect_class`; empty for the file as a whole.
    pub path: String,
    /// Where in the text.
    pub position: Position,
    /// What is wrong there.
    pub fault: Fault,
}

/// What is wrong at a place.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message above each variant says what its fields are")]
pub enum Fault {
    #[error("{0}")]
    Json(#[from] JsonError),
    #[error("{0}")]
    Canonical(#[from] CanonicalError),
    #[error("it is not UTF-8")]
    NotUtf8,
    #[error("it is {found} instead of {expected}")]
    Type { expected: &'static str, found: &'static str },
    #[error("`{key}` is missing")]
    Missing { key: &'static str },
    #[error("`{key}` is no key here")]
    UnknownKey { key: Quoted, nearest: Option<&'static str> },
    #[error("the key `{key}` is there twice")]
    RepeatedKey { key: Quoted },
    #[error("`{given}` is there twice; the first one is at {first}")]
    Repeated { given: Quoted, first: String },
    #[error("it is empty")]
    Empty,
    #[error("it has {given} {unit}, more than {limit}")]
    TooMany { given: usize, limit: usize, unit: &'static str },
    #[error("it is {given}, not a whole number from {least} to {most}")]
    Range { given: Quoted, least: u64, most: u64 },
    #[error("it is {given}, not a number of seconds above 0 and up to {most}")]
    Seconds { given: Quoted, most: u64 },
    #[error("the name `{given}` belongs to the built-in tools")]
    ReservedName { given: Quoted },
    #[error("the schema version is {given}; this program reads 1")]
    SchemaVersion { given: Quoted },
    #[error("`{given}` is no agent")]
    Agent { given: Quoted },
    #[error("{0}")]
    Name(#[from] NameError),
    #[error("{0}")]
    SideEffect(#[from] InvalidSideEffect),
    #[error("{0}")]
    Pin(#[from] PinError),
    #[error("the version of a server is a number such as 1.2.3, not a digest")]
    VersionIsDigest,
    #[error("`{given}` is no digest: sha256: and 64 lower-case hexadecimal digits")]
    Digest { given: Quoted },
    #[error("the digest is a placeholder, so nothing says which package is meant")]
    PlaceholderDigest,
    #[error("`{given}` is no transport")]
    Transport { given: Quoted },
    #[error("the transport sse is not part of manifests (rule Q15)")]
    Sse,
    #[error("`{key}` does not go with the transport {transport}")]
    OtherTransport { key: &'static str, transport: &'static str },
    #[error("it has neither `command` nor `url`")]
    NoTransport,
    #[error("the endpoint cannot be read without doubt")]
    Endpoint,
    #[error("the endpoint is not encrypted and leaves this machine")]
    PlainHttp,
    #[error("it has a character that nobody sees or that ends a line")]
    Control,
    #[error("`{given}` is no item of the form NAME=value or $env:NAME")]
    EnvItem { given: Quoted },
    #[error("`{given}` is no name of a variable")]
    EnvName { given: Quoted },
    #[error("`{given}` is no name of a header")]
    HeaderName { given: Quoted },
    #[error("`$env:` is not followed by the name of a variable")]
    Reference,
    #[error("`$env:` is not read here")]
    ReferenceElsewhere,
    #[error("{0} stands here in plain text")]
    LiteralCredential(Finding),
    #[error("`{given}` is no namespace of native tools")]
    Namespace { given: Quoted },
    #[error("`{given}` is no signer of the form did:key:z6Mk…")]
    Signer { given: Quoted },
    #[error("the signature is not 128 lower-case hexadecimal digits")]
    SignatureForm,
    #[error("the definition does not have the digest that is written beside it")]
    TamperedDefinition,
    #[error("the definition is one of `{found}`")]
    OtherDefinition { found: Quoted },
}

impl Fault {
    /// What to do about it.
    pub fn hint(&self) -> Cow<'static, str> {
        let hint = match self {
            Self::UnknownKey { nearest: Some(nearest), .. } => {
                return format!("Did you mean `{nearest}`?").into();
            }
            Self::Type { expected, .. } => return format!("Write {expected}.").into(),
            Self::Missing { key } => return format!("Add `{key}`.").into(),
            Self::Range { least, most, .. } => {
                return format!("Write a whole number from {least} to {most}.").into();
            }
            Self::TooMany { limit, unit, .. } => return format!("Keep it to {limit} {unit}.").into(),
            Self::OtherTransport { key, .. } => {
                return format!("Remove `{key}`, or change the transport.").into();
            }
            Self::LiteralCredential(finding) => return finding.hint().into(),
            Self::Seconds { .. } => "The time is in seconds: 30 is half a minute.",
            Self::ReservedName { .. } => "Choose another name.",
            Self::Json(error) => error.hint(),
            Self::Canonical(error) => error.hint(),
            Self::Name(error) => error.hint(),
            Self::Pin(error) => error.hint(),
            Self::NotUtf8 => "Save the file as UTF-8.",
            Self::UnknownKey { .. } => "Remove it, or look its name up in the published schema.",
            Self::RepeatedKey { .. } | Self::Repeated { .. } => "Keep one of them.",
            Self::Empty => "Fill it, or leave it out where that is allowed.",
            Self::SchemaVersion { .. } => "Write \"schema_version\": 1.",
            Self::Agent { .. } => AGENT_HINT,
            Self::SideEffect(_) => "Choose read, write, network, shell or chain: the gravest that it can do.",
            Self::VersionIsDigest => "Write the version here and the digest into package_digest.",
            Self::Digest { .. } => "Compute it with `mcl-tools digest`.",
            Self::PlaceholderDigest => PLACEHOLDER_HINT,
            Self::Transport { .. } => "Write stdio or http.",
            Self::Sse => SSE_HINT,
            Self::NoTransport => "Add `command` for a program, or `url` for a server.",
            Self::Endpoint => "Write https://host/path, without user, password, spaces and fragment.",
            Self::PlainHttp => "Use https://, or http:// with localhost, 127.0.0.1 or [::1].",
            Self::Control => "Remove it.",
            Self::EnvItem { .. } => "Write \"NAME=value\", \"NAME=$env:OTHER\" or \"$env:NAME\".",
            Self::EnvName { .. } => "Use letters, digits and `_`, and no digit first.",
            Self::HeaderName { .. } => "Use letters, digits and `-`.",
            Self::Reference => "Write $env:NAME; for the text itself, write $$env:.",
            Self::ReferenceElsewhere => REFERENCE_HINT,
            Self::Namespace { .. } => NAMESPACE_HINT,
            Self::Signer { .. } => "Write the did:key of an Ed25519 key.",
            Self::SignatureForm => "Sign the manifest again with `mcl-tools sign`.",
            Self::TamperedDefinition | Self::OtherDefinition { .. } => LOCK_HINT,
        };
        hint.into()
    }
}

const AGENT_HINT: &str =
    "Write matrix://agent/<name>, the name in lower-case letters, digits, `-`, `_` and `.`.";
const PLACEHOLDER_HINT: &str =
    "Compute the real one with `mcl-tools digest`; for development only, allow placeholders.";
const SSE_HINT: &str =
    "Use the server's streamable HTTP endpoint with transport http; sse goes into mcpServers.";
const REFERENCE_HINT: &str =
    "Everybody on the machine can see arguments, and endpoints are logged: pass it in env or headers.";
const NAMESPACE_HINT: &str = "There are argus, orob, plv, pofq, registry, payments, attest and chain.";
const LOCK_HINT: &str = "Lock files are not edited by hand: make it again with `mcl-tools lock`.";

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return self.fault.fmt(f);
        }
        write!(f, "{} (line {}): {}", self.path, self.position.line, self.fault)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { "\n" })?;
            problem.fmt(f)?;
        }
        match self.more {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

impl std::error::Error for Problems {}

impl Problems {
    /// A file of which nothing could be read.
    pub(super) fn whole(fault: Fault) -> Self {
        let start = Position { line: 1, column: 1 };
        let position = if let Fault::Json(error) = &fault { error.position() } else { None };
        let position = position.unwrap_or(start);
        Self { problems: vec![Problem { path: String::new(), position, fault }], more: 0 }
    }
}

/// Collects problems while a file is read.
pub(super) struct Faults<'a> {
    text: &'a str,
    found: Vec<(usize, String, Fault)>,
}

impl<'a> Faults<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, found: Vec::new() }
    }

    pub(super) fn add(&mut self, at: usize, path: &str, fault: impl Into<Fault>) {
        self.found.push((at, path.to_owned(), fault.into()));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// What was read, or everything that is wrong.
    pub(super) fn finish<T>(mut self, read: Option<T>) -> Result<T, Problems> {
        self.found.sort_by_key(|(at, _, _)| *at);
        let more = self.found.len().saturating_sub(limits::PROBLEMS);
        self.found.truncate(limits::PROBLEMS);
        let problem = |(at, path, fault)| Problem { path, position: Position::of(self.text, at), fault };
        let problems: Vec<Problem> = self.found.into_iter().map(problem).collect();
        match read {
            Some(read) if problems.is_empty() => Ok(read),
            Some(_) | None => Err(Problems { problems, more }),
        }
    }
}
