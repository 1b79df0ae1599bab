//! What can go wrong with a model call, each kind with what to do about it.

use std::time::Duration;

use crate::limits;

/// Why a model call failed.
///
/// The message says what happened and to what; [`LlmError::hint`] says what to do. Neither ever holds a key:
/// what a server answers is scrubbed before it gets here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LlmError {
    /// The kind, on which decisions are made.
    pub class: Class,
    /// What happened, in the words of the server where it has some.
    pub message: String,
    /// The HTTP status, when there was one.
    pub status: Option<u16>,
    /// How long the server asks us to wait.
    pub retry_after: Option<Duration>,
    /// The server's name for the request, for its support.
    pub request_id: Option<String>,
    /// Bytes that the model had written when its answer was cut. None when there was no answer to cut: the provider
    /// refused the request, could not be reached, or no request was under way. Only then it is sure that nothing is billed.
    pub answered_bytes: Option<u64>,
}

impl LlmError {
    /// An error of this kind with nothing but a message.
    pub fn new(class: Class, message: impl Into<String>) -> Self {
        let message = shortened(message.into());
        Self { class, message, status: None, retry_after: None, request_id: None, answered_bytes: None }
    }

    /// What a person can do about it.
    pub fn hint(&self) -> &'static str {
        self.class.rule().hint
    }

    pub(crate) fn cancelled() -> Self {
        Self::new(Class::Cancelled, "the model call was cancelled")
    }

    /// The same for an answer that may have begun.
    pub(crate) fn after(self, bytes: u64) -> Self {
        Self { answered_bytes: Some(bytes), ..self }
    }
}

/// The kinds of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Too many requests or tokens for this key.
    RateLimit,
    /// The provider has more work than it can do.
    Overloaded,
    /// The provider failed.
    Server,
    /// The connection failed or was cut.
    Network,
    /// Nothing came for too long.
    Timeout,
    /// The circuit breaker keeps calls from a provider that is down.
    BreakerOpen,
    /// The key is missing, wrong or expired.
    Auth,
    /// The key may not do this.
    Permission,
    /// There is no money left.
    Quota,
    /// There is no such model or endpoint.
    NotFound,
    /// The provider does not understand the request.
    Invalid,
    /// The conversation does not fit the model's context.
    ContextTooLong,
    /// The request has too many bytes.
    TooLarge,
    /// The provider will not answer this.
    Refused,
    /// The provider's answer makes no sense.
    Protocol,
    /// We were told to stop.
    Cancelled,
    /// Our own data has no entry for the model.
    UnknownModel,
    /// Our own configuration cannot work.
    Config,
}

/// What is done about a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Whether asking again can help.
    pub retry: bool,
    /// Whether it speaks against the provider as a whole, so that the breaker counts it.
    pub trips: bool,
    /// What a person can do.
    pub hint: &'static str,
}

const fn again(hint: &'static str) -> Rule {
    Rule { retry: true, trips: false, hint }
}

const fn again_and_trips(hint: &'static str) -> Rule {
    Rule { retry: true, trips: true, hint }
}

const fn never(hint: &'static str) -> Rule {
    Rule { retry: false, trips: false, hint }
}

impl Class {
    /// The table.
    pub const fn rule(self) -> Rule {
        match self {
            Self::RateLimit => {
                again("wait, run fewer agents at once, or ask the provider for a higher limit")
            }
            Self::Overloaded => again_and_trips("wait, or use another model; the provider is overloaded"),
            Self::Server => again_and_trips("wait, and look at the provider's status page if it goes on"),
            Self::Network => again_and_trips("check the network, the proxy and the provider's base URL"),
            Self::Timeout => again_and_trips("try again, or raise the timeouts of this provider"),
            Self::BreakerOpen => again("wait; calls go on as soon as the provider answers again"),
            Self::Auth => never("check the API key of this provider"),
            Self::Permission => never("use a key that may use this model, or another model"),
            Self::Quota => never("add credit or raise the spending limit at the provider"),
            Self::NotFound => never("check the model's name and the provider's base URL"),
            Self::Invalid => never("this is a fault of the program or of a tool's schema; report it"),
            Self::ContextTooLong => never("compact the conversation, or use a model with a larger context"),
            Self::TooLarge => never("send fewer or smaller images and tool outputs"),
            Self::Refused => never("change what is asked; the provider will not answer this"),
            Self::Protocol => again("check that the base URL belongs to a server of this wire"),
            Self::Cancelled => never("nothing; it was asked for"),
            Self::UnknownModel => {
                never("add the model with its prices and limits to `models` in the configuration")
            }
            Self::Config => never("correct the configuration of this provider"),
        }
    }
}

/// A server's words, at most as many as help.
fn shortened(mut message: String) -> String {
    if let Some((at, _)) = message.char_indices().nth(limits::MESSAGE_CHARS) {
        message.truncate(at);
        message.push('…');
    }
    message
}
