//! The arguments of `cargo xtask` and the help a developer reads.

use std::num::{NonZeroU32, NonZeroU64};
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Args, CommandFactory, Parser, Subcommand};

use crate::chaos::{Minutes, Seed};
use crate::{bench, chaos, demo, page, say, test, world};

/// What a developer of Matrix runs.
#[derive(Debug, Parser)]
#[command(
    name = "xtask",
    bin_name = "cargo xtask",
    after_help = "Examples:
  cargo xtask demo                    agents at work, without a key
  cargo xtask test                    everything that must pass before a commit
  cargo xtask bench log               the log's benchmarks against their bars
  cargo xtask chaos power --minutes 30"
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Build the page and the program, and play `mxd demo`
    ///
    /// What follows is given to it: `cargo xtask demo --kill`. Exit code 0 only when every step of the story happened.
    Demo(DemoArgs),
    /// Take a picture of every view of the page
    Shots,
    /// Check format and lints, run every test, build the docs, check dependencies
    ///
    /// Stops at the first failure and says how to run that step alone. Installs nothing: cargo-nextest and
    /// cargo-deny are used when they are there. Exit code 1 when a step fails.
    Test(TestArgs),
    /// Run benchmarks, each metric beside its baseline and held to its bar
    ///
    /// Exit code 1 when a bar is missed or a benchmark fails.
    Bench(BenchArgs),
    /// Run the long random tests
    ///
    /// Each is a test of the ordinary suite with more time. The seed is printed; the same seed repeats the
    /// same run. Exit code 1 when a test fails.
    Chaos(ChaosArgs),
    /// Play one story with the real program in many repositories, and write docs/world.md
    ///
    /// Fetches published packages with npm, pip and cargo. Exit code 1 when one of them did not end as expected.
    World(WorldArgs),
}

/// What `cargo xtask world` was asked to do.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  cargo xtask world                   everything; an hour, some gigabytes
  cargo xtask world hooks_ lfs        those whose name contains one of these; the other rows stay")]
pub(crate) struct WorldArgs {
    /// Play only those whose name contains one of these
    #[arg(value_name = "NAME")]
    pub(crate) only: Vec<String>,
}

/// What `cargo xtask demo` was asked to do.
#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// What `mxd demo` is given
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    pub(crate) rest: Vec<String>,
}

/// What `cargo xtask test` was asked to do.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  cargo xtask test
  cargo xtask test --filter recovery
  cargo xtask test --filter group_commit --repeat 50")]
pub(crate) struct TestArgs {
    /// Run only the tests whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,
    /// Run the test step this many times, to find a test that fails only sometimes
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) repeat: NonZeroU32,
}

/// What `cargo xtask bench` was asked to do.
#[derive(Args, Debug)]
#[command(after_help = format!("Benchmarks:\n{}\n\nExamples:
  cargo xtask bench                   every benchmark
  cargo xtask bench log --quick       less data, for a first look
  cargo xtask bench log --json        one JSON object per benchmark on stdout", bench::listing()))]
pub(crate) struct BenchArgs {
    /// The benchmark to run [default: all]
    #[arg(value_parser = PossibleValuesParser::new(bench::names()), hide_possible_values = true)]
    pub(crate) name: Option<String>,
    /// Print one JSON object per benchmark instead of tables
    #[arg(long)]
    pub(crate) json: bool,
    /// Measure less: faster and less exact
    #[arg(long)]
    pub(crate) quick: bool,
    /// Install other programs that do the same and measure them as well, where a benchmark knows some
    #[arg(long)]
    pub(crate) peers: bool,
}

/// What `cargo xtask chaos` was asked to do.
#[derive(Args, Debug)]
#[command(after_help = format!("Tests:\n{}\n\nExamples:
  cargo xtask chaos                   all of them, 5 minutes together
  cargo xtask chaos power --minutes 60
  cargo xtask chaos prompts --rounds 100000
  cargo xtask chaos tree --seed 7     repeat the run that printed seed 7", chaos::listing()))]
pub(crate) struct ChaosArgs {
    /// The test to run [default: all, sharing the time]
    #[arg(value_parser = PossibleValuesParser::new(chaos::names()), hide_possible_values = true)]
    pub(crate) name: Option<String>,
    /// How long to run
    #[arg(long, value_name = "N", default_value = "5")]
    pub(crate) minutes: Minutes,
    /// How many rounds each test does, however long they take
    #[arg(long, value_name = "N", conflicts_with = "minutes")]
    pub(crate) rounds: Option<NonZeroU64>,
    /// Where the randomness starts [default: a fresh one]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<Seed>,
}

/// Reads the arguments, runs the command, answers with its exit code.
#[must_use]
pub fn run() -> ExitCode {
    let Some(command) = Cli::parse().command else {
        return print_help();
    };
    let outcome = match &command {
        Command::Demo(args) => demo::run(args),
        Command::Shots => page::shots(),
        Command::Test(args) => test::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Chaos(args) => chaos::run(args),
        Command::World(args) => world::run(args),
    };
    match outcome {
        Ok(verdict) => verdict.into(),
        Err(error) => {
            say::error(&error);
            ExitCode::FAILURE
        }
    }
}

fn print_help() -> ExitCode {
    match Cli::command().print_help() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_closed_stdout) => ExitCode::FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;

    use super::*;

    fn refusal(args: &[&str]) -> clap::Error {
        let full = ["cargo xtask"].iter().chain(args);
        Cli::try_parse_from(full).expect_err("these arguments must be refused")
    }

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn no_command_is_no_error() {
        let cli = Cli::try_parse_from(["cargo xtask"]).unwrap();
        assert!(cli.command.is_none());
    }

    #[test]
    fn an_unknown_benchmark_is_a_usage_error_that_lists_the_known_ones() {
        let error = refusal(&["bench", "nonesuch"]);
        assert_eq!(error.kind(), ErrorKind::InvalidValue);
        assert_eq!(error.exit_code(), 2);
        for name in bench::names() {
            assert!(error.to_string().contains(name), "{error}");
        }
    }

    #[test]
    fn an_unknown_chaos_test_is_a_usage_error_that_lists_the_known_ones() {
        let error = refusal(&["chaos", "nonesuch"]);
        assert_eq!(error.exit_code(), 2);
        for name in chaos::names() {
            assert!(error.to_string().contains(name), "{error}");
        }
    }

    #[test]
    fn a_chaos_run_has_minutes_or_rounds() {
        assert_eq!(refusal(&["chaos", "tree", "--minutes", "1", "--rounds", "1"]).exit_code(), 2);
        assert_eq!(refusal(&["chaos", "tree", "--rounds", "0"]).exit_code(), 2);
        let cli = Cli::try_parse_from(["cargo xtask", "chaos", "tree", "--rounds", "90"]).unwrap();
        let Some(Command::Chaos(args)) = cli.command else { panic!("{cli:?}") };
        assert_eq!(args.rounds, NonZeroU64::new(90));
    }

    #[test]
    fn repeating_zero_times_is_refused() {
        assert_eq!(refusal(&["test", "--repeat", "0"]).exit_code(), 2);
    }
}
