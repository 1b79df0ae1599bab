//! `tachyon_test`: compiles sources and runs the tests in them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use schemars::JsonSchema;
use serde::Deserialize;

use super::{CallContext, Engine, compile as verb};
use crate::chain::aside;
use crate::compile::{self, Settings};
use crate::fault::{Code, Fault};
use crate::limits;
use crate::registry::OptimizerUsed;
use crate::runner::{self, Deadline, Plan, Report};

/// What to test.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// Source files by path, tests among them. Use either this or `project_root`.
    #[serde(default)]
    sources: Option<BTreeMap<String, String>>,
    /// A project folder on the server's machine, below one that its operator allowed.
    #[serde(default)]
    project_root: Option<PathBuf>,
    /// Only files whose path contains this.
    #[serde(default)]
    match_path: String,
    /// Only contracts whose name contains this.
    #[serde(default)]
    match_contract: String,
    /// Only tests whose name contains this.
    #[serde(default)]
    filter: String,
    /// Whether to optimise; yes when left out.
    #[serde(default)]
    optimize: Option<bool>,
    /// For how many runs to optimise; 200 when left out.
    #[serde(default)]
    optimizer_runs: Option<u32>,
    /// Whether to use the newer pipeline.
    #[serde(default)]
    via_ir: bool,
    /// The rules to compile for, like `cancun`.
    #[serde(default)]
    evm_version: Option<String>,
    /// Exactly this compiler, like `0.8.30`.
    #[serde(default)]
    solc_version: Option<String>,
    /// Other names for imports, like `@lib/=vendor/lib/`.
    #[serde(default)]
    remappings: Vec<String>,
    /// How many inputs each fuzz test tries; 256 when left out.
    #[serde(default)]
    fuzz_runs: Option<u32>,
    /// The same seed gives the same random inputs; 0 when left out.
    #[serde(default)]
    seed: u64,
    /// The block tests begin in; 1 when left out.
    #[serde(default)]
    block_number: Option<u64>,
    /// The time tests begin at; 1 when left out.
    #[serde(default)]
    block_timestamp: Option<u64>,
}

/// What the tests gave.
pub(crate) type Response = Report;

/// Tells the runner when nobody waits for it any more.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub(super) async fn run(engine: &Engine, request: Request, context: &CallContext) -> Result<Response, Fault> {
    let upload = verb::upload(request.sources, request.project_root, request.remappings)?;
    let settings = Settings {
        optimizer: OptimizerUsed {
            enabled: request.optimize.unwrap_or(true),
            runs: request.optimizer_runs.unwrap_or(200),
        },
        via_ir: request.via_ir,
        evm_version: request.evm_version.unwrap_or_default(),
        solc_version: request.solc_version.unwrap_or_default(),
    };
    let fuzz_runs = request.fuzz_runs.unwrap_or(limits::FUZZ_RUNS);
    if fuzz_runs == 0 || fuzz_runs > limits::FUZZ_RUNS_MOST {
        return Err(Fault::invalid(format!("`fuzz_runs` must be 1 to {}", limits::FUZZ_RUNS_MOST)));
    }
    let plan = Plan {
        match_path: request.match_path,
        match_contract: request.match_contract,
        filter: request.filter,
        fuzz_runs,
        seed: request.seed,
        block_number: request.block_number.unwrap_or(1),
        block_timestamp: request.block_timestamp.unwrap_or(1),
    };
    context.progress.tell("compiling");
    let compiled = compile::compile(&engine.toolchain(), &upload, &settings).await?;
    context.progress.tell("testing");
    let cancelled = Arc::new(AtomicBool::new(false));
    let _stop = StopOnDrop(cancelled.clone());
    let report = aside(move || {
        runner::run(&compiled.artifacts, &compiled.own_files, &plan, &Deadline::new(&cancelled))
    })
    .await?;
    judge(report)
}

/// Nothing but tests that passed is a success, and none at all is not.
fn judge(report: Report) -> Result<Report, Fault> {
    let details = serde_json::json!({
        "passed": report.passed, "failed": report.failed, "skipped": report.skipped, "unsupported": report.unsupported,
    });
    let fault = if report.failed > 0 {
        Fault::new(Code::TestAssertionFailed, format!("{} of {} tests failed", report.failed, report.count()))
    } else if report.unsupported > 0 {
        let message = format!(
            "{} tests need cheatcodes that the built-in runner does not have; they neither passed nor failed. Run them with forge",
            report.unsupported
        );
        Fault::new(Code::TestForgeFailed, message)
    } else if report.passed == 0 {
        let message = "no test was run; tests are functions whose name begins with `test` or `invariant`, in the sources themselves";
        Fault::new(Code::TestForgeFailed, message)
    } else {
        return Ok(report);
    };
    Err(fault.with_details(details).with_data(&report))
}
