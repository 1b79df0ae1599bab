//! What tests expect of the calls that follow: reverts, events and calls.

use alloy_dyn_abi::{DynSolType, DynSolValue};
use alloy_primitives::{Address, Bytes, Log, U256};
use revm::interpreter::InterpreterResult;

use super::CHEATCODE_ERROR;

const REASON: [u8; 4] = [0x08, 0xc3, 0x79, 0xa0];

/// A revert that is expected of the next call.
#[derive(Debug, Clone)]
pub(super) struct ExpectedRevert {
    /// Where it was asked for.
    pub(super) depth: usize,
    /// How deep the calls went since.
    pub(super) deepest: usize,
    /// Whether it need not come from a call, but may come from the test itself.
    pub(super) internal: bool,
    pub(super) wanted: WantedRevert,
    /// Who must revert.
    pub(super) by: Option<Address>,
    /// Who did, innermost first.
    pub(super) reverter: Option<Address>,
}

/// With what to revert.
#[derive(Debug, Clone)]
pub(super) enum WantedRevert {
    Anything,
    Exactly(Bytes),
    Beginning([u8; 4]),
}

impl ExpectedRevert {
    pub(super) fn judge(&self, ended: &InterpreterResult) -> Result<(), String> {
        if ended.result.is_ok() {
            return Err("next call did not revert as expected".into());
        }
        if !self.internal && self.deepest <= self.depth {
            return Err("call didn't revert at a lower depth than cheatcode call depth".into());
        }
        if let (Some(by), Some(reverter)) = (self.by, self.reverter)
            && by != reverter
        {
            return Err(format!("Reverter != expected reverter: {reverter} != {by}"));
        }
        let fits = match &self.wanted {
            WantedRevert::Anything => true,
            WantedRevert::Beginning(selector) => ended.output.starts_with(selector),
            WantedRevert::Exactly(wanted) => {
                *wanted == ended.output || words(wanted).as_ref() == words(&ended.output).as_ref()
            }
        };
        if fits {
            return Ok(());
        }
        let wanted = match &self.wanted {
            WantedRevert::Exactly(wanted) => readable(&words(wanted)),
            WantedRevert::Beginning(selector) => hex::encode(selector),
            WantedRevert::Anything => String::new(),
        };
        let got = readable(&words(&ended.output));
        Err(format!("Error != expected error: {got} != {wanted}"))
    }
}

/// Words where there are some, digits where not.
fn readable(data: &[u8]) -> String {
    match std::str::from_utf8(data) {
        Ok(text) if !text.chars().any(char::is_control) => text.to_owned(),
        _ => format!("0x{}", hex::encode(data)),
    }
}

/// The string in an error that carries one; the data itself otherwise.
fn words(data: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    let body = data.strip_prefix(&REASON).or_else(|| data.strip_prefix(&CHEATCODE_ERROR));
    let decoded =
        body.and_then(|body| DynSolType::Tuple(vec![DynSolType::String]).abi_decode_params(body).ok());
    match decoded {
        Some(DynSolValue::Tuple(values)) => match values.into_iter().next() {
            Some(DynSolValue::String(text)) => text.into_bytes().into(),
            _ => data.into(),
        },
        _ => data.into(),
    }
}

/// An event that is expected of the next call. The test itself shows what it should look like.
#[derive(Debug, Clone)]
pub(super) struct ExpectedEmit {
    pub(super) depth: usize,
    /// Whether to compare the three indexed arguments and the data.
    pub(super) checks: [bool; 4],
    pub(super) by: Option<Address>,
    pub(super) template: Option<Log>,
    pub(super) found: bool,
}

impl ExpectedEmit {
    pub(super) fn fits(&self, log: &Log) -> bool {
        let Some(template) = &self.template else { return false };
        if self.by.is_some_and(|by| by != log.address) {
            return false;
        }
        let (wanted, got) = (template.data.topics(), log.data.topics());
        if wanted.len() != got.len() || wanted.first() != got.first() {
            return false;
        }
        let topics = wanted.iter().zip(got).skip(1).zip(self.checks);
        let indexed = topics.into_iter().all(|((wanted, got), check)| !check || wanted == got);
        indexed && (!self.checks[3] || template.data.data == log.data.data)
    }
}

/// A call that is expected before the test ends.
#[derive(Debug, Clone)]
pub(super) struct ExpectedCall {
    pub(super) target: Address,
    pub(super) value: Option<U256>,
    pub(super) data: Bytes,
    /// How often; at least once when nobody said.
    pub(super) times: Option<u64>,
    pub(super) seen: u64,
}

impl ExpectedCall {
    pub(super) fn see(&mut self, target: Address, value: U256, data: &[u8]) {
        let fits = target == self.target
            && data.starts_with(&self.data)
            && self.value.is_none_or(|wanted| wanted == value);
        self.seen += u64::from(fits);
    }

    pub(super) fn disappointment(&self) -> Option<String> {
        let well = self.times.map_or(self.seen > 0, |times| self.seen == times);
        let (target, data) = (self.target, &self.data);
        let wanted = self.times.map_or("at least once".into(), |times| format!("{times} times"));
        (!well).then(|| {
            format!("expected call to {target} with data {data} {wanted}, but got {} calls", self.seen)
        })
    }
}
