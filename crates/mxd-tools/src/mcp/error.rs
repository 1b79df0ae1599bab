//! What can go wrong with a server, told with its name and what to do.

use std::fmt;
use std::io;
use std::time::Duration;

use mxd_core::manifest::{Report, Unresolved};
use mxd_core::tool::{Digest, Quoted, ServerName, ToolName};

use crate::package::PackageError;
use crate::sandbox::SandboxError;

/// Why there is no connection to a server.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message above each variant says what its fields are")]
pub enum ConnectError {
    #[error("the server {server} is not started: {}", listed(unresolved))]
    Credentials { server: ServerName, unresolved: Vec<Unresolved> },
    #[error("the server {server} is not started: {why}")]
    Secrets { server: ServerName, why: String },
    #[error("the folders of the server {server} cannot be made: {source}")]
    Folders { server: ServerName, source: io::Error },
    #[error("the server {server} is not started: {source}")]
    Package { server: ServerName, source: PackageError },
    #[error("the definitions of the server {server} are sha256:{found}, the manifest says sha256:{declared}")]
    OtherDefinitions { server: ServerName, declared: Digest, found: Digest },
    #[error("the server {server} cannot be started: {source}")]
    Start { server: ServerName, source: SandboxError },
    #[error("the server {server} is not connected: {why}")]
    Endpoint { server: ServerName, why: String },
    #[error("the server {server} is not connected: {loss}")]
    Lost { server: ServerName, loss: Box<Loss> },
    #[error("the server {server} did not {what} within {} ms{}", limit.as_millis(), loss.details())]
    Slow { server: ServerName, what: &'static str, limit: Duration, loss: Box<Loss> },
    #[error("the server {server} is not understood: {why}")]
    Protocol { server: ServerName, why: String },
}

impl ConnectError {
    /// Whether trying again may help, without anybody changing anything.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Lost { .. } | Self::Slow { .. } | Self::Start { .. } => true,
            Self::Credentials { .. }
            | Self::Package { .. }
            | Self::OtherDefinitions { .. }
            | Self::Secrets { .. }
            | Self::Folders { .. }
            | Self::Endpoint { .. }
            | Self::Protocol { .. } => false,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Credentials { unresolved, .. } => {
                unresolved.iter().map(Unresolved::hint).collect::<Vec<_>>().join(" ")
            }
            Self::Secrets { .. } => "Give the server fewer credentials.".to_owned(),
            Self::Folders { .. } => {
                "Look at the permissions of the data folder and at the free space.".to_owned()
            }
            Self::Package { source, .. } => source.hint(),
            Self::OtherDefinitions { found, .. } => {
                format!("Look at what changed with `mcl-tools diff`. If it is right, write sha256:{found}.")
            }
            Self::Start { .. } => {
                "Look at `command` and `args`, and whether the program is installed.".to_owned()
            }
            Self::Endpoint { .. } => "Look at the endpoint of the server.".to_owned(),
            Self::Lost { .. } | Self::Slow { .. } => {
                "Run the server by hand and look at what it complains about.".to_owned()
            }
            Self::Protocol { .. } => {
                "Ask the server's author to follow MCP, or use another version.".to_owned()
            }
        }
    }
}

fn listed(problems: &[impl fmt::Display]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// How a connection ended, with what the server complained about at last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loss {
    /// What happened.
    pub cause: Cause,
    /// Messages that were none, or that nobody waited for, and the last of them.
    pub odd: Option<(usize, Quoted)>,
    /// The end of what it wrote to its standard error, without secrets.
    pub complaint: String,
}

/// What ended a connection.
#[derive(Debug, Clone, Default, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message above each variant says what its fields are")]
pub enum Cause {
    #[default]
    #[error("it is not there any more")]
    Gone,
    #[error("it ended with exit code {0}")]
    Exited(i32),
    #[error("it was ended by signal {0}")]
    Killed(i32),
    #[error("it closed its output")]
    ClosedOutput,
    #[error("it closed its input")]
    ClosedInput,
    #[error("it does not read: {limit} bytes wait for it")]
    Unread { limit: usize },
    #[error("it sent a message of more than {limit} bytes")]
    MessageTooLong { limit: usize },
    #[error("it sent more than {limit} messages that are none or that nobody waits for")]
    TooOdd { limit: usize },
    #[error("it has more than {limit} requests open at once")]
    TooManyRequests { limit: usize },
    #[error("it did not answer whether it is there")]
    Silent,
    #[error("it forgot the session")]
    SessionForgotten,
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    #[error("it answered with status {status}{said}")]
    Status { status: u16, said: Quoted },
    #[error(
        "it redirects to {to}, and credentials do not follow: write the final URL into the configuration"
    )]
    Redirected { to: Quoted },
    #[error("its stream is not one of events: {0}")]
    BadStream(String),
    #[error("it was closed by us")]
    Closed,
    #[error("it offers something else than before")]
    Drifted,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.cause)?;
        self.write_details(f)
    }
}

