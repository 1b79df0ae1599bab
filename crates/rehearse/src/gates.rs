//! Gates: places where replies wait for the test, and the test for replies.

use std::collections::BTreeMap;

use tokio::sync::watch;

use crate::script::Script;

/// A gate that no turn of the script has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the script has no gate `{0}`")]
pub struct UnknownGate(pub String);

#[derive(Debug, Clone, Copy, Default)]
struct State {
    open: bool,
    reached: usize,
}

/// All gates of a script.
#[derive(Debug, Default)]
pub(crate) struct Gates(BTreeMap<String, watch::Sender<State>>);

impl Gates {
    pub(crate) fn of(script: &Script) -> Self {
        let turns = script.conversations.iter().flat_map(|one| &one.turns);
        let names = turns.filter_map(|turn| turn.gate.as_ref()).map(|gate| gate.name.clone());
        Self(names.map(|name| (name, watch::Sender::default())).collect())
    }

    fn get(&self, name: &str) -> Result<&watch::Sender<State>, UnknownGate> {
        self.0.get(name).ok_or_else(|| UnknownGate(name.to_owned()))
    }

    /// Lets everything through that waits here, now and later.
    pub(crate) fn open(&self, name: &str) -> Result<(), UnknownGate> {
        self.get(name)?.send_modify(|state| state.open = true);
        Ok(())
    }

    /// Waits until the gate is open.
    pub(crate) async fn pass(&self, name: &str) {
        let Ok(gate) = self.get(name) else { return };
        let mut state = gate.subscribe();
        gate.send_modify(|state| state.reached += 1);
        // The sender lives as long as this borrow of it: waiting cannot fail.
        let _ = state.wait_for(|state| state.open).await;
    }

    /// A wait, to be awaited anywhere, until `count` replies have come to the gate.
    pub(crate) fn reached(
        &self,
        name: &str,
        count: usize,
    ) -> Result<impl Future<Output = ()> + Send + 'static, UnknownGate> {
        let mut state = self.get(name)?.subscribe();
        Ok(async move {
            let _ = state.wait_for(|state| state.reached >= count).await;
        })
    }
}
