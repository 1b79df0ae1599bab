//! A state, its surroundings and the cheatcodes: everything one call of a test needs, and everything it leaves behind.

use alloy_json_abi::JsonAbi;
use alloy_primitives::{Address, Bytes, TxKind, U256, address};
use revm::bytecode::Bytecode;
use revm::context::result::{ExecutionResult, Output};
use revm::context::{BlockEnv, CfgEnv, Context, TxEnv};
use revm::database::{CacheDB, EmptyDB};
use revm::state::AccountInfo;
use revm::{DatabaseCommit as _, InspectEvm as _, Journal, MainBuilder as _, MainContext as _};

use super::Plan;
use super::cheats::{Cheats, VM};
use crate::abi;
use crate::chain::execute::rules;
use crate::limits;

/// The state of a test.
pub(super) type Db = CacheDB<EmptyDB>;
/// What cheatcodes see of an execution.
pub(super) type Ctx = Context<BlockEnv, TxEnv, CfgEnv, Db, Journal<Db>, ()>;

/// Who calls tests.
pub(super) const SENDER: Address = address!("1804c8AB1F12E6bbf3894d4083f33e07309d1f38");
/// The number of the chain tests run on.
const CHAIN_ID: u64 = 31337;

/// Everything a call of a test needs. A copy of it is a snapshot.
#[derive(Clone)]
pub(super) struct Machine {
    pub(super) db: Db,
    block: BlockEnv,
    rules: CfgEnv,
    pub(super) cheats: Cheats,
}

/// What a call did.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) end: End,
    /// Without what every transaction costs.
    pub(super) gas: u64,
}

/// How a call ended.
#[derive(Debug)]
pub(super) enum End {
    Returned(Bytes),
    Created(Address),
    Failed(String),
}

impl Machine {
    pub(super) fn new(cheats: Cheats, plan: &Plan) -> Self {
        let mut db = CacheDB::new(EmptyDB::default());
        // Compilers check that there is code before they call.
        let cheat_code = AccountInfo::default().with_code(Bytecode::new_raw(Bytes::from_static(&[0xfe])));
        db.insert_account_info(VM, cheat_code);
        let sender = AccountInfo { nonce: 1, balance: U256::MAX >> 160, ..AccountInfo::default() };
        db.insert_account_info(SENDER, sender);
        let mut rules = rules(CHAIN_ID);
        rules.set_spec_and_mainnet_gas_params(plan.rules);
        rules.tx_gas_limit_cap = Some(u64::MAX);
        rules.limit_contract_code_size = Some(usize::MAX);
        rules.limit_contract_initcode_size = Some(usize::MAX);
        rules.memory_limit = limits::TEST_MEMORY_BYTES;
        rules.disable_nonce_check = true;
        rules.disable_eip3607 = true;
        rules.tx_chain_id_check = false;
        let block = BlockEnv {
            number: U256::from(plan.block_number),
            timestamp: U256::from(plan.block_timestamp),
            gas_limit: limits::TEST_GAS,
            basefee: 0,
            prevrandao: Some(Default::default()),
            ..BlockEnv::default()
        };
        Self { db, block, rules, cheats }
    }

    pub(super) fn deploy(&mut self, code: Bytes) -> Ran {
        self.transact(SENDER, TxKind::Create, code)
    }

    pub(super) fn call(&mut self, from: Address, to: Address, data: Bytes) -> Ran {
        self.transact(from, TxKind::Call(to), data)
    }

    fn transact(&mut self, from: Address, kind: TxKind, data: Bytes) -> Ran {
        let nonce = self.db.load_account(from).map_or(0, |account| account.info.nonce);
        let transaction =
            TxEnv { caller: from, gas_limit: limits::TEST_GAS, kind, data, nonce, ..TxEnv::default() };
        let intrinsic = self.rules.gas_params.initial_tx_gas_for_tx(&transaction, None).initial_regular_gas;
        self.cheats.begin();
        let context = Context::mainnet()
            .with_db(std::mem::take(&mut self.db))
            .with_cfg(self.rules.clone())
            .with_block(self.block.clone());
        let mut evm = context.build_mainnet_with_inspector(&mut self.cheats);
        let done = evm.inspect_tx(transaction);
        let Ctx { block, cfg, journaled_state, .. } = evm.ctx;
        self.block = block;
        self.rules = cfg;
        self.db = journaled_state.database;
        let done = match done {
            Ok(done) => done,
            Err(error) => {
                return Ran { end: End::Failed(format!("the machine refused it: {error:?}")), gas: 0 };
            }
        };
        let gas = done.result.tx_gas_used().saturating_sub(intrinsic);
        if done.result.is_success() {
            self.db.commit(done.state);
        }
        let end = match done.result {
            ExecutionResult::Success { output: Output::Create(_, Some(address)), .. } => {
                End::Created(address)
            }
            ExecutionResult::Success { output, .. } => End::Returned(output.into_data()),
            ExecutionResult::Revert { output, .. } => End::Failed(self.reason(&output)),
            ExecutionResult::Halt { reason, .. } => End::Failed(format!("EvmError: {reason:?}")),
        };
        Ran { end, gas }
    }

    /// Why something reverted, in words.
    fn reason(&self, data: &Bytes) -> String {
        let known: Vec<&JsonAbi> = self.cheats.vocabulary.abis.iter().collect();
        abi::decode_revert(data, known).reason
    }
}
