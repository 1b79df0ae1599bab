//! Every transaction that was ever meant to be sent: reserved before it leaves, settled when its end is known.

use alloy_primitives::{Address, B256, Bytes, U256};
use serde::{Deserialize, Serialize};

use crate::chain::Receipt;

/// Which transaction of a tenant it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct SendId {
    pub(crate) kind: SendKind,
    /// What the chain is, whatever it is called: see [`crate::chain::profile::Profile::identity`].
    pub(crate) chain: String,
    pub(crate) key: String,
}

/// What a transaction is for. Keys of one kind say nothing about keys of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SendKind {
    Deploy,
    Call,
    /// A call without a key: its hash is its key.
    Unkeyed,
}

/// A transaction, signed and bound to its key, before anyone else has seen it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reservation {
    pub(crate) id: SendId,
    /// The hash of everything the caller asked for; the same key with another one is an error.
    pub(crate) binding: B256,
    pub(crate) sender: Address,
    pub(crate) nonce: u64,
    pub(crate) tx_hash: B256,
    pub(crate) raw: Bytes,
    pub(crate) value: U256,
    /// The most it can cost, gas included.
    pub(crate) worst_cost: U256,
    /// Where a deployment will be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) address: Option<Address>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) contract: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) artifact_id: String,
    /// The policy that allowed it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) policy: String,
    pub(crate) at: u64,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub(crate) enum End {
    Confirmed {
        receipt: Receipt,
    },
    Reverted {
        receipt: Receipt,
    },
    /// Another transaction took its nonce; it can never be mined.
    Dropped {
        why: String,
    },
}

/// A reservation and what is known of its end.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Send {
    pub(crate) reservation: Reservation,
    pub(crate) end: Option<End>,
}

impl Send {
    /// What it cost, or can still cost.
    pub(crate) fn cost(&self) -> U256 {
        match &self.end {
            None => self.reservation.worst_cost,
            Some(End::Confirmed { receipt }) => self.reservation.value.saturating_add(receipt.gas_cost()),
            Some(End::Reverted { receipt }) => receipt.gas_cost(),
            Some(End::Dropped { .. }) => U256::ZERO,
        }
    }
}
