//! Recognising calls that are made again and again and come to the same.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// How many calls are remembered.
pub(super) const REMEMBERED: usize = 16;

/// A call and what it came to, as fingerprints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trace {
    /// Tool and arguments.
    pub call: u64,
    /// The result.
    pub result: u64,
}

/// How often, one after the other, the last call was made and came to the same.
pub(crate) fn repeated(trace: &VecDeque<Trace>) -> usize {
    let Some(last) = trace.back() else {
        return 0;
    };
    trace.iter().rev().take_while(|other| *other == last).count()
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
