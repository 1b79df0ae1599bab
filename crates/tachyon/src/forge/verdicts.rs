//! What `forge` says about tests, read from its report.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::OUTSIDE;
use crate::runner::{Case, Runner, Status};

/// All verdicts of a run, by file and contract, and by signature.
pub(super) struct Verdicts(BTreeMap<String, ToldSuite>);

#[derive(Deserialize)]
struct ToldSuite {
    test_results: BTreeMap<String, Verdict>,
}

/// What became of one test.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Verdict {
    status: ToldStatus,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    counterexample: Option<Value>,
    #[serde(default)]
    kind: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum ToldStatus {
    Success,
    Failure,
    Skipped,
}

impl Verdicts {
    /// The report, unless there is none.
    pub(super) fn parse(output: &[u8]) -> Option<Self> {
        // Compilers' warnings may stand before it.
        let begin = output.iter().position(|byte| *byte == b'{')?;
        serde_json::from_slice(&output[begin..]).ok().map(Self)
    }

    /// The verdict on one test, or why there is none.
    pub(super) fn of(&self, file: &str, contract: &str, test: &str) -> Result<Verdict, String> {
        let suite = self.0.get(&format!("{file}:{contract}"));
        let Some(verdict) = suite.and_then(|suite| suite.test_results.get(test)) else {
            let set_up = suite.and_then(|suite| suite.test_results.get("setUp()"));
            let why = set_up.and_then(|verdict| verdict.reason.clone());
            return Err(format!(
                "forge did not run it: {}",
                why.unwrap_or_else(|| "it did not find it".into())
            ));
        };
        let reason = verdict.reason.as_deref().unwrap_or_default();
        let denied = OUTSIDE.iter().any(|name| reason.contains(&format!("vm.{name}")));
        if verdict.status == ToldStatus::Failure && denied {
            return Err(format!("forge was not allowed to do it either: {reason}"));
        }
        Ok(verdict.clone())
    }
}

impl Verdict {
    pub(super) fn put_into(self, case: &mut Case) {
        let counted = |kind: &str, name: &str| self.kind[kind][name].as_u64();
        case.status = match self.status {
            ToldStatus::Success => Status::Passed,
            ToldStatus::Failure => Status::Failed,
            ToldStatus::Skipped => Status::Skipped,
        };
        case.runner = Runner::Forge;
        case.gas = counted("Unit", "gas").or_else(|| counted("Fuzz", "median_gas")).unwrap_or_default();
        let runs = counted("Fuzz", "runs").or_else(|| counted("Invariant", "calls"));
        case.runs = runs.and_then(|runs| u32::try_from(runs).ok());
        case.counterexample = self.counterexample.map(|example| match &example["Single"]["args"] {
            Value::String(values) => format!("[{values}]"),
            _ => example.to_string(),
        });
        case.reason = self.reason.filter(|reason| !reason.is_empty());
    }
}
