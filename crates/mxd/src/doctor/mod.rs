//! `mxd doctor`: what works on this machine and what does not, each with what to do about it.

mod machine;
pub(crate) mod settings;

use std::process::ExitCode;

use clap::Args;
use mxd_tools::sandbox::Launcher;
use serde::Serialize;

use crate::client::Failure;
use crate::command::scope::In;
use crate::say::{self, BAD, DIM, GOOD, WEAK};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mxd doctor            looks at this machine and at the settings; contacts nobody but a daemon on this machine
  mxd doctor --reach    also asks the providers of models which models they have

Exit codes: 0 agents can work here, perhaps with something weak or missing, 1 something is bad.")]
pub(crate) struct Doctor {
    /// Also asks each provider that agents use for the list of its models: whether it answers, and takes the key.
    #[arg(long)]
    reach: bool,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    name: &'static str,
    state: State,
    what: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Good,
    Weak,
    Bad,
}

impl Finding {
    fn new(name: &'static str, state: State, what: impl Into<String>) -> Self {
        Self { name, state, what: what.into(), notes: Vec::new(), fix: None }
    }

    fn good(name: &'static str, what: impl Into<String>) -> Self {
        Self::new(name, State::Good, what)
    }

    fn weak(name: &'static str, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..Self::new(name, State::Weak, what) }
    }

    fn bad(name: &'static str, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..Self::new(name, State::Bad, what) }
    }
}

impl Doctor {
    pub(crate) fn run(&self, scope: &In) -> ExitCode {
        let findings = match say::wait_for(self.look(scope)) {
            Ok(findings) => findings,
            Err(error) => return Failure::new(format!("cannot start: {error}")).tell(scope.json),
        };
        if scope.json {
            say::line(serde_json::to_string_pretty(&findings).unwrap_or_default());
        } else {
            findings.iter().for_each(show);
        }
        let sound = findings.iter().all(|finding| finding.state != State::Bad);
        if sound { ExitCode::SUCCESS } else { ExitCode::from(1) }
    }

    async fn look(&self, scope: &In) -> Vec<Finding> {
        let mut findings = machine::sandbox().await;
        findings.extend(machine::programs());
        findings.push(machine::identity().await);
        findings.extend(settings::look(scope, self.reach).await);
        findings.push(machine::daemon().await);
        findings
    }
}

fn show(finding: &Finding) {
    let (style, word) = match finding.state {
        State::Good => (GOOD, "ok"),
        State::Weak => (WEAK, "weak"),
        State::Bad => (BAD, "bad"),
    };
    say::line(format!("{style}{word:>5}{style:#}  {:<8} {}", finding.name, finding.what));
    for note in &finding.notes {
        say::line(format!("                {note}"));
    }
    if let Some(fix) = &finding.fix {
        say::line(format!("                {DIM}fix:{DIM:#} {fix}"));
    }
}

/// This binary, as a supervisor.
pub(crate) fn launcher() -> Launcher {
    Launcher::this_program(vec![crate::SANDBOX.to_owned()])
}
