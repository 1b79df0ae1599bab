//! What can be wrong with a configuration: all of it at once, each with its file, its path and what to do.
//!
//! No value of a file is repeated here, whatever it was meant to be: it may be a credential in the wrong place.

use std::fmt;
use std::path::PathBuf;

use mxd_core::json::{JsonError, Position};
use mxd_core::manifest;
use mxd_core::tool::{PolicyError, Quoted};
use mxd_tools::proxy::RuleError;

use super::layer::Layer;

/// Problems that are told.
const SHOWN: usize = 50;

/// Everything that is wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    /// The problems, by layer and place.
    pub problems: Vec<Problem>,
    /// How many more there are than are listed.
    pub more: usize,
}

/// One problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// In which layer.
    pub layer: Layer,
    /// In which file.
    pub file: PathBuf,
    /// At which key, such as `sandbox.network.allow[2]`; empty for the file as a whole.
    pub path: String,
    /// Where in the text.
    pub position: Option<Position>,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong at a place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message above each variant says what its fields are")]
pub enum Fault {
    #[error("it cannot be read: {why}")]
    Unreadable { why: String },
    #[error("it is not UTF-8")]
    NotUtf8,
    #[error("{0}")]
    Json(JsonError),
    #[error("`{key}` is no key here")]
    UnknownKey { key: Quoted, nearest: Option<String> },
    #[error("`{key}` is not read any more")]
    LeftOver { key: &'static str, instead: &'static str },
    #[error("the key `{key}` is there twice")]
    RepeatedKey { key: Quoted },
    #[error("{problem}")]
    Shape { problem: String },
    #[error("a repository cannot say this: {}", whose(*.narrower))]
    NotTheRepositorys { narrower: Option<&'static str> },
    #[error("a repository can only lower this, and without it {limit} holds")]
    Raised { limit: String },
    #[error("a {what} of the repository has the name of one of the user's")]
    Replaces { what: &'static str },
    #[error("a credential stands here in plain text, in the {layer} layer")]
    LiteralSecret { layer: Layer },
    #[error("the file holds credentials and others on this machine can read it (its mode is {mode:o})")]
    Exposed { mode: u32 },
    #[error("`$env:` is not followed by the name of a variable alone")]
    Reference,
    #[error("it is no address of a server: {why}")]
    Url { why: &'static str },
    #[error("a key would go over a connection that is not encrypted")]
    PlainHttp,
    #[error("there is no auth group of this name")]
    UnknownGroup { known: String },
    #[error("nothing is known about a model of this name, neither its window nor its price")]
    UnknownModel,
    #[error("it does not go with the provider {provider}")]
    OtherProvider { provider: &'static str },
    #[error("it leads out of the repository")]
    LeadsOut,
    #[error("it is not absolute")]
    NotAbsolute,
    #[error("{0}")]
    Rule(RuleError),
    #[error("{0}")]
    Server(Box<manifest::Fault>),
    #[error("{0}")]
    Policy(PolicyError),
    #[error("it is no IP address of this machine")]
    Host,
    #[error("everybody who reaches this address could use the daemon")]
    Open,
}

fn whose(narrower: Option<&'static str>) -> String {
    match narrower {
        Some(narrower) => format!("it may say this {narrower}"),
        None => "it arrives with every clone".to_owned(),
    }
}

impl Fault {
    /// What to do about it.
    pub fn hint(&self) -> String {
        let fixed = match self {
            Self::Unreadable { .. } => "Repair the file, or remove it.",
            Self::NotUtf8 => "Store it as UTF-8.",
            Self::Json(error) => error.hint(),
            Self::UnknownKey { nearest: Some(nearest), .. } => return format!("Did you mean `{nearest}`?"),
            Self::UnknownKey { nearest: None, .. } => "Remove it; docs/configuration.md lists all keys.",
            Self::LeftOver { instead, .. } => instead,
            Self::RepeatedKey { .. } => "Remove one of the two.",
            Self::Shape { .. } => "Correct it; docs/configuration.md says what goes here.",
            Self::NotTheRepositorys { .. } | Self::Raised { .. } => {
                "Remove it here; the user can set it for all projects or for this one, with `mxd config set`."
            }
            Self::Replaces { .. } => "Give that of the repository another name.",
            Self::LiteralSecret { .. } => {
                "Write `$env:NAME` here, or put the auth group into the user layer. If this file was ever shared, \
                 replace the credential."
            }
            Self::Exposed { .. } => "Run `chmod 600` on it.",
            Self::Reference => "Write `$env:NAME`, with letters, digits and `_` in the name.",
            Self::Url { .. } => "Write https://host/path, without a name, a password or a query.",
            Self::PlainHttp => "Use https://, or http:// to this machine, or leave the key out.",
            Self::UnknownGroup { known } if known.is_empty() => {
                "Add one with `mxd config auth add`; there is none yet."
            }
            Self::UnknownGroup { known } => return format!("Name one of {known}, or add it."),
            Self::UnknownModel => {
                "Correct the name, or say first what is known about it: `mxd config model add NAME --window TOKENS`."
            }
            Self::OtherProvider { .. } => "Remove it, or name the other provider.",
            Self::LeadsOut => "Give a path below the repository, without `..` and without `/` in front.",
            Self::NotAbsolute => "Give the whole path, from `/` on.",
            Self::Rule(_) => "Write a host such as example.org, *.example.org or example.org:8443.",
            Self::Server(fault) => return fault.hint().into_owned(),
            Self::Policy(error) => error.hint(),
            Self::Host => "Write 127.0.0.1 for this machine alone, or the address of one of its networks.",
            Self::Open => "Set `auth.enforced` to true, or `host` to 127.0.0.1.",
        };
        fixed.to_owned()
    }
}

impl Problems {
    /// All of these, when there are any.
    pub(super) fn check(mut problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() {
            return Ok(());
        }
        let place = |problem: &Problem| problem.position.map_or((0, 0), |at| (at.line, at.column));
        problems.sort_by(|a, b| {
            (a.layer, place(a), &a.path, a.fault.to_string()).cmp(&(
                b.layer,
                place(b),
                &b.path,
                b.fault.to_string(),
            ))
        });
        problems.dedup();
        let more = problems.len().saturating_sub(SHOWN);
        problems.truncate(SHOWN);
        Err(Self { problems, more })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(position) = self.position {
            write!(f, ":{}:{}", position.line, position.column)?;
        }
        if !self.path.is_empty() {
            write!(f, ": {}", self.path)?;
        }
        write!(f, ": {}. {}", self.fault, self.fault.hint())
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
