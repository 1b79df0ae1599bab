//! `cargo xtask test`: what must pass before a commit, cheapest first.

use std::time::Duration;

use crate::cli::TestArgs;
use crate::step::{Step, describe};
use crate::{Verdict, page, say};

/// What can be done on this machine; nothing is installed to make it more.
#[derive(Clone, Copy, Debug)]
struct Tools {
    nextest: bool,
    deny: bool,
    npm: bool,
    /// Whether there is a Chromium, or one could be installed.
    browser: bool,
}

#[derive(Debug)]
enum Part {
    Run { title: String, step: Step },
    Skip { reason: &'static str },
}

/// Runs every part in order and stops at the first that fails.
pub(crate) fn run(args: &TestArgs) -> Result<Verdict, String> {
    let mut times = Vec::new();
    for part in plan(args, Tools::installed()) {
        let (title, step) = match part {
            Part::Run { title, step } => (title, step),
            Part::Skip { reason } => {
                say::note(format_args!("{}{reason}{:#}", say::FAINT, say::FAINT));
                continue;
            }
        };
        say::heading(&title);
        let ended = step.run().map_err(|error| error.to_string())?;
        if !ended.status.success() {
            say::failed(format_args!("{title} ({})", describe(ended.status)), &step);
            return Ok(Verdict::Failed);
        }
        times.push((title, ended.took));
    }
    say::line(summary(&times).trim_end());
    Ok(Verdict::Passed)
}

impl Tools {
    fn installed() -> Self {
        Self {
            nextest: Step::cargo("nextest --version").succeeds_quietly(),
            deny: Step::cargo("deny --version").succeeds_quietly(),
            npm: page::has_npm(),
            browser: page::has_browser(),
        }
    }
}

/// What is quick comes first, so that a slip is told within seconds.
fn plan(args: &TestArgs, tools: Tools) -> Vec<Part> {
    let mut parts = vec![
        part(Step::cargo("fmt --all --check")),
        match tools.deny {
            true => part(Step::cargo("deny check licenses bans sources")),
            false => Part::Skip {
                reason: "cargo deny is not installed; skipped (install: cargo install cargo-deny)",
            },
        },
    ];
    parts.extend(page_parts(args, tools));
    parts.extend([
        part(Step::cargo("clippy --workspace --all-targets -- -D warnings")),
        part(Step::cargo("doc --workspace --no-deps").env("RUSTDOCFLAGS", "-D warnings")),
        part(filtered(Step::cargo("test --workspace --doc"), args)),
    ]);
    let test = filtered(test_runner(tools), args);
    let rounds = args.repeat.get();
    parts.extend((1..=rounds).map(|round| match rounds {
        1 => part(test.clone()),
        _ => Part::Run { title: format!("{test} (round {round} of {rounds})"), step: test.clone() },
    }));
    parts.extend(browser_parts(args, tools));
    parts
}

/// The page is built before the program, which has it inside. Whoever filters wants some tests of Rust.
fn page_parts(args: &TestArgs, tools: Tools) -> Vec<Part> {
    match (&args.filter, tools.npm) {
        (Some(_), _) => Vec::new(),
        (None, true) => page::build().into_iter().chain(page::checks()).map(part).collect(),
        (None, false) => {
            vec![Part::Skip { reason: "npm is not installed; the page is not tested (install: Node.js)" }]
        }
    }
}

/// The page in a browser: with a small daemon of its own, and with the program that the tests have built.
fn browser_parts(args: &TestArgs, tools: Tools) -> Vec<Part> {
    match (&args.filter, tools.npm, tools.browser) {
        (Some(_), _, _) | (None, false, _) => Vec::new(),
        (None, true, true) => page::journeys().into_iter().map(part).collect(),
        (None, true, false) => {
            vec![Part::Skip {
                reason: "there is no Chromium; the page is not tested in a browser (install: chromium)",
            }]
        }
    }
}

/// Without `--tests`, `cargo test` would run the doc tests too, and they have their own step.
fn test_runner(tools: Tools) -> Step {
    match tools.nextest {
        true => Step::cargo("nextest run --workspace"),
        false => Step::cargo("test --workspace --tests"),
    }
}

fn filtered(step: Step, args: &TestArgs) -> Step {
    match &args.filter {
        Some(filter) => step.arg(filter),
        None => step,
    }
}

fn part(step: Step) -> Part {
    Part::Run { title: step.to_string(), step }
}

fn summary(times: &[(String, Duration)]) -> String {
    let total: Duration = times.iter().map(|(_, took)| *took).sum();
    let row = |title: &str, took: Duration| format!("{:>8.1} s  {title}\n", took.as_secs_f64());
    let rows: String = times.iter().map(|(title, took)| row(title, *took)).collect();
    rows + &row("all passed", total)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    const ALL: Tools = Tools { nextest: true, deny: true, npm: true, browser: true };
    const NONE: Tools = Tools { nextest: false, deny: false, npm: false, browser: false };

    fn titles(args: &TestArgs, tools: Tools) -> Vec<String> {
        let title = |part| match part {
            Part::Run { title, .. } => title,
            Part::Skip { reason } => reason.to_owned(),
        };
        plan(args, tools).into_iter().map(title).collect()
    }

    fn args(filter: Option<&str>, repeat: u32) -> TestArgs {
        TestArgs { filter: filter.map(str::to_owned), repeat: NonZeroU32::new(repeat).unwrap() }
    }

    #[test]
    fn the_plan_with_every_tool() {
        let expected = [
            "cargo fmt --all --check",
            "cargo deny check licenses bans sources",
            "npm --prefix web ci --no-audit --no-fund",
            "npm --prefix web run build",
            "npm --prefix web run check",
            "npm --prefix web test",
            "cargo clippy --workspace --all-targets -- -D warnings",
            "RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps",
            "cargo test --workspace --doc",
            "cargo nextest run --workspace",
            "npm --prefix web run e2e",
            "cargo build --workspace --bins --tests",
            "npm --prefix web run e2e:real",
        ];
        assert_eq!(titles(&args(None, 1), ALL), expected);
    }

    #[test]
    fn a_missing_tool_is_replaced_or_named_and_never_installed() {
        let titles = titles(&args(None, 1), NONE);
        assert!(titles[1].starts_with("cargo deny is not installed; skipped"));
        assert!(titles[2].starts_with("npm is not installed; the page is not tested"));
        assert_eq!(titles[6], "cargo test --workspace --tests");
        assert_eq!(titles.len(), 7);
    }

    #[test]
    fn repeat_multiplies_the_test_step_only() {
        let titles = titles(&args(Some("log"), 3), ALL);
        assert_eq!(titles.len(), 8, "and nothing of the page");
        assert_eq!(titles[4], "cargo test --workspace --doc log");
        assert_eq!(titles[5], "cargo nextest run --workspace log (round 1 of 3)");
        assert_eq!(titles[7], "cargo nextest run --workspace log (round 3 of 3)");
    }

    #[test]
    fn the_summary_adds_up() {
        let times = [
            ("first".to_owned(), Duration::from_millis(1_500)),
            ("second".to_owned(), Duration::from_secs(10)),
        ];
        assert_eq!(summary(&times), "     1.5 s  first\n    10.0 s  second\n    11.5 s  all passed\n");
    }
}
