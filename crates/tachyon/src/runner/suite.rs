//! The tests of one contract: deployed once, set up once, and every test from there on its own.

use std::sync::Arc;

use alloy_dyn_abi::{DynSolType, DynSolValue};
use alloy_json_abi::{Function, JsonAbi};
use alloy_primitives::{Address, Bytes};
use sha2::{Digest as _, Sha256};

use super::cheats::{Cheats, Vocabulary};
use super::fuzz::Source;
use super::inline::{Inline, InlineBook};
use super::machine::{End, Machine, Ran, SENDER};
use super::{Case, Deadline, Plan, Status, Suite, invariant, link};
use crate::abi;
use crate::fault::{Code, Fault};
use crate::limits;
use crate::registry::Artifact;

/// What all contracts have in common.
pub(super) struct Library<'a> {
    pub(super) artifacts: &'a [Artifact],
    pub(super) vocabulary: Arc<Vocabulary>,
    pub(super) inline: InlineBook,
}

/// What every test of a contract needs.
pub(super) struct Stage<'a> {
    pub(super) machine: Machine,
    pub(super) contract: Address,
    pub(super) abi: &'a JsonAbi,
    pub(super) code: Bytes,
    pub(super) artifact: &'a Artifact,
    pub(super) library: &'a Library<'a>,
    pub(super) plan: &'a Plan,
    pub(super) deadline: &'a Deadline<'a>,
}

/// Runs the tests of a contract; nothing when it has none.
pub(super) fn run(
    artifact: &Artifact,
    library: &Library<'_>,
    plan: &Plan,
    deadline: &Deadline<'_>,
) -> Result<Option<Suite>, Fault> {
    let abi = artifact.parsed_abi()?;
    let mut tests: Vec<&Function> = abi.functions().filter(|function| is_test(function, plan)).collect();
    let needs_arguments = abi.constructor.as_ref().is_some_and(|constructor| !constructor.inputs.is_empty());
    if tests.is_empty() || needs_arguments {
        return Ok(None);
    }
    tests.sort_by_key(|test| test.signature());
    let mut suite =
        Suite { file: artifact.path.clone(), contract: artifact.name.clone(), ..Suite::default() };
    let mut machine = Machine::new(Cheats::new(library.vocabulary.clone(), plan.seed), plan);
    let code = link::linked(artifact, library.artifacts, &mut machine)?;
    let contract = match machine.deploy(code.clone()).end {
        End::Created(address) => address,
        End::Failed(reason) => {
            return Ok(Some(all(suite, &tests, &machine, &format!("constructor: {reason}"))));
        }
        End::Returned(_) => return Err(Fault::internal("a creation returned without an address")),
    };
    if let Some(set_up) =
        abi.functions().find(|function| function.name == "setUp" && function.inputs.is_empty())
    {
        let ran = machine.call(SENDER, contract, selector(set_up));
        if let End::Failed(reason) = ran.end {
            return Ok(Some(all(suite, &tests, &machine, &format!("setup failed: {reason}"))));
        }
    }
    let stage = Stage { machine, contract, abi: &abi, code, artifact, library, plan, deadline };
    for test in tests {
        if deadline.is_over() {
            let message = format!("the tests were stopped after {} seconds", limits::TEST_TIME.as_secs());
            return Err(Fault::new(Code::TestForgeFailed, message));
        }
        suite.cases.push(stage.test(test)?);
    }
    Ok(Some(suite))
}

fn is_test(function: &Function, plan: &Plan) -> bool {
    let name = function.name.as_str();
    let kind = name.starts_with("test") || (is_invariant(name) && function.inputs.is_empty());
    kind && name.contains(&plan.filter)
}

fn is_invariant(name: &str) -> bool {
    name.starts_with("invariant") || name.starts_with("statefulFuzz")
}

pub(super) fn selector(function: &Function) -> Bytes {
    function.selector().to_vec().into()
}

/// All tests ended the same way, before they began.
fn all(mut suite: Suite, tests: &[&Function], machine: &Machine, reason: &str) -> Suite {
    for test in tests {
        let (status, reason) = match (&machine.cheats.unsupported, &machine.cheats.skipped) {
            (Some(what), _) => (Status::Unsupported, what.clone()),
            (None, Some(why)) => (Status::Skipped, why.clone()),
            (None, None) => (Status::Failed, reason.to_owned()),
        };
        suite.cases.push(Case::new(&test.signature(), status, Some(reason)));
    }
    suite
}