impl Loss {
    fn write_details(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((count, last)) = &self.odd {
            write!(f, "; {count} messages made no sense, the last: {last}")?;
        }
        if !self.complaint.is_empty() {
            write!(f, "; its last words: {}", self.complaint)?;
        }
        Ok(())
    }

    /// The details alone, for when something else than the end of a connection is told.
    pub fn details(&self) -> Details<'_> {
        Details(self)
    }
}

/// What is known beside the cause.
#[derive(Debug)]
pub struct Details<'a>(&'a Loss);

impl fmt::Display for Details<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write_details(f)
    }
}

/// Why a call, or another question to a server, has no answer.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message above each variant says what its fields are")]
pub enum CallError {
    #[error("the server {server} has no tool {tool}")]
    NotOffered { server: ServerName, tool: ToolName },
    #[error("there is no server {server}")]
    NoServer { server: ServerName },
    #[error("the server {server} cannot be used: {why}")]
    Unavailable { server: ServerName, why: String },
    #[error("the server {server} offers something else than was accepted: {}", findings(report))]
    Drifted { server: ServerName, report: Report },
    #[error(
        "the server {server} was lost or failed before it answered, and may have done what it was asked: {loss}"
    )]
    Lost { server: ServerName, loss: Box<Loss> },
    #[error("the server {server} did not answer within {} ms{}", after.as_millis(), loss.details())]
    TimedOut { server: ServerName, after: Duration, loss: Box<Loss> },
    #[error("the call to the server {server} was cancelled")]
    Cancelled { server: ServerName },
    #[error("the server {server} refused: {message} (code {code})")]
    Refused { server: ServerName, code: i64, message: Quoted },
    #[error("the server {server} has {limit} calls to answer already; wait for one of them")]
    Busy { server: ServerName, limit: usize },
    #[error("the server {server} answered with something that is no result: {why}")]
    BadResult { server: ServerName, why: String },
    #[error("the list of the server {server} has no end: {why}")]
    EndlessList { server: ServerName, why: String },
    #[error("the server {server} asked for input {limit} times and still has no result")]
    TooManyRounds { server: ServerName, limit: usize },
    #[error("the server {server} needs to know something that nobody answers: {why}")]
    Unanswered { server: ServerName, why: Quoted },
    #[error("the server {server} says that it has no {what}")]
    HasNone { server: ServerName, what: &'static str },
    #[error(
        "the URI `{uri}` is none that could be asked for: empty, too long, or with spaces or what nobody sees"
    )]
    NoAddress { uri: Quoted },
    #[error("the tools of the server {server} are known, but it is not connected: they cannot be called")]
    Offline { server: ServerName },
}

impl CallError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotOffered { .. } | Self::NoServer { .. } => "Use one of the tools that are listed.",
            Self::Unavailable { .. } | Self::Offline { .. } => "Go on without it, or tell the user.",
            Self::Drifted { .. } => {
                "Tell the user: a person has to look at the differences and accept them, with `mxd servers`, or with \
                 `mcl-tools lock --accept` where no daemon is asked."
            }
            Self::Lost { .. } => "Find out whether the call had its effect before repeating it.",
            Self::TimedOut { .. } | Self::Busy { .. } => "Try again later, or with less to do.",
            Self::Cancelled { .. } => "Nothing; it was meant to be.",
            Self::Refused { .. } => "Look at the arguments.",
            Self::HasNone { .. } => "Use its tools.",
            Self::NoAddress { .. } => "Write it as the list of resources has it.",
            Self::Unanswered { .. } => "Tell the server with the arguments, if it takes them.",
            Self::BadResult { .. } | Self::EndlessList { .. } | Self::TooManyRounds { .. } => {
                "Ask the server's author to follow MCP."
            }
        }
    }
}

fn findings(report: &Report) -> String {
    report.findings.iter().map(super::told::finding).collect::<Vec<_>>().join("; ")
}
