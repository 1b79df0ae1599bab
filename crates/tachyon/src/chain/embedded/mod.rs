//! The embedded development chain: it needs nothing, keeps everything, and mines when it is told something.
//!
//! One journal line is one block with one transaction and everything it changed, so opening the chain needs no execution and a
//! crash leaves the whole block or nothing of it.

pub(crate) mod accounts;
pub(crate) mod trace;
mod world;

use std::path::Path;

use alloy_consensus::transaction::SignerRecoverable as _;
use alloy_consensus::{Transaction as _, TxEnvelope};
use alloy_eips::eip2718::Decodable2718 as _;
use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use revm::context::{BlockEnv, TxEnv};

use super::execute::{self, Attempt, Executed};
use super::{At, Detail, Fees, Intent, Outcome, Receipt, Simulation};
use crate::fault::{Code, Fault};
use crate::journal::{Journal, JournalError};
use crate::limits;
use trace::Tracer;
use world::{Block, World, changes};

/// The number of the chain; the one development chains use.
pub(crate) const CHAIN_ID: u64 = 31337;
/// The name of the chain.
pub(crate) const NAME: &str = "dev";
/// Gas is cheap, and always costs the same.
pub(crate) const FEES: Fees = Fees::Market { most: 2 * BASE_FEE as u128, tip: 0 };
const BASE_FEE: u64 = 1_000_000_000;

/// The chain of one tenant.
pub(crate) struct EmbeddedChain {
    journal: Journal<World>,
}

/// What an account has.
pub(crate) struct Account {
    pub(crate) nonce: u64,
    pub(crate) code: Bytes,
}

impl EmbeddedChain {
    pub(crate) fn open(path: &Path) -> Result<Self, JournalError> {
        Ok(Self { journal: Journal::open(path)? })
    }

    pub(crate) fn head(&self) -> Result<u64, Fault> {
        Ok(self.journal.read(World::head)?)
    }

    pub(crate) fn account(&self, address: Address) -> Result<Account, Fault> {
        Ok(self.journal.read(|world| world.account(address))?)
    }

    pub(crate) fn receipt(&self, hash: B256) -> Result<Option<Receipt>, Fault> {
        Ok(self.journal.read(|world| world.receipt(hash).cloned())?)
    }

    /// What would happen on the newest state, and the least gas with which it does.
    pub(crate) fn simulate(&self, intent: &Intent, at: At, detail: Detail) -> Result<Simulation, Fault> {
        self.journal.read(|world| {
            let block = world.head();
            if let At::Block(wanted) = at
                && wanted != block
            {
                let message = format!(
                    "the embedded chain keeps only its newest state, block {block}; leave `block` out"
                );
                return Err(Fault::invalid(message));
            }
            let mut tracer = (detail == Detail::Trace).then(Tracer::default);
            let done = attempt(world, intent, limits::TRANSACTION_GAS, tracer.as_mut())?;
            let gas = match done.outcome {
                Outcome::Done(_) => Some(least_gas(world, intent, done.gas_used)?),
                _ => None,
            };
            let trace = tracer.map(Tracer::finish);
            Ok(Simulation { block, outcome: done.outcome, gas, logs: done.logs, trace })
        })?
    }

    /// Mines a signed transaction in a block of its own. One that is mined already stays as it is.
    pub(crate) fn mine(&self, raw: &Bytes, now: u64) -> Result<(), Fault> {
        let refused =
            |what: String| Fault::new(Code::CallFailed, format!("the chain refused the transaction: {what}"));
        let signed =
            TxEnvelope::decode_2718(&mut raw.as_ref()).map_err(|error| refused(error.to_string()))?;
        let sender = signed.recover_signer().map_err(|error| refused(error.to_string()))?;
        let hash = *signed.tx_hash();
        self.journal.write(|world| {
            if world.receipt(hash).is_some() {
                return Ok((vec![], ()));
            }
            let number = world.head() + 1;
            let timestamp = now.max(world.timestamp() + 1);
            let env = block_env(world, number, timestamp);
            let done =
                execute::transact(world.state(), execute::rules(CHAIN_ID), env, environment(&signed, sender))
                    .map_err(refused)?;
            let mut seed = world.head_hash().to_vec();
            seed.extend_from_slice(&number.to_be_bytes());
            seed.extend_from_slice(&timestamp.to_be_bytes());
            seed.extend_from_slice(hash.as_slice());
            let block_hash = keccak256(seed);
            let price = signed.effective_gas_price(Some(BASE_FEE));
            let receipt = Receipt {
                tx_hash: hash,
                block_number: number,
                block_hash,
                from: sender,
                to: signed.to(),
                contract_address: done.created,
                succeeded: matches!(done.outcome, Outcome::Done(_)),
                gas_used: done.gas_used,
                gas_price: U256::from(price),
                logs: done.logs,
            };
            let block = Block { number, timestamp, raw: raw.clone(), receipt, changes: changes(done.state) };
            Ok((vec![block], ()))
        })
    }
}

/// The least gas limit with which an attempt succeeds: more than it uses, as callers must keep some back and refunds come late.
fn least_gas(world: &World, intent: &Intent, used: u64) -> Result<u64, Fault> {
    let enough = |gas: u64| {
        // Too little gas to begin with is an error, not an outcome.
        attempt(world, intent, gas, None).is_ok_and(|done| matches!(done.outcome, Outcome::Done(_)))
    };
    let (mut low, mut high) = (used.saturating_sub(1), used);
    while !enough(high) {
        low = high;
        high = (high + high / 8 + 1_000).min(limits::TRANSACTION_GAS);
        if high == limits::TRANSACTION_GAS {
            break;
        }
    }
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if enough(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(high)
}

fn attempt(world: &World, intent: &Intent, gas: u64, tracer: Option<&mut Tracer>) -> Result<Executed, Fault> {
    let env = block_env(world, world.head() + 1, world.timestamp() + 1);
    let what = Attempt { intent, gas, tracer };
    execute::attempt(world.state(), execute::rules(CHAIN_ID), env, what)
        .map_err(|what| Fault::new(Code::SimulateFailed, format!("the chain refuses this: {what}")))
}

fn block_env(world: &World, number: u64, timestamp: u64) -> BlockEnv {
    BlockEnv {
        number: U256::from(number),
        timestamp: U256::from(timestamp),
        gas_limit: limits::BLOCK_GAS,
        basefee: BASE_FEE,
        prevrandao: Some(world.head_hash()),
        ..BlockEnv::default()
    }
}

fn environment(signed: &TxEnvelope, sender: Address) -> TxEnv {
    TxEnv {
        tx_type: signed.tx_type() as u8,
        caller: sender,
        gas_limit: signed.gas_limit(),
        gas_price: signed.max_fee_per_gas(),
        kind: signed.kind(),
        value: signed.value(),
        data: signed.input().clone(),
        nonce: signed.nonce(),
        chain_id: signed.chain_id(),
        access_list: signed.access_list().cloned().unwrap_or_default(),
        gas_priority_fee: signed.max_priority_fee_per_gas(),
        ..TxEnv::default()
    }
}