impl Stage<'_> {
    fn test(&self, test: &Function) -> Result<Case, Fault> {
        let name = test.signature();
        if test.name.starts_with("testFail") {
            let reason = "`testFail*` has been removed. Consider changing to test_Revert[If|When]_Condition and expecting a revert";
            return Ok(Case::new(&name, Status::Failed, Some(reason.into())));
        }
        let inline = self.library.inline.about(&self.artifact.path, &self.artifact.name, &test.name);
        if let Some(setting) = &inline.unknown {
            let reason = format!("the setting `{setting}` is not supported by the built-in runner");
            return Ok(Case::new(&name, Status::Unsupported, Some(reason)));
        }
        if is_invariant(&test.name) {
            return invariant::run(self, test, &inline);
        }
        if test.inputs.is_empty() {
            let (verdict, gas) = self.once(selector(test), &inline);
            let mut case = Case::new(&name, verdict.status, verdict.reason);
            case.gas = gas;
            return Ok(case);
        }
        self.fuzz(test, &inline)
    }

    /// One call of a test, from the state after the set-up.
    fn once(&self, data: Bytes, inline: &Inline) -> (Verdict, u64) {
        let mut machine = self.fresh(inline);
        let ran = machine.call(SENDER, self.contract, data);
        let gas = ran.gas;
        (self.verdict(&mut machine, ran), gas)
    }

    /// A machine as the set-up left it.
    pub(super) fn fresh(&self, inline: &Inline) -> Machine {
        let mut machine = self.machine.clone();
        machine.cheats.internal_reverts = inline.internal_reverts;
        machine
    }

    /// What the end of a call means for a test.
    pub(super) fn verdict(&self, machine: &mut Machine, ran: Ran) -> Verdict {
        if let Some(what) = machine.cheats.unsupported.clone() {
            return Verdict { status: Status::Unsupported, reason: Some(what) };
        }
        if let Some(why) = machine.cheats.skipped.clone() {
            return Verdict { status: Status::Skipped, reason: Some(why).filter(|why| !why.is_empty()) };
        }
        let failed = |reason: String| Verdict { status: Status::Failed, reason: Some(reason) };
        if let End::Failed(reason) = ran.end {
            return failed(reason);
        }
        if let Some(missed) = machine.cheats.disappointment() {
            return failed(missed);
        }
        if self.noted_failure(machine) {
            return failed("assertion failed".into());
        }
        Verdict { status: Status::Passed, reason: None }
    }

    /// Older test libraries do not revert but note a failure, and tell when they are asked.
    fn noted_failure(&self, machine: &mut Machine) -> bool {
        let failed =
            self.abi.functions().find(|function| function.name == "failed" && function.inputs.is_empty());
        let Some(failed) = failed else { return false };
        match machine.call(SENDER, self.contract, selector(failed)).end {
            End::Returned(flag) => flag.last().is_some_and(|last| *last != 0),
            _ => false,
        }
    }

    fn fuzz(&self, test: &Function, inline: &Inline) -> Result<Case, Fault> {
        let name = test.signature();
        let types: Vec<DynSolType> = abi::types(&test.inputs)?;
        let mut source = self.source(&name);
        let (mut runs, mut rejects, mut gas) = (0, 0, Vec::new());
        while runs < inline.fuzz_runs.unwrap_or(self.plan.fuzz_runs) {
            if self.deadline.is_over() {
                return Err(Fault::new(
                    Code::TestForgeFailed,
                    format!("{name} was stopped: no time is left"),
                ));
            }
            let values = DynSolValue::Tuple(source.values(&types));
            let data = [test.selector().as_slice(), &values.abi_encode_params()].concat();
            let mut machine = self.fresh(inline);
            let ran = machine.call(SENDER, self.contract, data.into());
            if machine.cheats.rejected {
                rejects += 1;
                if rejects > limits::FUZZ_REJECTS {
                    let reason = format!("`vm.assume` rejected too many inputs ({rejects} allowed)");
                    return Ok(Case::new(&name, Status::Failed, Some(reason)));
                }
                continue;
            }
            runs += 1;
            gas.push(ran.gas);
            let verdict = self.verdict(&mut machine, ran);
            if verdict.status != Status::Passed {
                let mut case = Case::new(&name, verdict.status, verdict.reason);
                case.runs = Some(runs);
                if verdict.status == Status::Failed {
                    case.counterexample = Some(shown_arguments(&values));
                }
                return Ok(case);
            }
        }
        gas.sort_unstable();
        let mut case = Case::new(&name, Status::Passed, None);
        case.gas = gas.get(gas.len() / 2).copied().unwrap_or_default();
        case.runs = Some(runs);
        Ok(case)
    }

    /// Random values of a test of their own, whatever other tests there are.
    pub(super) fn source(&self, name: &str) -> Source {
        let mut hash = Sha256::new();
        hash.update(self.plan.seed.to_be_bytes());
        hash.update(name);
        let digest = hash.finalize();
        let seed = digest.iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte));
        Source::new(seed, &self.code)
    }
}

/// What a test comes to.
pub(super) struct Verdict {
    pub(super) status: Status,
    pub(super) reason: Option<String>,
}

pub(super) fn shown_arguments(values: &DynSolValue) -> String {
    abi::value_to_json(values, &[]).to_string()
}
