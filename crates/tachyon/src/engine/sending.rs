//! How a transaction is sent: simulated, reserved on disk, and only then shown to anyone.
//!
//! A reservation holds the signed bytes. Whoever comes back with the same key, after a crash or a time-out, sends the same bytes
//! again or finds their receipt; a chain takes one transaction per nonce, so nothing happens twice.

use std::sync::Arc;
use std::time::Duration;

use alloy_json_abi::JsonAbi;
use alloy_primitives::{Address, B256, U256, keccak256};
use serde_json::{Value, json};

use super::context::{CallContext, Progress};
use super::target::{Meant, Told};
use super::tenant::{Tenant, Tenants};
use super::{Engine, NamedChain};
use crate::chain::{At, Chain, Detail, Intent, Outcome, Receipt, Simulation};
use crate::clock;
use crate::fault::{Code, Fault};
use crate::limits;
use crate::policy::Grant;
use crate::policy::signer::{Draft, Key};
use crate::registry::{End, Entry, Reservation, Send, SendId, SendKind};

/// A transaction somebody wants.
#[derive(Clone)]
pub(super) struct Order {
    pub(super) kind: SendKind,
    /// Empty for one without a key.
    pub(super) key: String,
    pub(super) intent: Intent,
    pub(super) creates: Creates,
    pub(super) contract: String,
    pub(super) artifact_id: String,
    pub(super) signer: Key,
    pub(super) grant: Grant,
    pub(super) abis: Vec<JsonAbi>,
    /// What a failure is called.
    pub(super) code: Code,
}

/// Whether a transaction makes a contract, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Creates {
    Nothing,
    /// Where sender and nonce say.
    ByNonce,
    /// Where the deterministic deployer says.
    At(Address),
}

/// A transaction that is on the chain.
pub(super) struct Sent {
    pub(super) reservation: Reservation,
    pub(super) receipt: Receipt,
    /// Whether an earlier call did it.
    pub(super) existing: bool,
    /// The simulation before it was sent, when this call sent it.
    pub(super) simulation: Option<Simulation>,
}

/// What is to be waited for.
struct Underway {
    reservation: Reservation,
    existing: bool,
    simulation: Option<Simulation>,
}

/// What the key stands for so far.
enum Standing {
    Free,
    Waiting(Reservation),
    Done { reservation: Reservation, receipt: Receipt },
}

/// Everything that takes part in sending.
#[derive(Clone)]
pub(super) struct Sender {
    tenants: Arc<Tenants>,
    tenant: Arc<Tenant>,
    chain: Chain,
    progress: Progress,
    patience: Duration,
}

impl Order {
    /// The hash of everything the caller asked for.
    fn binding(&self, chain: &Chain) -> B256 {
        let asked = json!({
            "chain": chain.identity(),
            "kind": self.kind,
            "from": self.intent.from,
            "to": self.intent.to,
            "data": keccak256(&self.intent.data),
            "value": self.intent.value,
        });
        keccak256(asked.to_string())
    }

    fn id(&self, chain: &Chain) -> SendId {
        SendId { kind: self.kind, chain: chain.identity(), key: self.key.clone() }
    }
}

impl Sender {
    pub(super) fn new(
        engine: &Engine,
        tenant: Arc<Tenant>,
        named: &NamedChain,
        context: &CallContext,
    ) -> Self {
        let (chain, progress) = (named.chain.clone(), context.progress.clone());
        Self { tenants: engine.tenants.clone(), tenant, chain, progress, patience: engine.patience() }
    }

    /// Sends an order, or finds out what became of it when it was sent before.
    pub(super) async fn send(&self, order: Order) -> Result<Sent, Fault> {
        if let Standing::Done { reservation, receipt } = self.standing(&order)? {
            return Ok(Sent { reservation, receipt, existing: true, simulation: None });
        }
        // From the reservation to the sending nobody may interrupt: a caller who goes away must not leave half of it.
        let (sender, in_lane) = (self.clone(), order.clone());
        let underway = tokio::spawn(async move { sender.dispatch(&in_lane).await }).await;
        let underway = underway.map_err(|error| Fault::internal(format!("sending stopped: {error}")))??;
        self.progress.tell(format!("waiting for the receipt of {}", underway.reservation.tx_hash));
        let receipt = self.await_receipt(&order, &underway.reservation).await?;
        let Underway { reservation, existing, simulation } = underway;
        self.settle(&order, &reservation, &receipt).await?;
        Ok(Sent { reservation, receipt, existing, simulation })
    }

    /// Whether the key of an order was used before.
    pub(super) fn knows(&self, order: &Order) -> Result<bool, Fault> {
        Ok(!matches!(self.standing(order)?, Standing::Free))
    }

    /// What the registry says about the key of an order.
    fn standing(&self, order: &Order) -> Result<Standing, Fault> {
        if order.key.is_empty() {
            return Ok(Standing::Free);
        }
        let Some(send) = self.tenant.registry.read(|book| book.send(&order.id(&self.chain)).cloned())? else {
            return Ok(Standing::Free);
        };
        judge(send, order, &self.chain)
    }

