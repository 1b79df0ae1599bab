//! `cargo xtask chaos`: tests of the ordinary suite, given minutes instead of a moment.
//!
//! The tests read `MXD_CHAOS_MINUTES` or `MXD_CHAOS_ROUNDS`, and `MXD_CHAOS_SEED`; without them they run small.

mod list;
mod values;

use crate::cli::ChaosArgs;
use crate::step::{Step, describe};
use crate::{Verdict, say};
use list::{CHAOS, Chaos};
use values::Length;
pub(crate) use values::{Minutes, Seed};

/// The names `cargo xtask chaos` accepts.
pub(crate) fn names() -> Vec<&'static str> {
    CHAOS.iter().map(|chaos| chaos.name).collect()
}

/// The names with their descriptions, for the help text.
pub(crate) fn listing() -> String {
    let line = |chaos: &Chaos| format!("  {:<10} {}", chaos.name, chaos.description);
    CHAOS.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Runs the named test, or all; a failure does not keep the others from running.
pub(crate) fn run(args: &ChaosArgs) -> Result<Verdict, String> {
    let chosen = chosen(args.name.as_deref());
    let length = match args.rounds {
        Some(rounds) => Length::Rounds(rounds),
        None => Length::Minutes(args.minutes.split(chosen.len())),
    };
    let seed = args.seed.unwrap_or_else(Seed::fresh);
    say::note(format_args!("seed {seed}"));
    let mut failures = Vec::new();
    for chaos in chosen {
        if let Err(reason) = run_one(chaos, length, seed)? {
            failures.push((chaos, reason));
        }
    }
    for (chaos, reason) in &failures {
        let again = again(chaos, length, seed);
        say::failed(format_args!("chaos {} ({reason})", chaos.name), again);
    }
    Ok(if failures.is_empty() { Verdict::Passed } else { Verdict::Failed })
}

fn chosen(name: Option<&str>) -> Vec<&'static Chaos> {
    CHAOS.iter().filter(|chaos| name.is_none_or(|name| name == chaos.name)).collect()
}

fn again(chaos: &Chaos, length: Length, seed: Seed) -> String {
    format!("cargo xtask chaos {} {} --seed {seed}", chaos.name, length.arguments())
}

/// The inner result is the test's; the outer one says whether it could be tried at all.
fn run_one(chaos: &Chaos, length: Length, seed: Seed) -> Result<Result<(), String>, String> {
    say::heading(format_args!("chaos {}: {length}, seed {seed}", chaos.name));
    let listed = step(chaos).arg("--list").capture().map_err(|error| error.to_string())?;
    if !listed.status.success() {
        return Ok(Err(format!("{} while building", describe(listed.status))));
    }
    // A filter that matches nothing would pass, and nobody would notice.
    let tests = count_tests(&String::from_utf8_lossy(&listed.stdout));
    if tests == 0 {
        return Ok(Err(format!("no test of {} matches {:?}", chaos.package, chaos.filter)));
    }
    let (name, value) = length.variable();
    let step = step(chaos).arg("--nocapture").env(name, value).env("MXD_CHAOS_SEED", seed.to_string());
    say::heading(&step);
    let ended = step.run().map_err(|error| error.to_string())?;
    match ended.status.success() {
        true => Ok(Ok(())),
        false => Ok(Err(describe(ended.status))),
    }
}

fn step(chaos: &Chaos) -> Step {
    Step::cargo("test --profile chaos -p")
        .arg(chaos.package)
        .arg("--test")
        .arg(chaos.target)
        .arg("--")
        .arg(chaos.filter)
}

fn count_tests(listing: &str) -> usize {
    listing.lines().filter(|line| line.ends_with(": test")).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_the_documented_ones() {
        assert_eq!(
            names(),
            [
                "offsets",
                "power",
                "kill",
                "tree",
                "agents",
                "prompts",
                "worktrees",
                "stops",
                "engine",
                "messages",
                "crowd",
                "http",
                "forge"
            ]
        );
    }

    #[test]
    fn a_test_is_run_optimised_by_its_filter() {
        let commands: Vec<_> = CHAOS.iter().map(|chaos| step(chaos).to_string()).collect();
        let expected = [
            "cargo test --profile chaos -p mxd-store --test it -- damage::",
            "cargo test --profile chaos -p mxd-store --test it -- power::",
            "cargo test --profile chaos -p mxd-store --test process -- kill",
            "cargo test --profile chaos -p mxd-core --test it -- histories_of_any_seed",
            "cargo test --profile chaos -p mxd-core --test it -- agents_of_any_seed",
            "cargo test --profile chaos -p mxd-llm --test it -- random_conversations",
            "cargo test --profile chaos -p mxd-engine --test it -- worktrees_in_parallel",
            "cargo test --profile chaos -p mxd-engine --test it -- git::crashes::",
            "cargo test --profile chaos -p mxd-engine --test process -- ten_agents",
            "cargo test --profile chaos -p mxd-server --test it -- kills::",
            "cargo test --profile chaos -p mxd-server --test it -- crowd::",
            "cargo test --profile chaos -p mxd-server --test it -- fuzz::",
            "cargo test --profile chaos -p tachyon --test clients -- our_runner_agrees_with_forge",
        ];
        assert_eq!(commands, expected);
    }

    #[test]
    fn one_name_chooses_one_and_none_chooses_all() {
        assert_eq!(chosen(Some("kill")).len(), 1);
        assert_eq!(chosen(None).len(), CHAOS.len());
    }

    #[test]
    fn a_failure_says_how_to_repeat_it() {
        let tree = chosen(Some("tree"))[0];
        let seed = "7".parse().unwrap();
        let minutes = Length::Minutes("1.25".parse().unwrap());
        assert_eq!(again(tree, minutes, seed), "cargo xtask chaos tree --minutes 1.25 --seed 7");
        let rounds = Length::Rounds("90".parse().unwrap());
        assert_eq!(again(tree, rounds, seed), "cargo xtask chaos tree --rounds 90 --seed 7");
        assert_eq!(rounds.variable(), ("MXD_CHAOS_ROUNDS", "90".to_owned()));
    }

    #[test]
    fn an_empty_listing_is_noticed() {
        assert_eq!(count_tests("0 tests, 0 benchmarks\n"), 0);
        assert_eq!(count_tests("power::many: test\npower::speed: benchmark\n\n1 test, 1 benchmark\n"), 1);
    }
}
