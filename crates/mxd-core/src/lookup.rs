//! Finding a node by the first characters of its id, as people and models type it.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::id::TaskId;

/// Shorter prefixes are refused: ten characters are the millisecond, so fewer than eight name half a minute
/// or more.
pub const SHORTEST_PREFIX: usize = 8;

/// How many candidates an ambiguous lookup names.
const CANDIDATES_SHOWN: usize = 5;

/// Error texts repeat what was given, but not a megabyte of it.
const GIVEN_SHOWN: usize = 40;

/// Why a prefix did not name exactly one node.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LookupError {
    /// Too few characters to be meant seriously.
    #[error("`{given}` is too short for an id: give at least {min} characters")]
    TooShort {
        /// What was given.
        given: String,
        /// How many characters are needed.
        min: usize,
    },
    /// Nothing an id could start with.
    #[error("`{given}` cannot be (the start of) an id")]
    NotAnId {
        /// What was given, cut to a readable length.
        given: String,
    },
    /// Well formed, but no node has it.
    #[error("no node has an id starting with `{prefix}`")]
    Unknown {
        /// What was given.
        prefix: String,
    },
    /// Several nodes start with it.
    #[error("`{prefix}` is the start of {total} ids: {}", listed(candidates, *total))]
    Ambiguous {
        /// What was given.
        prefix: String,
        /// The first few of them, in order.
        candidates: Vec<TaskId>,
        /// How many there are.
        total: usize,
    },
}

/// Finds the one node whose id is `prefix` or starts with it.
///
/// Ids sort like their text, so all ids with a prefix are neighbours: one range query, not a scan.
pub fn resolve<V>(prefix: &str, nodes: &BTreeMap<TaskId, V>) -> Result<TaskId, LookupError> {
    let (first, last) = bounds(prefix)?;
    let mut found = nodes.range(first..=last).map(|(id, _)| *id);
    let Some(one) = found.next() else {
        return Err(LookupError::Unknown { prefix: prefix.to_owned() });
    };
    let Some(two) = found.next() else {
        return Ok(one);
    };
    let mut candidates = vec![one, two];
    candidates.extend(found.by_ref().take(CANDIDATES_SHOWN - candidates.len()));
    let total = candidates.len() + found.count();
    Err(LookupError::Ambiguous { prefix: prefix.to_owned(), candidates, total })
}

/// The lowest and the highest id that start with the prefix.
fn bounds(prefix: &str) -> Result<(TaskId, TaskId), LookupError> {
    let not_an_id = || LookupError::NotAnId { given: prefix.chars().take(GIVEN_SHOWN).collect() };
    if prefix.len() > ulid::ULID_LEN {
        return Err(not_an_id());
    }
    let padded = |with: char| -> Result<TaskId, LookupError> {
        let mut text = prefix.to_owned();
        text.extend(std::iter::repeat_n(with, ulid::ULID_LEN - prefix.len()));
        text.parse().map_err(|_| not_an_id())
    };
    if prefix.is_empty() {
        return Err(LookupError::TooShort { given: String::new(), min: SHORTEST_PREFIX });
    }
    let bounds = (padded('0')?, padded('Z')?);
    if prefix.len() < SHORTEST_PREFIX {
        return Err(LookupError::TooShort { given: prefix.to_owned(), min: SHORTEST_PREFIX });
    }
    Ok(bounds)
}

fn listed(candidates: &[TaskId], total: usize) -> String {
    let mut text = candidates.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if total > candidates.len() {
        text.push_str(", …");
    }
    text
}
