//! Keys, and transactions signed with them.

use std::fmt;

use alloy_consensus::{SignableTransaction as _, TxEip1559, TxEnvelope, TxLegacy};
use alloy_eips::eip2718::Encodable2718 as _;
use alloy_primitives::{Address, B256, Bytes, Signature, TxKind, U256};
use k256::ecdsa::SigningKey;
use k256::elliptic_curve::rand_core::OsRng;

use crate::chain::Fees;

/// A private key. It shows itself to nobody and is wiped when it is dropped.
#[derive(Clone)]
pub(crate) struct Key {
    secret: SigningKey,
    address: Address,
}

impl fmt::Debug for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Key({})", self.address)
    }
}

/// Everything a transaction says, before it is signed.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) chain_id: u64,
    pub(crate) nonce: u64,
    pub(crate) gas: u64,
    pub(crate) fees: Fees,
    pub(crate) to: Option<Address>,
    pub(crate) value: U256,
    pub(crate) data: Bytes,
}

impl Draft {
    /// The most this can cost: value and all the gas at the highest price.
    pub(crate) fn worst_cost(&self) -> U256 {
        let gas = U256::from(self.gas).saturating_mul(U256::from(self.fees.ceiling()));
        self.value.saturating_add(gas)
    }
}

/// A transaction ready to be sent.
#[derive(Debug, Clone)]
pub(crate) struct SignedDraft {
    pub(crate) hash: B256,
    pub(crate) raw: Bytes,
}

impl Key {
    /// A key from its bytes, unless they are none.
    pub(crate) fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        let secret = SigningKey::from_slice(bytes).ok()?;
        let address = Address::from_public_key(secret.verifying_key());
        Some(Self { secret, address })
    }

    /// A key that nobody knows.
    pub(crate) fn random() -> Self {
        let secret = SigningKey::random(&mut OsRng);
        let address = Address::from_public_key(secret.verifying_key());
        Self { secret, address }
    }

    /// The key itself, to be encrypted and for nothing else.
    pub(super) fn secret_bytes(&self) -> [u8; 32] {
        self.secret.to_bytes().into()
    }

    pub(crate) fn address(&self) -> Address {
        self.address
    }

    /// Signs a hash.
    pub(crate) fn sign_hash(&self, hash: &B256) -> Result<Signature, SignError> {
        let (signature, parity) =
            self.secret.sign_prehash_recoverable(hash.as_slice()).map_err(|_| SignError)?;
        Ok(Signature::from_bytes_and_parity(&signature.to_bytes(), parity.is_y_odd()))
    }

    /// Signs a transaction.
    pub(crate) fn sign(&self, draft: &Draft) -> Result<SignedDraft, SignError> {
        let to = draft.to.map_or(TxKind::Create, TxKind::Call);
        let (value, input) = (draft.value, draft.data.clone());
        let envelope: TxEnvelope = match draft.fees {
            Fees::Market { most, tip } => {
                let transaction = TxEip1559 {
                    chain_id: draft.chain_id,
                    nonce: draft.nonce,
                    gas_limit: draft.gas,
                    max_fee_per_gas: most,
                    max_priority_fee_per_gas: tip,
                    to,
                    value,
                    access_list: Default::default(),
                    input,
                };
                let signature = self.sign_hash(&transaction.signature_hash())?;
                transaction.into_signed(signature).into()
            }
            Fees::Fixed { price } => {
                let transaction = TxLegacy {
                    chain_id: Some(draft.chain_id),
                    nonce: draft.nonce,
                    gas_price: price,
                    gas_limit: draft.gas,
                    to,
                    value,
                    input,
                };
                let signature = self.sign_hash(&transaction.signature_hash())?;
                transaction.into_signed(signature).into()
            }
        };
        Ok(SignedDraft { hash: *envelope.tx_hash(), raw: envelope.encoded_2718().into() })
    }
}

/// The curve refused; it does so with a chance of one in 2¹²⁸.
#[derive(Debug, thiserror::Error)]
#[error("the key could not sign; try again")]
pub(crate) struct SignError;
