//! Tokens: random, kept as hashes, compared in constant time.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// The hash of a token.
#[derive(Clone, Copy)]
pub(super) struct Hashed([u8; 32]);

impl Hashed {
    pub(super) fn of(token: &str) -> Self {
        Self(Sha256::digest(token).into())
    }

    pub(super) fn matches(&self, other: &Self) -> bool {
        bool::from(self.0.ct_eq(&other.0))
    }

    pub(super) fn to_hex(self) -> String {
        hex::encode(self.0)
    }

    pub(super) fn from_hex(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).ok()?;
        Some(Self(bytes))
    }
}

impl fmt::Debug for Hashed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hash]")
    }
}

/// What every token begins with, so that it is known by its looks wherever it turns up.
const PREFIX: &str = "mxd_";

/// The shape of a token, as a regular expression.
pub(crate) const TOKEN_SHAPE: &str = "mxd_[A-Za-z0-9_-]{43}";

/// A new token that nobody can guess.
pub(crate) fn fresh() -> Result<String, getrandom::Error> {
    let mut random = [0; 32];
    getrandom::fill(&mut random)?;
    Ok(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(random)))
}
