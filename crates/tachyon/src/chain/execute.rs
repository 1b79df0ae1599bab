//! One execution on revm: a transaction on a state, and how it ended.

use alloy_primitives::{Address, Bytes, Log, TxKind};
use revm::context::result::{ExecutionResult, Output, ResultAndState};
use revm::context::{BlockEnv, CfgEnv, Context, TxEnv};
use revm::database::CacheDB;
use revm::primitives::hardfork::SpecId;
use revm::{DatabaseRef, ExecuteEvm as _, InspectEvm as _, MainBuilder as _, MainContext as _};

use super::{Intent, Outcome};
use crate::chain::embedded::trace::Tracer;
use crate::limits;

/// The rules of the embedded chain, and of tests that name no others.
pub(crate) const RULES: SpecId = SpecId::OSAKA;

/// What an execution did, before anyone keeps it.
pub(crate) struct Executed {
    pub(crate) outcome: Outcome,
    pub(crate) gas_used: u64,
    pub(crate) created: Option<Address>,
    pub(crate) logs: Vec<Log>,
    pub(crate) state: revm::state::EvmState,
}

impl Executed {
    fn new(done: ResultAndState) -> Self {
        let (mut created, mut logs) = (None, vec![]);
        let gas_used = done.result.tx_gas_used();
        let outcome = match done.result {
            ExecutionResult::Success { output, logs: emitted, .. } => {
                logs = emitted;
                match output {
                    Output::Call(data) => Outcome::Done(data),
                    Output::Create(code, address) => {
                        created = address;
                        Outcome::Done(code)
                    }
                }
            }
            ExecutionResult::Revert { output, .. } => Outcome::Reverted(output),
            ExecutionResult::Halt { reason, .. } => Outcome::Halted(format!("{reason:?}")),
        };
        Self { outcome, gas_used, created, logs, state: done.state }
    }
}

/// The settings of a chain.
pub(crate) fn rules(chain_id: u64) -> CfgEnv {
    let mut rules = CfgEnv::new_with_spec(RULES);
    rules.chain_id = chain_id;
    rules.tx_chain_id_check = true;
    rules
}

/// Executes a transaction that somebody signed.
pub(crate) fn transact<D: DatabaseRef>(
    state: D,
    rules: CfgEnv,
    block: BlockEnv,
    transaction: TxEnv,
) -> Result<Executed, String>
where
    D::Error: std::fmt::Debug,
{
    let context = Context::mainnet().with_db(CacheDB::new(state)).with_cfg(rules).with_block(block);
    let done = context.build_mainnet().transact(transaction).map_err(refused)?;
    Ok(Executed::new(done))
}

/// Executes what nobody signed: free gas, no nonce, from whomever.
pub(crate) fn attempt<D: DatabaseRef>(
    state: D,
    mut rules: CfgEnv,
    mut block: BlockEnv,
    attempt: Attempt<'_>,
) -> Result<Executed, String>
where
    D::Error: std::fmt::Debug,
{
    rules.disable_nonce_check = true;
    rules.disable_eip3607 = true;
    block.basefee = 0;
    let chain_id = rules.chain_id;
    let context = Context::mainnet().with_db(CacheDB::new(state)).with_cfg(rules).with_block(block);
    let transaction = TxEnv {
        caller: attempt.intent.from,
        gas_limit: attempt.gas.min(limits::TRANSACTION_GAS),
        kind: attempt.intent.to.map_or(TxKind::Create, TxKind::Call),
        value: attempt.intent.value,
        data: Bytes::clone(&attempt.intent.data),
        chain_id: Some(chain_id),
        ..TxEnv::default()
    };
    let done = match attempt.tracer {
        Some(tracer) => context.build_mainnet_with_inspector(tracer).inspect_tx(transaction),
        None => context.build_mainnet().transact(transaction),
    };
    Ok(Executed::new(done.map_err(refused)?))
}

/// What to execute, with how much gas, and who watches.
pub(crate) struct Attempt<'a> {
    pub(crate) intent: &'a Intent,
    pub(crate) gas: u64,
    pub(crate) tracer: Option<&'a mut Tracer>,
}

fn refused<E: std::fmt::Debug>(
    error: revm::context::result::EVMError<E, revm::context::result::InvalidTransaction>,
) -> String {
    match error {
        revm::context::result::EVMError::Transaction(invalid) => invalid.to_string(),
        other => format!("{other:?}"),
    }
}
