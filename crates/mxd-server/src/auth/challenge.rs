//! The log-in of a browser: a challenge that only the owner of a key can answer, and only after the user let the
//! command line speak for it.
//!
//! The browser makes a key pair and asks for a challenge. The user gives its public key to `mxd auth`, which is known by
//! its own token; it gets the answer, encrypted with that key, and prints it. The browser decrypts it and shows it. A
//! challenge is answered once or not at all. The server only ever encrypts.

use std::fmt;

use aws_lc_rs::rsa::{OAEP_SHA256_MGF1SHA256, OaepPublicEncryptingKey, PublicEncryptingKey};
use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use mxd_core::time::Millis;
use subtle::ConstantTimeEq as _;

use super::{token, too_many};
use crate::fault::{Answer, Fault};

/// How long a challenge waits.
const WAIT_MS: u64 = 300_000;
/// Challenges that wait at the same time.
const MOST: usize = 64;
/// Bytes of a public key.
const MOST_KEY_BYTES: usize = 2_048;
/// Bits of a key that is strong enough.
const LEAST_BITS: usize = 2_048;
/// Characters of a label.
const MOST_LABEL: usize = 100;

/// The public key of a browser, as SPKI.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct PublicKey(Vec<u8>);

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({} bytes)", self.0.len())
    }
}

impl PublicKey {
    /// Reads a key from base64.
    pub(crate) fn parse(text: &str) -> Answer<Self> {
        let bytes = STANDARD.decode(text.trim()).or_else(|_| URL_SAFE_NO_PAD.decode(text.trim()));
        let bytes = bytes.map_err(|_| Fault::unfit("publicKey: it is no base64"))?;
        if bytes.len() > MOST_KEY_BYTES {
            return Err(Fault::unfit("publicKey: it is too long"));
        }
        let key = Self(bytes);
        let bits = key.encrypting()?.key_size_bits();
        if bits < LEAST_BITS {
            return Err(Fault::unfit(format!("publicKey: {bits} bits, and {LEAST_BITS} are needed")));
        }
        Ok(key)
    }

    fn encrypting(&self) -> Answer<OaepPublicEncryptingKey> {
        let key = PublicEncryptingKey::from_der(&self.0).ok();
        let key = key.and_then(|key| OaepPublicEncryptingKey::new(key).ok());
        key.ok_or_else(|| Fault::unfit("publicKey: it is no RSA key in the form SPKI"))
    }

    fn encrypt(&self, text: &str) -> Answer<String> {
        let key = self.encrypting()?;
        let mut room = vec![0; key.ciphertext_size()];
        let sealed = key.encrypt(&OAEP_SHA256_MGF1SHA256, text.as_bytes(), &mut room, None);
        let sealed = sealed.map_err(|_| Fault::internal("the answer could not be encrypted"))?;
        Ok(STANDARD.encode(sealed))
    }
}

/// A log-in that has begun.
#[derive(Debug)]
pub(crate) struct Challenged {
    pub(crate) id: String,
    pub(crate) expires: Millis,
    /// What the user has to call.
    pub(crate) command: String,
}

#[derive(Default)]
pub(super) struct Challenges(Vec<Challenge>);

struct Challenge {
    id: String,
    key: PublicKey,
    secret: String,
    expires: Millis,
    /// Whether the command line spoke for it, and what it called it.
    granted: Option<Option<String>>,
}

impl Challenges {
    pub(super) fn begin(&mut self, key: PublicKey, now: Millis) -> Answer<Challenged> {
        self.0.retain(|known| known.expires > now && known.key != key);
        if self.0.len() >= MOST {
            return Err(too_many("log-ins"));
        }
        let (id, secret) = (token::fresh()?, token::fresh()?);
        let expires = Millis(now.0 + WAIT_MS);
        let command = format!("mxd auth {}", STANDARD.encode(&key.0));
        self.0.push(Challenge { id: id.clone(), key, secret, expires, granted: None });
        Ok(Challenged { id, expires, command })
    }

    pub(super) fn grant(&mut self, key: &PublicKey, label: Option<String>, now: Millis) -> Answer<String> {
        let waiting = self.0.iter_mut().find(|known| known.key == *key && known.expires > now);
        let Some(waiting) = waiting else {
            return Err(Fault::not_found("no_challenge", "no browser waits with this key")
                .hint("Load the page again and copy the command it shows now."));
        };
        let answer = waiting.key.encrypt(&waiting.secret)?;
        waiting.granted = Some(label.map(|label| label.chars().take(MOST_LABEL).collect()));
        Ok(answer)
    }

    /// Takes a challenge out, whatever the answer is; the label of the session, when it is right.
    pub(super) fn settle(&mut self, id: &str, answer: &str, now: Millis) -> Answer<Option<String>> {
        let wrong = || {
            Fault::new(StatusCode::UNAUTHORIZED, "wrong_answer", "the answer is wrong, too late, or was used")
                .hint("Load the page again and begin anew.")
        };
        let place = self.0.iter().position(|known| bool::from(known.id.as_bytes().ct_eq(id.as_bytes())));
        let challenge = self.0.remove(place.ok_or_else(wrong)?);
        let right = bool::from(challenge.secret.as_bytes().ct_eq(answer.as_bytes()));
        match challenge.granted {
            Some(label) if right && challenge.expires > now => Ok(label),
            Some(_) | None => Err(wrong()),
        }
    }
}