    /// With the lane of the sender held: everything up to the moment the transaction has left.
    async fn dispatch(&self, order: &Order) -> Result<Underway, Fault> {
        self.progress.tell("waiting for the account's turn");
        let _lane = self.tenants.lane(&self.tenant, &self.chain, order.intent.from).await?;
        self.chain.verify().await?;
        self.tidy_lane(order.intent.from).await?;
        match self.standing(order)? {
            Standing::Done { reservation, .. } | Standing::Waiting(reservation) => {
                return Ok(Underway { reservation, existing: true, simulation: None });
            }
            Standing::Free => {}
        }
        self.progress.tell("simulating");
        let simulation = self.simulate(order).await?;
        let reservation = self.reserve(order, &simulation).await?;
        self.progress.tell(format!("sending {}", reservation.tx_hash));
        let sent = self.chain.send(&reservation.raw).await;
        sent.map_err(|fault| unsure(fault, order, &reservation))?;
        Ok(Underway { reservation, existing: false, simulation: Some(simulation) })
    }

    /// Finds out what became of everything the account has under way, and sends it again where nobody has it.
    async fn tidy_lane(&self, account: Address) -> Result<(), Fault> {
        let pending = self.tenant.registry.read(|book| book.pending(&self.chain.identity(), account))?;
        for send in pending {
            let reservation = send.reservation;
            if let Some(receipt) = self.chain.receipt(reservation.tx_hash).await? {
                self.record(&reservation, end_of(&receipt))?;
                continue;
            }
            if self.chain.settled_nonce(account).await? > reservation.nonce {
                // It may have been mined between the two questions.
                let end = match self.chain.receipt(reservation.tx_hash).await? {
                    Some(receipt) => end_of(&receipt),
                    None => End::Dropped { why: "another transaction of the account took its nonce".into() },
                };
                self.record(&reservation, end)?;
                continue;
            }
            self.progress.tell(format!("sending {} again", reservation.tx_hash));
            // A node that refuses it now may take it later; whether it is there is asked by its receipt.
            let _ = self.chain.send(&reservation.raw).await;
        }
        Ok(())
    }

    /// Nothing is sent that does not succeed on the newest state.
    async fn simulate(&self, order: &Order) -> Result<Simulation, Fault> {
        let simulation = self.chain.simulate(&order.intent, At::Latest, Detail::Result).await?;
        if let Outcome::Done(output) = &simulation.outcome {
            if let Creates::At(address) = order.creates
                && output.as_ref() != address.as_slice()
            {
                let message = format!("the deployer would not create {address}; is it the usual one?");
                return Err(Fault::new(order.code, message));
            }
            return Ok(simulation);
        }
        let meant = Meant { data: order.intent.data.clone(), function: None, abis: order.abis.clone() };
        let revert = Told::of(&simulation, &meant).revert;
        let reason = revert.as_ref().map(|revert| revert.reason.clone()).unwrap_or_default();
        let message = format!("it would revert, so it was not sent: {reason}");
        Err(Fault::new(order.code, message)
            .with_details(json!({ "revert": revert, "block": simulation.block })))
    }

    /// Signs, and keeps what was signed before anyone sees it.
    async fn reserve(&self, order: &Order, simulation: &Simulation) -> Result<Reservation, Fault> {
        let account = order.intent.from;
        let fees = self.chain.fees().await?;
        let next = self.tenant.registry.read(|book| {
            let pending = book.pending(&self.chain.identity(), account);
            pending.last().map_or(0, |send| send.reservation.nonce + 1)
        })?;
        let nonce = self.chain.nonce(account).await?.max(next);
        let estimate = simulation
            .gas
            .ok_or_else(|| Fault::new(order.code, "the node does not say how much gas it needs"))?;
        let mut gas = estimate.saturating_add(estimate / 5);
        if self.chain.is_embedded() {
            gas = gas.min(limits::TRANSACTION_GAS);
        }
        let Intent { to, value, data, .. } = order.intent.clone();
        let draft = Draft { chain_id: self.chain.id(), nonce, gas, fees, to, value, data };
        let cost = draft.worst_cost();
        let signed = order.signer.sign(&draft).map_err(|error| Fault::internal(error.to_string()))?;
        let mut id = order.id(&self.chain);
        if id.key.is_empty() {
            id.key = signed.hash.to_string();
        }
        let reservation = Reservation {
            id,
            binding: order.binding(&self.chain),
            sender: account,
            nonce,
            tx_hash: signed.hash,
            raw: signed.raw,
            value,
            worst_cost: cost,
            address: match order.creates {
                Creates::Nothing => None,
                Creates::ByNonce => Some(account.create(nonce)),
                Creates::At(address) => Some(address),
            },
            contract: order.contract.clone(),
            artifact_id: order.artifact_id.clone(),
            policy: order.grant.policy.clone(),
            at: clock::unix_seconds(),
        };
        self.progress.tell("reserving");
        let _purse = self.tenants.purse(&order.grant.policy).await?;
        let spent = match order.grant.max_total {
            Some(_) => self.tenants.spent(&order.grant.policy)?,
            None => U256::ZERO,
        };
        order.grant.check(cost, spent)?;
        let entry = Entry::Reserved { reservation: reservation.clone() };
        self.tenant.registry.write(|_| Ok((vec![entry], reservation)))
    }

