//! Errors as clients see them: a status, a code for programs, a message and a hint for people.

use std::borrow::Cow;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use mxd_core::decide::Refusal;
use mxd_core::lookup::LookupError;
use mxd_engine::config::WriteError;
use mxd_engine::home::HomeError;
use mxd_engine::project::{LookError, SetBaseBranchError, WishError};
use schemars::JsonSchema;
use serde::Serialize;

/// The body of every answer that is an error.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ErrorBody {
    error: ErrorPart,
}

/// What went wrong.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct ErrorPart {
    /// A name for programs, in snake case.
    code: Cow<'static, str>,
    /// What happened, to what.
    message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<Cow<'static, str>>,
}

/// Why a request was not done.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    status: StatusCode,
    part: ErrorPart,
    /// Seconds after which trying again makes sense.
    retry_after: Option<u64>,
}

pub(crate) type Answer<T> = Result<T, Fault>;

impl Fault {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        let part = ErrorPart { code: code.into(), message: message.into(), hint: None };
        Self { status, part, retry_after: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.part.hint = Some(hint.into());
        self
    }

    pub(crate) fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid", message).hint("/openapi.json says what goes where.")
    }

    pub(crate) fn unfit(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "schema", message)
            .hint("/openapi.json says what goes here.")
    }

    pub(crate) fn not_found(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, message)
    }

    pub(crate) fn conflict(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, message)
    }

    pub(crate) fn too_large(limit: usize) -> Self {
        let message = format!("the body has more than {limit} bytes");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
            .hint("Send less at once, or put the text into a file and name the file.")
    }

    pub(crate) fn starting() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "starting", "the daemon takes up what was going on")
            .hint("Try again in a moment.")
            .retry_after(1)
    }

    pub(crate) fn broken(problem: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "project_broken", problem).hint(
            "Put that right, then restart it: any change of its settings does, or `mxd daemon restart`.",
        )
    }

    /// Something of ours or of the machine's failed.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
            .hint("Look at the log of the daemon, and tell us.")
    }

    pub(crate) fn code(&self) -> &str {
        &self.part.code
    }

    pub(crate) fn message(&self) -> &str {
        &self.part.message
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        let status = match &refusal {
            Refusal::UnknownTask { .. } | Refusal::NoSuchTask { .. } => StatusCode::NOT_FOUND,
            Refusal::InboxFull { .. } => StatusCode::TOO_MANY_REQUESTS,
            _ => StatusCode::CONFLICT,
        };
        Self::new(status, refusal.code(), refusal.to_string()).hint(refusal.hint())
    }
}

impl From<WishError> for Fault {
    fn from(error: WishError) -> Self {
        match error {
            WishError::Refused(refusal) => refusal.into(),
            WishError::Disk(why) => Self::new(StatusCode::SERVICE_UNAVAILABLE, "disk", why)
                .hint("Free some space and try again; nothing was changed."),
            WishError::Closed => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "closed", "the project is closed or restarts")
                    .hint("Try again in a moment.")
                    .retry_after(1)
            }
        }
    }
}

impl From<HomeError> for Fault {
    fn from(error: HomeError) -> Self {
        let status = match &error {
            HomeError::Unknown { .. } => StatusCode::NOT_FOUND,
            HomeError::NoFolder { .. } | HomeError::NotAFolder { .. } | HomeError::Name { .. } => {
                StatusCode::BAD_REQUEST
            }
            HomeError::Registered { .. }
            | HomeError::TooMany { .. }
            | HomeError::Repository(_)
            | HomeError::Bare { .. }
            | HomeError::NotOpened { .. } => StatusCode::CONFLICT,
            HomeError::InUse { .. } | HomeError::File { .. } | HomeError::Registry { .. } => {
                StatusCode::SERVICE_UNAVAILABLE
            }
        };
        Self::new(status, error.code(), error.to_string()).hint(error.hint())
    }
}

impl From<LookupError> for Fault {
    fn from(error: LookupError) -> Self {
        let (status, code) = match &error {
            LookupError::Unknown { .. } => (StatusCode::NOT_FOUND, "unknown_task"),
            LookupError::TooShort { .. } | LookupError::NotAnId { .. } => {
                (StatusCode::NOT_FOUND, "not_an_id")
            }
            LookupError::Ambiguous { .. } => (StatusCode::CONFLICT, "ambiguous_id"),
        };
        Self::new(status, code, error.to_string()).hint("Look at the tree and copy the id.")
    }
}

impl From<LookError> for Fault {
    fn from(error: LookError) -> Self {
        match &error {
            LookError::NoBranch => Self::conflict("no_branch", error.to_string())
                .hint("A task gets its branch when it starts, and loses it when it is put away."),
            LookError::Git(_) => {
                Self::conflict("git", error.to_string()).hint("See to the repository and try again.")
            }
        }
    }
}

impl From<SetBaseBranchError> for Fault {
    fn from(error: SetBaseBranchError) -> Self {
        match error {
            SetBaseBranchError::Refused(error) => error.into(),
            SetBaseBranchError::Branch(error) => {
                Self::conflict("base_branch", error.to_string()).hint("`git branch` lists the branches.")
            }
        }
    }
}

impl From<WriteError> for Fault {
    fn from(error: WriteError) -> Self {
        let hint = error.hint();
        let fault = match &error {
            WriteError::NoLayer { .. } => Self::not_found("no_layer", error.to_string()),
            WriteError::Refused(_) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "configuration", error.to_string())
            }
            WriteError::Io { .. } => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "configuration_file", error.to_string())
            }
        };
        fault.hint(hint)
    }
}

impl From<mxd_store::ReadError> for Fault {
    fn from(error: mxd_store::ReadError) -> Self {
        Self::internal(format!("the log cannot be read: {error}"))
    }
}

impl From<tokio::task::JoinError> for Fault {
    fn from(error: tokio::task::JoinError) -> Self {
        Self::internal(format!("the work broke off: {error}"))
    }
}

impl From<getrandom::Error> for Fault {
    fn from(error: getrandom::Error) -> Self {
        Self::internal(format!("the system has no randomness: {error}"))
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        if self.status.is_server_error() && self.status != StatusCode::SERVICE_UNAVAILABLE {
            tracing::error!(code = self.code(), message = self.message(), "a request failed");
        }
        let text = serde_json::to_string(&ErrorBody { error: self.part }).unwrap_or_default();
        let mut response = Response::new(Body::from(text));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
