//! Tests of contracts, run on the embedded machine: no files, no environment, no network, and limits on time, gas and memory.

mod cheats;
mod fuzz;
mod inline;
mod invariant;
mod link;
mod machine;
mod suite;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use revm::primitives::hardfork::SpecId;
use schemars::JsonSchema;
use serde::Serialize;

use crate::clock;
use crate::fault::Fault;
use crate::limits;
use crate::registry::Artifact;
use cheats::Vocabulary;
use inline::InlineBook;

/// What to run, and how.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// Only files whose path contains this.
    pub(crate) match_path: String,
    /// Only contracts whose name contains this.
    pub(crate) match_contract: String,
    /// Only tests whose name contains this.
    pub(crate) filter: String,
    pub(crate) fuzz_runs: u32,
    pub(crate) seed: u64,
    pub(crate) block_number: u64,
    pub(crate) block_timestamp: u64,
    /// The rules of the machine.
    pub(crate) rules: SpecId,
}

/// What all tests gave.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Report {
    /// One per contract, in the order of files and names.
    pub(crate) suites: Vec<Suite>,
    /// Tests that passed.
    pub(crate) passed: usize,
    /// Tests that failed.
    pub(crate) failed: usize,
    /// Tests that asked to be skipped.
    pub(crate) skipped: usize,
    /// Tests that need what this runner does not have: neither passed nor failed.
    pub(crate) unsupported: usize,
    /// With this the same random inputs come again.
    pub(crate) seed: u64,
}

/// The tests of one contract.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Suite {
    /// The file.
    pub(crate) file: String,
    /// The contract.
    pub(crate) contract: String,
    /// Tests that passed.
    pub(crate) passed: usize,
    /// Tests that failed.
    pub(crate) failed: usize,
    /// Tests that asked to be skipped.
    pub(crate) skipped: usize,
    /// Tests that could not be judged.
    pub(crate) unsupported: usize,
    /// The tests, in the order of their names.
    pub(crate) cases: Vec<Case>,
}

/// One test.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Case {
    /// Its signature.
    pub(crate) name: String,
    /// How it ended.
    pub(crate) status: Status,
    /// Who judged it.
    pub(crate) runner: Runner,
    /// Why it did not pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The gas it used; of a fuzz test, the median.
    pub(crate) gas: u64,
    /// How many inputs a fuzz test tried, or how many calls an invariant test made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) runs: Option<u32>,
    /// The input, or the calls, with which it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) counterexample: Option<String>,
}

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    /// As it should.
    Passed,
    /// Not as it should.
    Failed,
    /// It asked not to be run.
    Skipped,
    /// It needs something this runner does not have.
    Unsupported,
}

/// Who runs tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Runner {
    /// The one of this program.
    Builtin,
    /// `forge`, which was handed what the built-in one cannot do.
    Forge,
}

/// When to stop.
pub(crate) struct Deadline<'a> {
    begun: Instant,
    cancelled: &'a AtomicBool,
}

impl<'a> Deadline<'a> {
    pub(crate) fn new(cancelled: &'a AtomicBool) -> Self {
        Self { begun: clock::moment(), cancelled }
    }

    /// Whether there is no time left, or nobody waits any more.
    fn is_over(&self) -> bool {
        self.begun.elapsed() > limits::TEST_TIME || self.cancelled.load(Ordering::Relaxed)
    }
}

/// What is tested.
pub(crate) struct Subject<'a> {
    pub(crate) artifacts: &'a [Artifact],
    /// The files the caller brought; only tests in them are run.
    pub(crate) own_files: &'a [String],
    /// All files by name.
    pub(crate) sources: &'a BTreeMap<String, String>,
}

/// Runs all tests of a compilation.
pub(crate) fn run(subject: &Subject<'_>, plan: &Plan, deadline: &Deadline<'_>) -> Result<Report, Fault> {
    let artifacts = subject.artifacts;
    let inline = InlineBook::of(subject.sources.iter().map(|(name, text)| (name.as_str(), text.as_str())));
    let library = suite::Library { artifacts, vocabulary: Vocabulary::of(artifacts), inline };
    let mut report = Report { seed: plan.seed, ..Report::default() };
    for artifact in artifacts {
        let chosen = subject.own_files.contains(&artifact.path)
            && artifact.path.contains(&plan.match_path)
            && artifact.name.contains(&plan.match_contract)
            && artifact.bytecode.len() > 2;
        if chosen {
            report.suites.extend(suite::run(artifact, &library, plan, deadline)?);
        }
    }
    report.count_again();
    Ok(report)
}

impl Case {
    fn new(name: &str, status: Status, reason: Option<String>) -> Self {
        let (gas, runs, counterexample) = (0, None, None);
        Self { name: name.into(), status, runner: Runner::Builtin, reason, gas, runs, counterexample }
    }
}

impl Report {
    /// How many tests there were.
    pub(crate) fn count(&self) -> usize {
        self.passed + self.failed + self.skipped + self.unsupported
    }

    /// Counts from the cases, whoever changed them.
    pub(crate) fn count_again(&mut self) {
        (self.passed, self.failed, self.skipped, self.unsupported) = (0, 0, 0, 0);
        for suite in &mut self.suites {
            let ended = |status: Status| suite.cases.iter().filter(|case| case.status == status).count();
            suite.passed = ended(Status::Passed);
            suite.failed = ended(Status::Failed);
            suite.skipped = ended(Status::Skipped);
            suite.unsupported = ended(Status::Unsupported);
            self.passed += suite.passed;
            self.failed += suite.failed;
            self.skipped += suite.skipped;
            self.unsupported += suite.unsupported;
        }
    }
}
