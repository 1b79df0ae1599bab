//! Snapshots: of the state, to come back to, and of the gas that is used between two places.

use std::collections::BTreeMap;
use std::sync::Arc;

use alloy_dyn_abi::DynSolValue;
use alloy_primitives::U256;
use revm::context::BlockEnv;
use revm::context_interface::JournalTr as _;
use revm::interpreter::Gas;
use revm::state::{EvmState, TransientStorage};

use super::dispatch::{Call, nothing, number};
use super::{Refusal, Returned};
use crate::runner::machine::{Ctx, Db};

/// Accounts and slots that all states a test keeps may have together.
const ENTRIES: usize = 1 << 20;
/// The depth of the test itself; what calls it has nothing left to undo.
const TEST_DEPTH: usize = 1;

/// What a test kept.
#[derive(Clone, Default)]
pub(super) struct Snapshots {
    states: BTreeMap<U256, Arc<Saved>>,
    next: U256,
    /// The section whose gas is being counted.
    section: Option<Section>,
    /// What the newest call used.
    last_call: Option<Gas>,
}

/// Everything to come back to.
struct Saved {
    db: Db,
    state: EvmState,
    transient: TransientStorage,
    block: BlockEnv,
}

/// A piece of a test whose gas is counted, at the depth where it began: calls count as a whole.
#[derive(Clone, Copy)]
struct Section {
    depth: usize,
    used: u64,
    /// What the frame had spent after its newest instruction; nothing right after the beginning, so that the beginning itself
    /// does not count.
    spent: Option<u64>,
}

impl Saved {
    fn entries(&self) -> usize {
        let in_db: usize = self.db.cache.accounts.values().map(|account| 1 + account.storage.len()).sum();
        in_db + self.state.values().map(|account| 1 + account.storage.len()).sum::<usize>()
    }
}

impl Snapshots {
    pub(super) fn run(&mut self, context: &mut Ctx, call: &Call<'_>) -> Returned {
        match call.name() {
            "snapshot" | "snapshotState" => self.save(context, call),
            "revertTo" | "revertToState" => self.restore(context, call),
            "revertToAndDelete" | "revertToStateAndDelete" => {
                let restored = self.restore(context, call);
                self.states.remove(&call.number(0)?);
                restored
            }
            "deleteSnapshot" | "deleteStateSnapshot" => {
                Ok(vec![DynSolValue::Bool(self.states.remove(&call.number(0)?).is_some())])
            }
            "deleteSnapshots" | "deleteStateSnapshots" => {
                self.states.clear();
                nothing()
            }
            "startSnapshotGas" => {
                self.section = Some(Section { depth: context.journaled_state.depth(), used: 0, spent: None });
                nothing()
            }
            "stopSnapshotGas" => {
                let section = self.section.take();
                let section = section.ok_or("no gas snapshot was started yet")?;
                Ok(vec![number(U256::from(section.used))])
            }
            "snapshotGasLastCall" => Ok(vec![number(U256::from(self.newest_call()?.total_gas_spent()))]),
            "lastCallGas" => {
                let gas = self.newest_call()?;
                let whole = |value: u64| DynSolValue::Uint(U256::from(value), 64);
                let refunded = DynSolValue::Int(gas.refunded().try_into().map_err(|_| call.wrong())?, 64);
                let told = [gas.limit(), gas.total_gas_spent(), 0].map(whole);
                Ok(vec![DynSolValue::Tuple([told.to_vec(), vec![refunded, whole(gas.remaining())]].concat())])
            }
            // Where values are kept for the next run, nothing depends on them in this one.
            "snapshotValue" => nothing(),
            _ => Err(call.wrong()),
        }
    }

    fn newest_call(&self) -> Result<Gas, Refusal> {
        self.last_call.ok_or("no external call was made yet".into())
    }

    /// A call of the contracts under test came to its end.
    pub(super) fn call_ended(&mut self, gas: &Gas) {
        self.last_call = Some(*gas);
    }

    /// An instruction at this depth was executed, and its frame has spent so much.
    pub(super) fn stepped(&mut self, depth: usize, spent: u64) {
        let Some(section) = self.section.as_mut().filter(|section| section.depth == depth) else { return };
        if let Some(before) = section.spent {
            section.used = section.used.saturating_add(spent.saturating_sub(before));
        }
        section.spent = Some(spent);
    }

    pub(super) fn is_counting(&self) -> bool {
        self.section.is_some()
    }

    fn save(&mut self, context: &Ctx, call: &Call<'_>) -> Returned {
        let journal = &context.journaled_state;
        let saved = Saved {
            db: journal.database.clone(),
            state: journal.inner.state.clone(),
            transient: journal.inner.transient_storage.clone(),
            block: context.block.clone(),
        };
        let kept: usize = self.states.values().map(|saved| saved.entries()).sum();
        if kept + saved.entries() > ENTRIES {
            let what = format!("the cheatcode {} for more than {ENTRIES} entries", call.function.signature());
            return Err(Refusal::Unsupported(what));
        }
        let id = self.next;
        self.next += U256::from(1);
        self.states.insert(id, Arc::new(saved));
        Ok(vec![number(id)])
    }

    fn restore(&mut self, context: &mut Ctx, call: &Call<'_>) -> Returned {
        let Some(saved) = self.states.get(&call.number(0)?) else {
            return Ok(vec![DynSolValue::Bool(false)]);
        };
        let journal = &mut context.journaled_state;
        if journal.depth() > TEST_DEPTH {
            return Err(Refusal::Unsupported(format!(
                "the cheatcode {} within a call",
                call.function.signature()
            )));
        }
        journal.database = saved.db.clone();
        journal.inner.state = saved.state.clone();
        journal.inner.transient_storage = saved.transient.clone();
        // They would undo changes to a state that is gone. Only the test itself could still revert, and then all of it is dropped.
        journal.inner.journal.clear();
        context.block = saved.block.clone();
        Ok(vec![DynSolValue::Bool(true)])
    }
}
