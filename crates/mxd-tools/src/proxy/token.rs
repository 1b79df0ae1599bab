//! The secret that tells our clients from other users of this machine.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{HeaderMap, PROXY_AUTHORIZATION};
use subtle::ConstantTimeEq as _;

use super::error::ProxyError;

const USER: &str = "mxd";

/// A random token, in the two forms in which it travels.
pub(super) struct Token {
    /// `user:token`, for a URL.
    plain: String,
    /// The same as Basic credentials.
    encoded: String,
}

impl Token {
    pub(super) fn random() -> Result<Self, ProxyError> {
        let mut bytes = [0; 24];
        getrandom::fill(&mut bytes).map_err(|error| ProxyError::Random(error.to_string()))?;
        let plain = format!("{USER}:{}", hex::encode(bytes));
        let encoded = STANDARD.encode(&plain);
        Ok(Self { plain, encoded })
    }

    /// The user and password of a URL.
    pub(super) fn credentials(&self) -> &str {
        &self.plain
    }

    /// Whether a request shows this token, and only this one.
    pub(super) fn is_in(&self, headers: &HeaderMap) -> bool {
        let mut values = headers.get_all(PROXY_AUTHORIZATION).iter();
        let (Some(value), None) = (values.next(), values.next()) else { return false };
        let Some((scheme, given)) = value.as_bytes().split_at_checked(6) else { return false };
        scheme.eq_ignore_ascii_case(b"basic ") && bool::from(given.ct_eq(self.encoded.as_bytes()))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}
