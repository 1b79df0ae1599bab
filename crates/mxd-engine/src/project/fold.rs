//! From the log to the state, when a project is opened.

use std::path::Path;

use mxd_core::event::{Event, EventHead, EventKind, may_shape_state, split_events};
use mxd_core::state::State;
use mxd_core::time::Millis;
use mxd_store::{Line, Log, OpenError, Options, Replay};

pub(super) fn open(folder: &Path) -> Result<(Log, State), OpenError> {
    let mut fold = Fold::default();
    let log = Log::open(folder, Options::default(), &mut fold)?;
    Ok((log, fold.0))
}

/// The state so far. What cannot be read of a line is passed over: the log reports damage by itself, and the state is
/// made to live with gaps.
#[derive(Default)]
struct Fold(State);

impl Replay for Fold {
    fn restore(&mut self, state: &[u8]) -> bool {
        serde_json::from_slice(state).map(|state| self.0 = state).is_ok()
    }

    fn commit(&mut self, line: &Line<'_>) {
        for text in split_events(line.events).into_iter().flatten() {
            let shapes =
                EventHead::parse(text).ok().and_then(|head| head.kind()).is_some_and(EventKind::shapes_state);
            if let Some(event) = shapes.then(|| Event::decode(text).ok()).flatten() {
                self.0.apply(&event, Millis(line.at));
            }
        }
    }

    fn filter(&self) -> fn(events: &str) -> bool {
        may_shape_state
    }
}
