//! Invariant tests: random calls in a row, and after each of them the invariant must still hold.

use alloy_dyn_abi::{DynSolValue, FunctionExt as _};
use alloy_json_abi::{Function, StateMutability};
use alloy_primitives::Address;

use super::inline::Inline;
use super::machine::{End, Machine, SENDER};
use super::suite::{Stage, selector, shown_arguments};
use super::{Case, Status};
use crate::abi;
use crate::fault::{Code, Fault};
use crate::limits;

/// Somebody who may be called, and with what.
struct Target<'a> {
    address: Address,
    name: &'a str,
    functions: Vec<Function>,
}

pub(super) fn run(stage: &Stage<'_>, test: &Function, inline: &Inline) -> Result<Case, Fault> {
    let runs = inline.invariant_runs.unwrap_or(limits::INVARIANT_RUNS);
    let depth = inline.invariant_depth.unwrap_or(limits::INVARIANT_DEPTH);
    let name = test.signature();
    let targets = targets(stage);
    if targets.is_empty() {
        let reason = "no contract to call; deploy one in setUp, or name it with targetContract";
        return Ok(Case::new(&name, Status::Failed, Some(reason.into())));
    }
    let senders = addresses(stage, "targetSenders");
    let mut source = stage.source(&name);
    let mut calls = 0;
    for _ in 0..runs {
        let mut machine = stage.fresh(inline);
        let mut history = Vec::new();
        for step in 0..=depth {
            if stage.deadline.is_over() {
                return Err(Fault::new(
                    Code::TestForgeFailed,
                    format!("{name} was stopped: no time is left"),
                ));
            }
            let mut watched = machine.clone();
            let ran = watched.call(SENDER, stage.contract, selector(test));
            let verdict = stage.verdict(&mut watched, ran);
            if verdict.status != Status::Passed {
                let mut case = Case::new(&name, verdict.status, verdict.reason);
                case.runs = Some(calls);
                case.counterexample = (!history.is_empty()).then(|| history.join("; "));
                return Ok(case);
            }
            if step == depth {
                break;
            }
            let target = &targets[source.below(targets.len())];
            let function = &target.functions[source.below(target.functions.len())];
            let values = DynSolValue::Tuple(source.values(&abi::types(&function.inputs)?));
            let sender =
                if senders.is_empty() { source.address() } else { senders[source.below(senders.len())] };
            let data = [function.selector().as_slice(), &values.abi_encode_params()].concat();
            let ran = machine.call(sender, target.address, data.into());
            calls += 1;
            if !matches!(ran.end, End::Failed(_)) {
                history.push(format!("{}.{}{}", target.name, function.name, shown_arguments(&values)));
            }
            if let Some(what) = machine.cheats.unsupported.clone() {
                return Ok(Case::new(&name, Status::Unsupported, Some(what)));
            }
        }
    }
    let mut case = Case::new(&name, Status::Passed, None);
    case.runs = Some(calls);
    Ok(case)
}

/// The contracts the test names, or else all that its set-up created.
fn targets<'a>(stage: &Stage<'a>) -> Vec<Target<'a>> {
    let named = addresses(stage, "targetContracts");
    let excluded = addresses(stage, "excludeContracts");
    let created = &stage.machine.cheats.created;
    let chosen = created.iter().filter(|(address, _)| {
        !excluded.contains(address)
            && (named.is_empty() || named.contains(address))
            && *address != stage.contract
    });
    let selectors = target_selectors(stage);
    let mut targets = Vec::new();
    for (address, artifact) in chosen {
        let Some(artifact) = stage.library.artifacts.get(*artifact) else { continue };
        let Ok(abi) = artifact.parsed_abi() else { continue };
        let of_interest = |function: &&Function| {
            let changes = !matches!(function.state_mutability, StateMutability::View | StateMutability::Pure);
            let chosen = selectors.iter().find(|(target, _)| target == address);
            changes && chosen.is_none_or(|(_, wanted)| wanted.contains(&function.selector().0))
        };
        let mut functions: Vec<Function> = abi.functions().filter(of_interest).cloned().collect();
        functions.sort_by_key(Function::signature);
        if !functions.is_empty() {
            targets.push(Target { address: *address, name: &artifact.name, functions });
        }
    }
    targets
}

/// What a function of the test contract returns, if it has it.
fn asked(stage: &Stage<'_>, name: &str) -> Option<Vec<DynSolValue>> {
    let function =
        stage.abi.functions().find(|function| function.name == name && function.inputs.is_empty())?;
    let mut machine: Machine = stage.machine.clone();
    match machine.call(SENDER, stage.contract, selector(function)).end {
        End::Returned(data) => function.abi_decode_output(&data).ok(),
        _ => None,
    }
}

fn addresses(stage: &Stage<'_>, name: &str) -> Vec<Address> {
    let values = asked(stage, name).unwrap_or_default();
    let array = values.first().and_then(DynSolValue::as_array).unwrap_or_default();
    array.iter().filter_map(DynSolValue::as_address).collect()
}

fn target_selectors(stage: &Stage<'_>) -> Vec<(Address, Vec<[u8; 4]>)> {
    let values = asked(stage, "targetSelectors").unwrap_or_default();
    let array = values.first().and_then(DynSolValue::as_array).unwrap_or_default();
    let one = |value: &DynSolValue| {
        let fields = value.as_tuple()?;
        let words = fields.get(1)?.as_array()?.iter().filter_map(|word| match word {
            DynSolValue::FixedBytes(word, 4) => Some([word[0], word[1], word[2], word[3]]),
            _ => None,
        });
        Some((fields.first()?.as_address()?, words.collect()))
    };
    array.iter().filter_map(one).collect()
}
