//! What a verb answers: the envelope, the error codes, and whether asking again can help.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::limits;

/// What kind of failure it was. Programs decide by this word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Code {
    /// The build could not be run: no fitting compiler, a missing import, a compiler that died or took too long.
    CompilerForgeFailed,
    /// The compiler ran and refused the sources; `details.diagnostics` has every message.
    CompilerSolcFailed,
    /// The tests could not be run, or there are none.
    TestForgeFailed,
    /// At least one test failed, or could not be judged.
    TestAssertionFailed,
    /// There is no chain of this name or number.
    ChainNotFound,
    /// The node of a chain did not answer, or answered nonsense.
    ChainRpcFailed,
    /// What was simulated reverts.
    SimulateFailed,
    /// A deployment did not happen, or is not known to have happened.
    DeployFailed,
    /// The idempotency key was used before, for something else.
    DeployIdempotentHit,
    /// A transaction did not happen, or is not known to have happened.
    CallFailed,
    /// There is no such artifact.
    ArtifactNotFound,
    /// There is nothing like that in the registry.
    RegistryNotFound,
    /// A policy does not allow it.
    WalletPolicyDenied,
    /// There is no account that could sign.
    WalletNotConfigured,
    /// The request itself is wrong.
    InvalidRequest,
    /// A fault of this program or of the machine it runs on.
    InternalError,
    /// The caller withdrew the request.
    Cancelled,
}

impl Code {
    /// Whether the same request can succeed later without anyone changing it.
    fn retry(self) -> bool {
        matches!(self, Self::ChainRpcFailed)
    }

    /// The word on the wire.
    pub fn word(self) -> String {
        let word = serde_json::to_value(self).ok();
        word.and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
    }
}

/// Why a verb failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// The kind.
    pub code: Code,
    /// What happened, to what, and what to do next.
    pub message: String,
    /// Whether the very same request may be sent again as it is.
    pub retry: bool,
    /// More, for programs.
    pub details: Option<Box<Value>>,
    /// What the verb can tell although it failed.
    pub data: Option<Box<Value>>,
}

impl Fault {
    /// A fault of this kind.
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        let mut message: String = message.into();
        if let Some((at, _)) = message.char_indices().nth(limits::MESSAGE_CHARS) {
            message.truncate(at);
            message.push('…');
        }
        Self { code, message, retry: code.retry(), details: None, data: None }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidRequest, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::InternalError, message)
    }

    pub(crate) fn cancelled() -> Self {
        Self::new(Code::Cancelled, "the call was cancelled; what was already sent is in the registry")
    }

    pub(crate) fn with_details(mut self, details: Value) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    pub(crate) fn with_data(mut self, data: &impl Serialize) -> Self {
        self.data = serde_json::to_value(data).ok().map(Box::new);
        self
    }

    fn error(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message, "retry": self.retry });
        if let Some(details) = &self.details {
            error["details"] = Value::clone(details);
        }
        error
    }
}

/// The answer to one call, as every transport gives it.
#[derive(Debug, Clone)]
pub struct Envelope(Result<Value, Fault>);

impl Envelope {
    /// The envelope around what a verb gave.
    pub fn new(outcome: Result<Value, Fault>) -> Self {
        Self(outcome)
    }

    /// Whether the verb did what was asked.
    pub fn is_ok(&self) -> bool {
        self.0.is_ok()
    }

    /// `{"ok":true,"data":…}` or `{"ok":false,"data"?:…,"error":{…}}`.
    pub fn to_json(&self) -> Value {
        match &self.0 {
            Ok(data) => json!({ "ok": true, "data": data }),
            Err(fault) => {
                let mut envelope = json!({ "ok": false });
                if let Some(data) = &fault.data {
                    envelope["data"] = Value::clone(data);
                }
                envelope["error"] = fault.error();
                envelope
            }
        }
    }

    /// The same, with the name of the tool in a failure, as MCP clients get it.
    pub fn to_tool_json(&self, tool: &str) -> Value {
        let plain = self.to_json();
        match plain {
            Value::Object(fields) if !self.is_ok() => {
                let mut named = serde_json::Map::new();
                named.insert("ok".into(), false.into());
                named.insert("tool".into(), tool.into());
                named.extend(fields.into_iter().filter(|(name, _)| name != "ok"));
                Value::Object(named)
            }
            other => other,
        }
    }

    /// Why it failed, when it did.
    pub fn fault(&self) -> Option<&Fault> {
        self.0.as_ref().err()
    }
}
