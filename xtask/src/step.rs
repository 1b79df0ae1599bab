//! One command of cargo or npm: how it is written for a reader, started, and timed.

use std::fmt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::{Verdict, say, workspace_root};

/// Whose command it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    Cargo,
    /// In the folder of the page.
    Npm,
    /// What this workspace has built.
    Mxd,
}

/// A command line with the variables it needs.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    program: Program,
    args: Vec<String>,
    env: Vec<(&'static str, String)>,
}

/// A step that ran to its end.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) took: Duration,
}

/// A step whose end is known and whose stdout was kept.
#[derive(Debug)]
pub(crate) struct Captured {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
}

/// A program that could not even be started, or whose output could not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot run `{step}`: {source}")]
pub(crate) struct NotStarted {
    step: String,
    source: std::io::Error,
}

impl Step {
    /// `cargo` with these arguments, split at spaces.
    pub(crate) fn cargo(words: &str) -> Self {
        Self::of(Program::Cargo, words)
    }

    /// `npm` with these arguments, for the page.
    pub(crate) fn npm(words: &str) -> Self {
        Self::of(Program::Npm, words)
    }

    /// The program itself, as [`page::with_program`](crate::page::with_program) left it.
    pub(crate) fn mxd(words: &str) -> Self {
        Self::of(Program::Mxd, words)
    }

    fn of(program: Program, words: &str) -> Self {
        Self { program, args: words.split_whitespace().map(str::to_owned).collect(), env: Vec::new() }
    }

    /// One more argument, taken as it is.
    pub(crate) fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// A variable for this step alone.
    pub(crate) fn env(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.env.push((name, value.into()));
        self
    }

    /// Runs with the developer's terminal.
    #[expect(clippy::disallowed_methods, reason = "how long a step took is for the developer to read")]
    pub(crate) fn run(&self) -> Result<Ended, NotStarted> {
        let start = Instant::now();
        let status = self.command().status().map_err(|source| self.not_started(source))?;
        Ok(Ended { status, took: start.elapsed() })
    }

    /// Runs with stdout kept; stderr goes to the developer.
    pub(crate) fn capture(&self) -> Result<Captured, NotStarted> {
        let output = self.command().stderr(Stdio::inherit()).output();
        let output = output.map_err(|source| self.not_started(source))?;
        Ok(Captured { status: output.status, stdout: output.stdout })
    }

    /// Whether the step succeeds; what it prints is thrown away.
    pub(crate) fn succeeds_quietly(&self) -> bool {
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    fn command(&self) -> Command {
        let mut command = match self.program {
            // Cargo names itself to the programs it starts: the same toolchain as the one that runs us.
            Program::Cargo => Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())),
            Program::Npm => Command::new("npm"),
            Program::Mxd => Command::new(target().join("quick/mxd")),
        };
        let folder = match self.program {
            Program::Cargo | Program::Mxd => workspace_root().to_owned(),
            Program::Npm => workspace_root().join("web"),
        };
        command.args(&self.args).current_dir(folder);
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    fn not_started(&self, source: std::io::Error) -> NotStarted {
        NotStarted { step: self.to_string(), source }
    }
}

/// As a developer would type it.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.env {
            write!(f, "{name}={} ", Quoted(value))?;
        }
        f.write_str(match self.program {
            Program::Cargo => "cargo",
            Program::Npm => "npm --prefix web",
            Program::Mxd => "target/quick/mxd",
        })?;
        self.args.iter().try_for_each(|arg| write!(f, " {}", Quoted(arg)))
    }
}

/// Where cargo puts what it builds.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace_root().join("target"), PathBuf::from)
}

struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@".contains(c);
        if !self.0.is_empty() && self.0.chars().all(plain) {
            f.write_str(self.0)
        } else {
            write!(f, "'{}'", self.0.replace('\'', r"'\''"))
        }
    }
}

/// Runs steps one after the other and stops at the first that fails, which is named.
pub(crate) fn in_turn(steps: impl IntoIterator<Item = Step>) -> Result<Verdict, String> {
    for step in steps {
        say::heading(step.to_string());
        let ended = step.run().map_err(|error| error.to_string())?;
        if !ended.status.success() {
            say::failed(format_args!("{step} ({})", describe(ended.status)), &step);
            return Ok(Verdict::Failed);
        }
    }
    Ok(Verdict::Passed)
}

/// `exit code 101`, or the signal that ended the process.
pub(crate) fn describe(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => status.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_shown_as_it_would_be_typed() {
        let step = Step::cargo("doc --no-deps").arg("a b").env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(step.to_string(), "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps 'a b'");
    }

    #[test]
    fn the_page_and_the_program_are_named_by_where_they_are() {
        assert_eq!(Step::npm("run build").to_string(), "npm --prefix web run build");
        assert_eq!(Step::mxd("demo --kill").to_string(), "target/quick/mxd demo --kill");
    }

    #[test]
    fn a_quote_inside_an_argument_survives_the_shell() {
        assert_eq!(Quoted("it's").to_string(), r"'it'\''s'");
        assert_eq!(Quoted("").to_string(), "''");
    }

    #[cfg(unix)]
    #[test]
    fn a_signal_is_named() {
        use std::os::unix::process::ExitStatusExt;
        assert_eq!(describe(ExitStatus::from_raw(1 << 8)), "exit code 1");
        assert!(describe(ExitStatus::from_raw(9)).contains("signal: 9"));
    }
}
