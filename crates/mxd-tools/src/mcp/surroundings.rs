//! What connections need from outside: where programs run, who knows secrets, and who answers servers.

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use mxd_core::manifest::{Sampling, ServerSpec};
use mxd_core::tool::ServerName;
use secrecy::SecretString;
use serde_json::Value;

use super::limits::Limits;
use crate::package::Packages;
use crate::sandbox::{Agent, Sandbox};

/// Who knows the value of a variable.
pub type SecretLookup = Arc<dyn Fn(&str) -> Option<SecretString> + Send + Sync>;

/// What connections need from outside.
#[derive(Clone)]
pub struct Surroundings {
    /// What starts programs.
    pub sandbox: Sandbox,
    /// The agent whose servers these are. A server's process is held to the classes of its tools.
    pub agent: Agent,
    /// Who verifies the packages of servers; without it no server that has one is started.
    pub packages: Option<Packages>,
    /// The variables that make programs use the agent's proxy; only servers that may use the network get them.
    pub proxy_env: Vec<(String, String)>,
    /// Who knows the values of the variables that servers refer to.
    pub secrets: SecretLookup,
    /// What servers are told when they ask.
    pub answers: Answers,
    /// Servers elsewhere that may be reached without TLS, as `host:port`, besides those on this machine.
    pub plain_http: Vec<String>,
    /// How much a server may do.
    pub limits: Limits,
}

impl fmt::Debug for Surroundings {
    /// Without the variables of the proxy, which may hold its token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings").field("agent", &self.agent).finish_non_exhaustive()
    }
}

/// What servers are told when they ask. What is not there is not offered, and asking for it anyway is refused.
#[derive(Clone, Default)]
pub struct Answers {
    /// The folders a server is told about.
    pub roots: Vec<PathBuf>,
    /// Who lets a model write for a server whose entry says that it may have that.
    pub sampling: Option<Answerer>,
    /// Who asks the user for a server.
    pub elicitation: Option<Answerer>,
}

impl Answers {
    /// What this server is told: a model writes only for those whose entry says so.
    pub(super) fn of_server(&self, spec: &ServerSpec) -> Self {
        let sampling = match spec.sampling {
            Sampling::On => self.sampling.clone(),
            Sampling::Off => None,
        };
        Self { sampling, ..self.clone() }
    }

    /// The same for a server that sees no worktree: what is asked of the user is about what the agent works on.
    pub(super) fn without_worktree(&self) -> Self {
        Self { sampling: self.sampling.clone(), ..Self::default() }
    }

    /// Whether servers are told nothing.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty() && self.sampling.is_none() && self.elicitation.is_none()
    }
}

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answers")
            .field("roots", &self.roots)
            .field("sampling", &self.sampling.is_some())
            .field("elicitation", &self.elicitation.is_some())
            .finish()
    }
}

/// A question of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Who asks.
    pub server: ServerName,
    /// What, as the protocol has it.
    pub params: Value,
}

/// Why a question of a server is not answered; the server reads it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

/// What is to be answered, some day.
pub type Answering = Pin<Box<dyn Future<Output = Result<Value, Refusal>> + Send>>;

/// Somebody who answers questions of servers.
pub type Answerer = Arc<dyn Fn(Question) -> Answering + Send + Sync>;
