//! What can go wrong for a command, with the exit code that scripts can tell it by.

use std::process::ExitCode;

use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::json;

use crate::say::{self, BAD};

/// What helps where nobody knows better.
const ANY_HINT: &str =
    "`--help` behind the command says what goes where; `mxd doctor` says what works on this machine.";

/// The codes of `mxd`, as its help lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// It was refused or did not work.
    Failed = 1,
    /// No daemon answers.
    Unreachable = 3,
    /// There is no such project, task or thing.
    NotFound = 4,
    /// The daemon does not know who asks.
    Unauthenticated = 5,
}

/// Why a command did not do what it was asked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    code: Code,
    name: String,
    message: String,
    hint: Option<String>,
}

#[derive(Deserialize)]
struct Body {
    error: Told,
}

#[derive(Deserialize)]
struct Told {
    code: String,
    message: String,
    #[serde(default)]
    hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { code: Code::Failed, name: "failed".to_owned(), message: message.into(), hint: None }
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self { code: Code::NotFound, name: "not_found".to_owned(), ..Self::new(message) }
    }

    /// The same under a name of its own for programs.
    #[must_use]
    pub(crate) fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        self
    }

    /// Nobody answers at the address.
    pub(crate) fn unreachable(base: &str, error: &reqwest::Error) -> Self {
        let why = if error.is_timeout() { "it does not answer in time" } else { "nobody answers there" };
        let failure = Self::new(format!("the daemon at {base} cannot be reached: {why}"));
        Self { code: Code::Unreachable, name: "unreachable".to_owned(), ..failure }
            .hint("`mxd up` starts it; `mxd daemon status` says more.")
    }

    /// No daemon is known.
    pub(crate) fn no_daemon() -> Self {
        let failure = Self::new("no daemon runs");
        Self { code: Code::Unreachable, name: "unreachable".to_owned(), ..failure }
            .hint("`mxd up` starts one in the background, `mxd serve` here.")
    }

    /// The daemon said no.
    pub(crate) fn refused(status: StatusCode, text: &str) -> Self {
        let code = match status {
            StatusCode::NOT_FOUND => Code::NotFound,
            StatusCode::UNAUTHORIZED => Code::Unauthenticated,
            StatusCode::SERVICE_UNAVAILABLE => Code::Unreachable,
            _ => Code::Failed,
        };
        match serde_json::from_str::<Body>(text) {
            Ok(Body { error }) => {
                // The daemon answers: it is the project that does not open.
                let code = if error.code == "project_broken" { Code::Failed } else { code };
                // What is written for programs that speak HTTP does not help somebody who types.
                let hint = error.hint.filter(|hint| !hint.contains("/openapi.json"));
                Self { code, name: error.code, message: error.message, hint }
            }
            Err(_) => Self { code, ..Self::new(format!("the daemon answered with {status}")) },
        }
    }

    /// What to do about it.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What to do about it, where nobody has said it yet.
    #[must_use]
    pub(crate) fn or_hint(self, hint: &str) -> Self {
        if self.hint.is_some() { self } else { self.hint(hint) }
    }

    /// The same with what `name` says in the place of ids.
    #[must_use]
    pub(crate) fn renamed(mut self, name: impl Fn(&str) -> String) -> Self {
        self.message = name(&self.message);
        self
    }

    /// Whether it names something by its id, which people do not know it by.
    pub(crate) fn has_ids(&self) -> bool {
        let is_id = |word: &str| word.len() == 26 && word.parse::<mxd_core::id::TaskId>().is_ok();
        self.message.split(|c: char| !c.is_ascii_alphanumeric()).any(is_id)
    }

    /// Whether this is why, as programs name it.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    pub(crate) fn is_unreachable(&self) -> bool {
        self.code == Code::Unreachable
    }

    /// All of it in one line, for whoever has no eyes for colours and codes.
    pub(crate) fn in_words(&self) -> String {
        format!("{} ({}). {}", self.message, self.name, self.hint.as_deref().unwrap_or(ANY_HINT))
    }

    /// Says it, on standard error, in the form that was asked for.
    pub(crate) fn tell(&self, as_json: bool) -> ExitCode {
        let hint = self.hint.as_deref().unwrap_or(ANY_HINT);
        if as_json {
            let error = json!({ "code": self.name, "message": self.message, "hint": hint });
            say::note(json!({ "error": error }).to_string());
        } else {
            say::note(format!("{BAD}error{BAD:#}: {}\n hint: {hint}", self.message));
        }
        ExitCode::from(self.code as u8)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}
