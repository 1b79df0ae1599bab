//! Recognising calls that are made again and again and come to the same.

use std::cmp::Reverse;
use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::volatile::without_volatile;
use crate::event::body::ToolResult;

/// How many calls are remembered.
pub(super) const REMEMBERED: usize = 64;

/// The longest round of calls that is recognised when it is gone again and again.
const LONGEST_ROUND: usize = 4;

/// Rounds of several calls that may be gone one after the other by chance.
const ROUNDS_BY_CHANCE: usize = 2;

/// A call and what it came to, as fingerprints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trace {
    /// Tool and arguments.
    pub call: u64,
    /// The result.
    pub result: u64,
    /// Whether the call failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

impl Trace {
    /// What a call came to. Failures are the same when they differ only in what differs from run to run, such as times and
    /// names of temporary files; of a success every letter counts, because it may tell how something gets on.
    pub(super) fn of(call: u64, result: &ToolResult) -> Self {
        let failed = result.is_error;
        let content = result.content.as_str();
        let result =
            if failed { fingerprint([without_volatile(content).as_str()]) } else { fingerprint([content]) };
        Self { call, result, failed }
    }
}

/// Calls at the end of the trace that are one round of calls, gone again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Repetition {
    /// How many calls.
    pub(crate) calls: usize,
    /// How many calls a round has.
    pub(crate) round: usize,
    /// Whether a call of the round fails.
    pub(crate) fails: bool,
}

/// What the last calls repeat: the round that goes back longest, and of those the shortest.
pub(crate) fn repetition(trace: &VecDeque<Trace>) -> Option<Repetition> {
    let repeats = |round: usize| {
        let older = trace.iter().rev().skip(round);
        let calls = round + trace.iter().rev().zip(older).take_while(|(newer, older)| newer == older).count();
        let fails = trace.iter().rev().take(round).any(|one| one.failed);
        let by_chance = if round == 1 { 1 } else { round * ROUNDS_BY_CHANCE };
        (calls > by_chance).then_some(Repetition { calls, round, fails })
    };
    let rounds = (1..=LONGEST_ROUND.min(trace.len())).filter_map(repeats);
    rounds.max_by_key(|one| (one.calls, Reverse(one.round)))
}

/// A fingerprint of texts: FNV-1a, because it has to be the same in every version of the program.
pub(crate) fn fingerprint<'a>(texts: impl IntoIterator<Item = &'a str>) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for text in texts {
        for byte in text.bytes().chain([0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    // JSON readers elsewhere hold whole numbers up to this many bits.
    hash >> 11
}
