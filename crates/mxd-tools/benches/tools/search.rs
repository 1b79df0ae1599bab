//! `search` against ripgrep, or against grep where that is missing.

use std::process::{Command, Stdio};

use mxd_tools::builtin::search::{Args, run as search};
use mxd_tools::outcome::Part;
use tokio_util::sync::CancellationToken;

use super::by_turns;
use super::repository::{NEEDLE, Repository};
use super::row::Row;

/// What the tool is held against.
struct Rival {
    name: &'static str,
    args: &'static [&'static str],
    bar: Option<&'static str>,
}

const RIPGREP: Rival =
    Rival { name: "rg", args: &["--no-config", "--line-number", "--color=never"], bar: Some("<= 1.5") };
/// Slower than ripgrep and without ignore rules; it shows the order of things and proves nothing.
const GREP: Rival = Rival { name: "grep", args: &["-rn"], bar: None };

pub(crate) fn run(repository: &Repository, rounds: usize) {
    let has_ripgrep = Command::new("rg").arg("--version").output().is_ok();
    let rival = if has_ripgrep { RIPGREP } else { GREP };
    let cases =
        [("a word in one file of a hundred", NEEDLE), ("an expression", r"needle_\w+ = compute\(\d+\)")];
    for (what, pattern) in cases {
        let args = Args { pattern: pattern.to_owned(), head_limit: Some(200), ..Args::default() };
        let expected = repository.files.div_ceil(100);
        let ours = || {
            let outcome = search(&args, &repository.scope, &CancellationToken::new());
            let [Part::Text(text)] = outcome.parts.as_slice() else { panic!("{outcome:?}") };
            assert_eq!(text.matches(NEEDLE).count(), expected.min(200));
        };
        let theirs = || assert_eq!(lines(repository, &rival, pattern), expected);
        let (value, baseline) = by_turns(rounds, ours, theirs);
        let metric = format!("search {} files for {what}, against {}", repository.files, rival.name);
        Row { metric, unit: "ms", value, baseline: Some(baseline), bar: rival.bar }.tell();
    }
}

/// How many lines the rival finds.
fn lines(repository: &Repository, rival: &Rival, pattern: &str) -> usize {
    // grep calls a basic expression what others call extended.
    let extended: &[&str] = if rival.name == "grep" { &["-P"] } else { &[] };
    let mut command = Command::new(rival.name);
    command.args(rival.args).args(extended).args([pattern, "."]);
    command.current_dir(repository.path()).stdin(Stdio::null());
    let output = command.output().unwrap();
    output.stdout.iter().filter(|byte| **byte == b'\n').count()
}
