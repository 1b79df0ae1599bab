//! What a command comes to, for people and for programs.
//!
//! With `--json` there is exactly one document on standard output, whatever happens:
//! `{"command", "ok", "exit", "result", "warnings": [{message, hint}], "problems": [{code, message, path, line,
//! server, hint}]}`. `result` is null when there is none. For people the result is on standard output, warnings and
//! problems are on standard error.

use std::io::Write as _;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use mxd_core::manifest::{Fault, Problem, Problems};
use mxd_core::tool::visible;
use serde::Serialize;
use serde_json::{Value, json};

use crate::code::Code;

/// Good.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
/// Works, but needs a look.
pub(crate) const WEAK: Style = AnsiColor::Yellow.on_default().bold();
/// Does not work, or must not be relied on.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// Beside the point.
pub(crate) const DIM: Style = Style::new().dimmed();

/// What a command comes to.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// For programs.
    pub(crate) result: Value,
    /// The same for people.
    pub(crate) text: String,
    /// What should be known.
    pub(crate) warnings: Vec<Warning>,
    /// What is wrong.
    pub(crate) problems: Vec<Trouble>,
}

/// Something that should be known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Warning {
    pub(crate) message: String,
    pub(crate) hint: String,
    /// How it is shown.
    #[serde(skip)]
    pub(crate) weight: Weight,
}

/// How much a warning matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// Somebody should look.
    Look,
    /// Nobody should rely on it.
    Danger,
}

impl Warning {
    /// Something that somebody should look at.
    pub(crate) fn look(message: impl ToString, hint: impl ToString) -> Self {
        Self { message: message.to_string(), hint: hint.to_string(), weight: Weight::Look }
    }

    /// Something that nobody should rely on.
    pub(crate) fn danger(message: impl ToString, hint: impl ToString) -> Self {
        Self { weight: Weight::Danger, ..Self::look(message, hint) }
    }
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Trouble {
    pub(crate) code: Code,
    pub(crate) message: String,
    /// Where in a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<usize>,
    /// With which server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) server: Option<String>,
    pub(crate) hint: String,
}

impl Trouble {
    /// Something is wrong.
    pub(crate) fn new(code: Code, message: impl ToString, hint: impl ToString) -> Self {
        let (message, hint) = (message.to_string(), hint.to_string());
        Self { code, message, path: None, line: None, server: None, hint }
    }

    /// With this server.
    pub(crate) fn of_server(self, server: impl ToString) -> Self {
        Self { server: Some(server.to_string()), ..self }
    }

    /// All that is wrong with a file.
    pub(crate) fn of_file(file: &str, problems: &Problems) -> Vec<Self> {
        let is_placeholder = |problem: &Problem| problem.fault == Fault::PlaceholderDigest;
        let only_placeholders = problems.problems.iter().all(is_placeholder);
        let code = if only_placeholders { Code::Digest } else { Code::Invalid };
        let trouble = |problem: &Problem| {
            let message = match problem.path.as_str() {
                "" => format!("{file}: {}", problem.fault),
                path => format!("{file}: {path} (line {}): {}", problem.position.line, problem.fault),
            };
            let path = Some(problem.path.clone()).filter(|path| !path.is_empty());
            let line = Some(problem.position.line);
            Self { path, line, ..Self::new(code, message, problem.fault.hint()) }
        };
        let mut troubles: Vec<Self> = problems.problems.iter().map(trouble).collect();
        if problems.more > 0 {
            let more = format!("{file}: and {} more problems", problems.more);
            troubles.push(Self::new(code, more, "Correct these first."));
        }
        troubles
    }
}

/// Why a command has no result.
pub(crate) type Failure = Vec<Trouble>;

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        vec![trouble]
    }
}

impl From<Trouble> for Answer {
    fn from(trouble: Trouble) -> Self {
        Self { problems: vec![trouble], ..Self::default() }
    }
}

impl From<Failure> for Answer {
    fn from(problems: Failure) -> Self {
        Self { problems, ..Self::default() }
    }
}

/// How answers are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Json,
}

impl Answer {
    /// The code of the first problem, or none.
    pub(crate) fn code(&self) -> Code {
        self.problems.first().map_or(Code::Done, |problem| problem.code)
    }

    /// Says it, and gives the code.
    pub(crate) fn give(&self, command: &str, format: Format) -> ExitCode {
        let code = self.code();
        match format {
            Format::Json => {
                let document = json!({
                    "command": command,
                    "ok": code == Code::Done,
                    "exit": code.number(),
                    "result": self.result,
                    "warnings": self.warnings,
                    "problems": self.problems,
                });
                let text = serde_json::to_string_pretty(&document).unwrap_or_default();
                let _closed = writeln!(anstream::stdout(), "{text}");
            }
            Format::Text => self.tell(),
        }
        ExitCode::from(code.number())
    }

    /// Nobody reading is not our fault.
    fn tell(&self) {
        let _closed = write!(anstream::stdout(), "{}", self.text);
        let mut complain = anstream::stderr();
        for Warning { message, hint, weight } in &self.warnings {
            let message = visible(message);
            let _closed = match weight {
                Weight::Look => writeln!(complain, "{WEAK}warning{WEAK:#}: {message}"),
                Weight::Danger => writeln!(complain, "{BAD}warning: {message}{BAD:#}"),
            };
            let _closed = writeln!(complain, "  {DIM}hint{DIM:#}: {hint}");
        }
        for problem in &self.problems {
            let _closed = writeln!(complain, "{BAD}error{BAD:#}: {}", visible(&problem.message));
            let _closed = writeln!(complain, "  {DIM}hint{DIM:#}: {}", problem.hint);
        }
    }
}
