//! `tachyon_test`: compiles sources and runs the tests in them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use schemars::JsonSchema;
use serde::Deserialize;

use super::build::Build;
use super::{CallContext, Engine};
use crate::chain::aside;
use crate::chain::execute::RULES;
use crate::compile::Compiled;
use crate::fault::{Code, Fault};
use crate::runner::{self, Deadline, Plan, Report, Subject};
use crate::{forge, limits};

/// What to test.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    #[serde(flatten)]
    build: Build,
    /// Only files whose path contains this.
    #[serde(default)]
    match_path: String,
    /// Only contracts whose name contains this.
    #[serde(default)]
    match_contract: String,
    /// Only tests whose name contains this.
    #[serde(default)]
    filter: String,
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
    let fuzz_runs = request.fuzz_runs.unwrap_or(limits::FUZZ_RUNS);
    if fuzz_runs == 0 || fuzz_runs > limits::FUZZ_RUNS_MOST {
        return Err(Fault::invalid(format!("`fuzz_runs` must be 1 to {}", limits::FUZZ_RUNS_MOST)));
    }
    context.progress.tell("compiling");
    let compiled = request.build.compiled(engine).await?;
    let plan = Plan {
        match_path: request.match_path,
        match_contract: request.match_contract,
        filter: request.filter,
        fuzz_runs,
        seed: request.seed,
        block_number: request.block_number.unwrap_or(1),
        block_timestamp: request.block_timestamp.unwrap_or(1),
        rules: compiled.kit.settings.rules().unwrap_or(RULES),
    };
    context.progress.tell("testing");
    let cancelled = Arc::new(AtomicBool::new(false));
    let _stop = StopOnDrop(cancelled.clone());
    let (compiled, to_do) = (Arc::new(compiled), plan.clone());
    let tested = compiled.clone();
    let work = move || {
        let Compiled { artifacts, own_files, kit, .. } = tested.as_ref();
        let subject = Subject { artifacts, own_files, sources: &kit.files };
        runner::run(&subject, &to_do, &Deadline::new(&cancelled))
    };
    let mut report = aside(work).await?;
    if report.unsupported > 0 {
        context.progress.tell("handing over to forge");
        let forge = forge::find(engine.config.forge.as_deref());
        forge::judge(forge.as_deref(), &compiled.kit, &plan, &mut report).await;
    }
    verdict(report)
}

/// Nothing but tests that passed is a success, and none at all is not.
fn verdict(report: Report) -> Result<Report, Fault> {
    let details = serde_json::json!({
        "passed": report.passed, "failed": report.failed, "skipped": report.skipped, "unsupported": report.unsupported,
    });
    let fault = if report.failed > 0 {
        Fault::new(Code::TestAssertionFailed, format!("{} of {} tests failed", report.failed, report.count()))
    } else if report.unsupported > 0 {
        let message = format!(
            "{} tests need what is not here; they neither passed nor failed, and each says what it needs",
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
