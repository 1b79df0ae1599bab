//! One connection to one server.

use std::sync::Arc;
use std::time::Duration;

use mxd_core::manifest::{Discovered, LockedServer, Report, ServerSpec};
use mxd_core::raw::RawJson;
use mxd_core::tool::{ServerName, ToolName};
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::error::{CallError, ConnectError, Loss};
use super::surroundings::Surroundings;

/// A connection to a server. Dropping it ends the server's process with everything it started.
#[derive(Debug)]
pub struct Connection {
    _todo: (),
}

/// What a call is allowed.
#[derive(Debug, Clone)]
pub struct CallOptions {
    /// How long it may take.
    pub deadline: Duration,
    /// When it is not wanted any more.
    pub cancel: CancellationToken,
    /// Who is told how far it is; what does not fit is dropped.
    pub progress: Option<mpsc::Sender<Progress>>,
}

/// How far a call is.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// So far.
    pub done: f64,
    /// Of how much, when the server knows.
    pub of: Option<f64>,
    /// In words.
    pub message: Option<String>,
}

/// Which of the two kinds of protocol a server speaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Era {
    /// With a greeting at the beginning, in this version.
    Greeting(String),
    /// Without state between requests, in this version.
    Stateless(String),
}

/// What a server says about itself. None of it is to be relied on.
#[derive(Debug, Clone, PartialEq)]
pub struct Introduction {
    /// Which protocol it speaks.
    pub era: Era,
    /// Name and version, as it says.
    pub server_info: Option<Value>,
    /// What it can do, as it says.
    pub capabilities: Map<String, Value>,
    /// How it wants to be used, as it says.
    pub instructions: Option<String>,
}

impl Connection {
    /// Starts or reaches a server, greets it, and asks what it offers.
    ///
    /// What it offers is held against what was declared and accepted; whether a difference matters is for the caller
    /// to say: see [`Connection::report`].
    ///
    /// # Errors
    ///
    /// When it cannot be started or reached, is too slow, or does not speak the protocol.
    pub async fn open(
        spec: &ServerSpec,
        locked: Option<&LockedServer>,
        around: &Arc<Surroundings>,
    ) -> Result<Self, ConnectError> {
        todo!()
    }

    /// The server's name.
    pub fn server(&self) -> &ServerName {
        todo!()
    }

    /// What it said about itself.
    pub fn introduction(&self) -> &Introduction {
        todo!()
    }

    /// What it offered when it was last asked.
    pub fn discovered(&self) -> Arc<Discovered> {
        todo!()
    }

    /// The definitions as they came, byte for byte.
    pub fn definitions(&self) -> Arc<[RawJson]> {
        todo!()
    }

    /// What is different from what was declared and accepted.
    pub fn report(&self) -> Arc<Report> {
        todo!()
    }

    /// Calls a tool. What comes back is the result as the server wrote it, without our secrets.
    ///
    /// # Errors
    ///
    /// When there is no result; a tool that failed is one.
    pub async fn call(
        &self,
        tool: &ToolName,
        args: &Value,
        options: CallOptions,
    ) -> Result<Value, CallError> {
        todo!()
    }

    /// Asks again what the server offers, and compares.
    ///
    /// # Errors
    ///
    /// When it does not say.
    pub async fn relist(&self) -> Result<Arc<Report>, CallError> {
        todo!()
    }

    /// The resources it has.
    ///
    /// # Errors
    ///
    /// When it does not say.
    pub async fn resources(&self) -> Result<Vec<Value>, CallError> {
        todo!()
    }

    /// Reads a resource: the result as the server wrote it, without our secrets.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub async fn read_resource(&self, uri: &str) -> Result<Value, CallError> {
        todo!()
    }

    /// The prompts it has.
    ///
    /// # Errors
    ///
    /// When it does not say.
    pub async fn prompts(&self) -> Result<Vec<Value>, CallError> {
        todo!()
    }

    /// How it ended, once it has.
    pub fn loss(&self) -> Option<Loss> {
        todo!()
    }

    /// Waits until it has ended by itself.
    pub async fn lost(&self) -> Loss {
        todo!()
    }

    /// Ends it: the server's input is closed, it has a moment, then its whole process tree is ended.
    pub async fn close(self) {
        todo!()
    }
}
