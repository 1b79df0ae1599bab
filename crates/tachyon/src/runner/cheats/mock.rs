//! Calls that are answered without being made.

use alloy_primitives::{Address, Bytes, U256};
use revm::interpreter::InstructionResult;

/// An answer that waits for its call.
#[derive(Debug, Clone)]
pub(super) struct Mock {
    pub(super) target: Address,
    pub(super) value: Option<U256>,
    pub(super) data: Bytes,
    /// One after the other; the last one stays.
    pub(super) answers: Vec<Bytes>,
    pub(super) result: InstructionResult,
}

/// The answer that fits best: the longest data, then the one that names a value, then the newest.
pub(super) fn find(
    mocks: &mut [Mock],
    target: Address,
    value: U256,
    data: &[u8],
) -> Option<(InstructionResult, Bytes)> {
    let fits = |mock: &Mock| {
        mock.target == target
            && data.starts_with(&mock.data)
            && mock.value.is_none_or(|wanted| wanted == value)
    };
    let fitting = mocks.iter_mut().filter(|mock| fits(mock));
    let best = fitting.max_by_key(|mock| (mock.data.len(), mock.value.is_some()))?;
    let answer = match best.answers.len() {
        0 => Bytes::new(),
        1 => best.answers[0].clone(),
        _ => best.answers.remove(0),
    };
    Some((best.result, answer))
}
