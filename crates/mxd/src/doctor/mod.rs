//! `mxd doctor`: what works on this machine, said plainly.

use std::process::{Command, ExitCode};

use clap::Args;
use mxd_tools::sandbox::{Launcher, Level, Mode, Policy, Sandbox};
use serde::Serialize;

use crate::say::{self, BAD, GOOD, WEAK};

#[derive(Debug, Args)]
pub(crate) struct Doctor {}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    name: &'static str,
    state: State,
    what: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Good,
    Weak,
    Bad,
}

impl Doctor {
    pub(crate) fn run(&self, as_json: bool) -> ExitCode {
        let mut findings = match say::wait_for(sandbox()) {
            Ok(findings) => findings,
            Err(error) => return say::failure(format!("cannot start: {error}")),
        };
        findings.push(program("git", &["--version"], "agents commit with it; install git 2.35 or newer"));
        findings.push(program("bash", &["--version"], "agents run their commands with it; install bash"));
        if as_json {
            say::line(serde_json::to_string_pretty(&findings).unwrap_or_default());
        } else {
            findings.iter().for_each(show);
        }
        let sound = findings.iter().all(|finding| finding.state != State::Bad);
        if sound { ExitCode::SUCCESS } else { ExitCode::from(1) }
    }
}

async fn sandbox() -> Vec<Finding> {
    match Sandbox::probe(launcher(), Mode::On).await {
        Err(error) => {
            vec![Finding { name: "sandbox", state: State::Bad, what: error.to_string(), notes: vec![] }]
        }
        Ok(sandbox) => {
            let (state, what) = match sandbox.level() {
                Level::Full => (State::Good, "full: namespaces, Landlock, seccomp"),
                Level::Landlock => (State::Weak, "landlock: Landlock and seccomp, no namespaces"),
                Level::Off => (State::Bad, "off"),
            };
            let groups = sandbox.cell(Policy::default());
            vec![
                Finding {
                    name: "sandbox",
                    state,
                    what: what.to_owned(),
                    notes: sandbox.shortfalls().to_vec(),
                },
                limits(groups.shortfalls()),
            ]
        }
    }
}

fn limits(missing: &[String]) -> Finding {
    let (state, what) = match missing {
        [] => (State::Good, "memory and processes are limited for each agent as a whole"),
        _ => (State::Weak, "memory and processes are limited for each process, not for an agent as a whole"),
    };
    Finding { name: "limits", state, what: what.to_owned(), notes: missing.to_vec() }
}

fn program(name: &'static str, arguments: &[&str], remedy: &str) -> Finding {
    let found = Command::new(name).args(arguments).output();
    match found.ok().filter(|output| output.status.success()) {
        Some(output) => {
            let text = String::from_utf8_lossy(&output.stdout);
            let what = text.lines().next().unwrap_or_default().to_owned();
            Finding { name, state: State::Good, what, notes: vec![] }
        }
        None => Finding { name, state: State::Bad, what: format!("not found: {remedy}"), notes: vec![] },
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
}

/// This binary, as a supervisor.
pub(crate) fn launcher() -> Launcher {
    let program = std::env::current_exe().unwrap_or_else(|_| "/proc/self/exe".into());
    Launcher { program, args: vec![crate::SANDBOX.to_owned()] }
}
