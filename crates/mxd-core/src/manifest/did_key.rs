//! Who signs: an Ed25519 key, spelt `did:key:z6Mk…`.

use std::fmt;
use std::str::FromStr;

use ed25519_dalek::VerifyingKey;

use super::base58;
use super::fault::Fault;
use crate::tool::Quoted;
use crate::tool::spelling::text_serde;

const PREFIX: &str = "did:key:z";
/// The multicodec of an Ed25519 public key, as a varint.
const CODEC: [u8; 2] = [0xed, 0x01];
/// The spelling of 34 bytes is 48 digits long; nothing longer needs to be looked at.
const MAX_CHARS: usize = 64;

/// An Ed25519 key by its public half.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DidKey([u8; 32]);

impl DidKey {
    pub(super) fn of(key: &VerifyingKey) -> Self {
        Self(key.to_bytes())
    }

    /// The key, unless it is one for which anybody can sign.
    pub(super) fn key(&self) -> Option<VerifyingKey> {
        VerifyingKey::from_bytes(&self.0).ok().filter(|key| !key.is_weak())
    }
}

impl FromStr for DidKey {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let key = text.strip_prefix(PREFIX).filter(|spelling| spelling.len() <= MAX_CHARS);
        let bytes = key.and_then(base58::decode).unwrap_or_default();
        let key = bytes.strip_prefix(&CODEC).and_then(|key| key.try_into().ok()).map(Self);
        key.filter(|key| key.key().is_some()).ok_or_else(|| Fault::Signer { given: Quoted::of(text) })
    }
}

impl fmt::Display for DidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", base58::encode(&[&CODEC[..], &self.0].concat()))
    }
}

impl fmt::Debug for DidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DidKey({self})")
    }
}

text_serde!(DidKey);