    async fn await_receipt(&self, order: &Order, reservation: &Reservation) -> Result<Receipt, Fault> {
        let asked = async {
            loop {
                match self.chain.receipt(reservation.tx_hash).await {
                    Ok(Some(receipt)) => return Ok(receipt),
                    Ok(None) => {}
                    Err(fault) => return Err(fault),
                }
                tokio::time::sleep(limits::RECEIPT_PAUSE).await;
            }
        };
        match tokio::time::timeout(self.patience, asked).await {
            Ok(Ok(receipt)) => Ok(receipt),
            Ok(Err(fault)) => Err(unsure(fault, order, reservation)),
            Err(_) => {
                let waited = self.patience.as_secs();
                let fault = Fault::new(order.code, format!("no receipt came within {waited} seconds"));
                Err(unsure(fault, order, reservation))
            }
        }
    }

    /// Keeps how it ended, after checking what can be checked.
    async fn settle(&self, order: &Order, reservation: &Reservation, receipt: &Receipt) -> Result<(), Fault> {
        if receipt.succeeded
            && let Some(address) = reservation.address
        {
            let elsewhere = receipt.contract_address.is_some_and(|said| said != address);
            if elsewhere || self.chain.code(address).await?.is_empty() {
                let message = format!("the node says it succeeded, but there is no contract at {address}");
                return Err(unsure(Fault::new(order.code, message), order, reservation));
            }
        }
        self.record(reservation, end_of(receipt))?;
        if !receipt.succeeded {
            return Err(reverted(order.code, reservation, receipt));
        }
        Ok(())
    }

    fn record(&self, reservation: &Reservation, end: End) -> Result<(), Fault> {
        self.tenant.registry.write(|book| {
            let known = book.send(&reservation.id).is_some_and(|send| send.end.is_some());
            let entry = Entry::Settled { id: reservation.id.clone(), end };
            Ok((if known { vec![] } else { vec![entry] }, ()))
        })
    }
}

fn judge(send: Send, order: &Order, chain: &Chain) -> Result<Standing, Fault> {
    let Send { reservation, end } = send;
    // One that was dropped never happened; its key is free again, for the same thing.
    if reservation.binding != order.binding(chain) {
        let message = format!(
            "the key `{}` was used for something else (contract, arguments, value or sender differ); use another key",
            order.key
        );
        let details = json!({ "tx_hash": reservation.tx_hash, "contract": reservation.contract });
        return Err(Fault::new(Code::DeployIdempotentHit, message).with_details(details));
    }
    match end {
        None => Ok(Standing::Waiting(reservation)),
        Some(End::Dropped { .. }) => Ok(Standing::Free),
        Some(End::Confirmed { receipt }) => Ok(Standing::Done { reservation, receipt }),
        Some(End::Reverted { receipt }) => Err(reverted(order.code, &reservation, &receipt)),
    }
}

fn end_of(receipt: &Receipt) -> End {
    let receipt = receipt.clone();
    if receipt.succeeded { End::Confirmed { receipt } } else { End::Reverted { receipt } }
}

fn reverted(code: Code, reservation: &Reservation, receipt: &Receipt) -> Fault {
    let message = format!(
        "transaction {} was mined in block {} and reverted; nothing happened but the gas is spent. Use a new key",
        reservation.tx_hash, receipt.block_number
    );
    Fault::new(code, message).with_details(json!({ "tx_hash": reservation.tx_hash, "receipt": receipt }))
}

/// A failure after which the transaction may still happen.
fn unsure(fault: Fault, order: &Order, reservation: &Reservation) -> Fault {
    let advice = match order.kind {
        SendKind::Unkeyed => "do not send it again before its receipt is known",
        SendKind::Deploy | SendKind::Call => {
            "call again with the same key to find out; it is never sent twice"
        }
    };
    let hash = reservation.tx_hash;
    let details = json!({ "tx_hash": hash, "nonce": reservation.nonce, "cause": fault.code });
    let mut told =
        Fault::new(order.code, format!("{}. Transaction {hash} may still be mined: {advice}", fault.message));
    told.retry = order.kind != SendKind::Unkeyed;
    told.with_details(details)
}

/// A receipt as it is shown.
pub(super) fn shown_receipt(receipt: &Receipt) -> Value {
    json!({
        "block_number": receipt.block_number,
        "block_hash": receipt.block_hash,
        "gas_used": receipt.gas_used,
        "gas_price_wei": receipt.gas_price.to_string(),
        "cost_wei": receipt.gas_cost().to_string(),
        "succeeded": receipt.succeeded,
    })
}
