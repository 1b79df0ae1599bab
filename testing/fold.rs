//! Folding a log into the domain's state, as the engine does.
//!
//! Included by the test and the bench of the log.

use mxd_core::event::{Event, EventHead, EventKind, may_shape_state, split_events};
use mxd_core::state::State;
use mxd_core::time::Millis;
use mxd_store::{Line, Replay};

/// The state so far.
#[derive(Default)]
pub(crate) struct Fold(pub(crate) State);

impl Replay for Fold {
    fn restore(&mut self, state: &[u8]) -> bool {
        serde_json::from_slice(state).map(|state| self.0 = state).is_ok()
    }

    fn commit(&mut self, line: &Line<'_>) {
        for event in split_events(line.events).unwrap() {
            if EventHead::parse(event).unwrap().kind().is_some_and(EventKind::shapes_state) {
                self.0.apply(&Event::decode(event).unwrap(), Millis(line.at));
            }
        }
    }

    fn filter(&self) -> fn(events: &str) -> bool {
        may_shape_state
    }
}
