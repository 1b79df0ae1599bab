//! From the log to the state, when a project is opened; and the state kept, so that the next opening need not read all of
//! the log.
//!
//! What is kept is a cache. It names the code that made it, and what other code has made is thrown away: whether it
//! means the same, only folding the log again would tell.

use std::path::Path;

use mxd_core::event::{Event, EventHead, EventKind, may_shape_state, split_events};
use mxd_core::state::State;
use mxd_core::time::Millis;
use mxd_store::{Line, Log, OpenError, Options, Replay};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::agents::Unwanted;

/// The code that folds, by a hash of its text.
const CODE: &str = env!("MXD_FOLD");

pub(super) fn open(folder: &Path) -> Result<(Log, Fold), OpenError> {
    let mut fold = Fold::default();
    let log = Log::open(folder, Options::default(), &mut fold)?;
    Ok((log, fold))
}

/// What the log says so far. What cannot be read of a line is passed over: the log reports damage by itself, and the
/// state is made to live with gaps.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Fold {
    pub(super) state: State,
    pub(super) unwanted: Unwanted,
}

#[derive(Serialize)]
struct Kept<'a> {
    code: &'a str,
    fold: &'a Fold,
}

#[derive(Deserialize)]
struct Found<'a> {
    code: String,
    #[serde(borrow)]
    fold: &'a RawValue,
}

impl Fold {
    /// As it is kept.
    pub(super) fn keep(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(&Kept { code: CODE, fold: self })
    }

    fn found(kept: &[u8]) -> Option<Self> {
        let found: Found<'_> = serde_json::from_slice(kept).ok()?;
        (found.code == CODE).then(|| serde_json::from_str(found.fold.get()).ok()).flatten()
    }
}

impl Replay for Fold {
    fn restore(&mut self, kept: &[u8]) -> bool {
        Self::found(kept).map(|found| *self = found).is_some()
    }

    fn commit(&mut self, line: &Line<'_>) {
        for text in split_events(line.events).into_iter().flatten() {
            let shapes =
                EventHead::parse(text).ok().and_then(|head| head.kind()).is_some_and(EventKind::shapes_state);
            if let Some(event) = shapes.then(|| Event::decode(text).ok()).flatten() {
                self.unwanted.note(&event);
                self.state.apply(&event, Millis(line.at));
            }
        }
    }

    fn filter(&self) -> fn(events: &str) -> bool {
        may_shape_state
    }
}

#[cfg(test)]
mod tests {
    use mxd_core::event::body::{EditedBy, TaskReset};
    use mxd_core::id::{TaskId, Ulid};

    use super::*;

    fn fold() -> Fold {
        let mut fold = Fold::default();
        let task = TaskId::from(Ulid::from_parts(1, 1));
        fold.unwanted.note(&Event::new(task, TaskReset { edited_by: EditedBy::User }));
        fold
    }

    #[test]
    fn what_was_kept_is_found() {
        let mut found = Fold::default();
        assert!(found.restore(&fold().keep().unwrap()));
        assert_eq!(found, fold());
    }

    #[test]
    fn what_other_code_made_is_of_no_use() {
        let kept = String::from_utf8(fold().keep().unwrap()).unwrap();
        for other in
            [kept.replace(CODE, "0123456789abcdef"), kept.replace("\"fold\"", "\"folded\""), String::new()]
        {
            let mut found = Fold::default();
            assert!(!found.restore(other.as_bytes()), "{other}");
            assert_eq!(found, Fold::default());
        }
    }
}
