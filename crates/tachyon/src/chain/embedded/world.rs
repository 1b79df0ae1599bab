//! The state of the embedded chain: accounts, blocks and receipts, as the fold of its blocks.

use std::collections::HashMap;

use alloy_primitives::{Address, B256, Bytes, U256};
use revm::bytecode::Bytecode;
use revm::database::in_memory_db::{AccountState, DbAccount};
use revm::database::{CacheDB, EmptyDB};
use revm::state::{AccountInfo, EvmState};
use serde::{Deserialize, Serialize};

use super::accounts::{self, BALANCE, CREATE2_CODE, CREATE2_DEPLOYER};
use super::{Account, Receipt};
use crate::journal::Fold;

/// One block with its one transaction.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Block {
    pub(super) number: u64,
    pub(super) timestamp: u64,
    /// The signed transaction.
    pub(super) raw: Bytes,
    pub(super) receipt: Receipt,
    pub(super) changes: Vec<Change>,
}

/// What became of one account.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Change {
    address: Address,
    #[serde(flatten)]
    now: Now,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "now", rename_all = "snake_case")]
enum Now {
    Gone,
    Is {
        nonce: u64,
        balance: U256,
        /// Only when it is new.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<Bytes>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        storage: Vec<(U256, U256)>,
    },
}

/// Everything there is after the newest block.
pub(crate) struct World {
    state: CacheDB<EmptyDB>,
    head: u64,
    head_hash: B256,
    timestamp: u64,
    receipts: HashMap<B256, Receipt>,
}

impl Default for World {
    fn default() -> Self {
        let mut state = CacheDB::new(EmptyDB::default());
        for key in accounts::all() {
            state.insert_account_info(key.address(), AccountInfo::from_balance(BALANCE));
        }
        let code = Bytecode::new_raw(CREATE2_CODE.into());
        let deployer = AccountInfo { nonce: 1, ..AccountInfo::default() }.with_code(code);
        state.insert_account_info(CREATE2_DEPLOYER, deployer);
        Self { state, head: 0, head_hash: B256::ZERO, timestamp: 0, receipts: HashMap::new() }
    }
}

impl Fold for World {
    type Record = Block;

    fn apply(&mut self, block: Block) {
        for change in block.changes {
            self.change(change);
        }
        self.head = block.number;
        self.timestamp = block.timestamp;
        self.head_hash = block.receipt.block_hash;
        self.state.cache.block_hashes.insert(U256::from(block.number), self.head_hash);
        self.receipts.insert(block.receipt.tx_hash, block.receipt);
    }
}

impl World {
    fn change(&mut self, change: Change) {
        let Now::Is { nonce, balance, code, storage } = change.now else {
            self.state.cache.accounts.insert(change.address, DbAccount::new_not_existing());
            return;
        };
        let account = self.state.cache.accounts.entry(change.address).or_default();
        if code.is_some() {
            account.storage.clear();
        }
        account.storage.extend(storage);
        account.account_state = AccountState::StorageCleared;
        let mut info = AccountInfo { nonce, balance, ..account.info.clone() };
        if let Some(code) = code {
            info = info.with_code(Bytecode::new_raw(code));
        }
        self.state.insert_account_info(change.address, info);
    }

    pub(super) fn state(&self) -> &CacheDB<EmptyDB> {
        &self.state
    }

    pub(super) fn head(&self) -> u64 {
        self.head
    }

    pub(super) fn head_hash(&self) -> B256 {
        self.head_hash
    }

    pub(super) fn timestamp(&self) -> u64 {
        self.timestamp
    }

    pub(super) fn receipt(&self, hash: B256) -> Option<&Receipt> {
        self.receipts.get(&hash)
    }

    pub(super) fn account(&self, address: Address) -> Account {
        let info = self.state.cache.accounts.get(&address).and_then(DbAccount::info).unwrap_or_default();
        let code = self.state.cache.contracts.get(&info.code_hash).map(Bytecode::original_bytes);
        Account { nonce: info.nonce, code: code.unwrap_or_default() }
    }
}

/// What an execution changed, in the order of addresses so that the same block is the same line.
pub(super) fn changes(state: EvmState) -> Vec<Change> {
    let touched = state.into_iter().filter(|(_, account)| account.is_touched());
    let mut changes: Vec<Change> = touched
        .map(|(address, account)| {
            if account.is_selfdestructed() || account.is_empty() {
                return Change { address, now: Now::Gone };
            }
            let code = account.is_created().then(|| account.info.code.as_ref().map(Bytecode::original_bytes));
            let slots = account.storage.iter().filter(|(_, slot)| slot.is_changed());
            let mut storage: Vec<(U256, U256)> =
                slots.map(|(key, slot)| (*key, slot.present_value)).collect();
            storage.sort_unstable();
            let (nonce, balance) = (account.info.nonce, account.info.balance);
            Change { address, now: Now::Is { nonce, balance, code: code.flatten(), storage } }
        })
        .collect();
    changes.sort_unstable_by_key(|change| change.address);
    changes
}
