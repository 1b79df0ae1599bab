//! `cargo xtask bench`: runs benchmark targets, reads their rows, holds them to their bars.
//!
//! A benchmark is one or more cargo bench targets with `harness = false`; each prints one JSON object per metric
//! on stdout (see [`row`]) and its progress on stderr.

mod bar;
mod list;
mod report;
mod row;

use crate::cli::BenchArgs;
use crate::step::{Step, describe};
use crate::{Verdict, say};
use list::{BENCHES, Bench};
use report::Report;

/// The names `cargo xtask bench` accepts.
pub(crate) fn names() -> Vec<&'static str> {
    BENCHES.iter().map(|bench| bench.name).collect()
}

/// The names with their descriptions, for the help text.
pub(crate) fn listing() -> String {
    let line = |bench: &Bench| format!("  {:<10} {}", bench.name, bench.description);
    BENCHES.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Runs the named benchmark, or all.
pub(crate) fn run(args: &BenchArgs) -> Result<Verdict, String> {
    let wanted = |bench: &&Bench| args.name.as_deref().is_none_or(|name| name == bench.name);
    let mut verdict = Verdict::Passed;
    for bench in BENCHES.iter().filter(wanted) {
        let report = measure(bench, args)?;
        match args.json {
            true => say::line(report.json()?),
            false => say::line(report.table().trim_end()),
        }
        let missed = report.missed();
        if !missed.is_empty() {
            let again = format!("cargo xtask bench {}", bench.name);
            say::failed(format_args!("bench {}: bar missed by {}", bench.name, missed.join(", ")), again);
            verdict = Verdict::Failed;
        }
    }
    Ok(verdict)
}

fn measure(bench: &Bench, args: &BenchArgs) -> Result<Report, String> {
    let step = step(bench, args);
    say::heading(&step);
    let captured = step.capture().map_err(|error| error.to_string())?;
    if !captured.status.success() {
        return Err(format!("bench {} did not finish ({})", bench.name, describe(captured.status)));
    }
    let stdout = String::from_utf8_lossy(&captured.stdout);
    let rows = row::parse_all(&stdout).map_err(|error| format!("bench {}: {error}", bench.name))?;
    Ok(Report { bench: bench.name, rows })
}

fn step(bench: &Bench, args: &BenchArgs) -> Step {
    // As parts of the workspace they share what is built; one package alone would have its dependencies anew.
    let cargo = Step::cargo("bench --workspace");
    let step = bench.targets.iter().fold(cargo, |step, target| step.arg("--bench").arg(*target));
    let flags = [("--quick", args.quick), ("--peers", args.peers && bench.has_peers)];
    let mut flags = flags.into_iter().filter(|(_, wanted)| *wanted).map(|(flag, _)| flag).peekable();
    let step = if flags.peek().is_some() { step.arg("--") } else { step };
    flags.fold(step, |step, flag| step.arg(flag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_reaches_the_bench_target() {
        let mut args = BenchArgs { name: None, json: false, quick: false, peers: false };
        assert_eq!(step(&BENCHES[0], &args).to_string(), "cargo bench --workspace --bench log");
        args.quick = true;
        assert_eq!(step(&BENCHES[0], &args).to_string(), "cargo bench --workspace --bench log -- --quick");
        let both = "cargo bench --workspace --bench models --bench allocations -- --quick";
        assert_eq!(step(&BENCHES[1], &args).to_string(), both);
    }

    #[test]
    fn peers_are_for_the_benchmarks_that_know_some() {
        let args = BenchArgs { name: None, json: false, quick: true, peers: true };
        let commands: Vec<String> = BENCHES.iter().map(|bench| step(bench, &args).to_string()).collect();
        let with: Vec<_> =
            commands.iter().filter(|command| command.ends_with("-- --quick --peers")).collect();
        assert_eq!(with, ["cargo bench --workspace --bench agents -- --quick --peers"]);
    }

    #[test]
    fn names_are_unique_and_described() {
        let mut names = names();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), BENCHES.len());
        assert!(BENCHES.iter().all(|bench| !bench.description.is_empty()));
    }
}
