//! Secrets by reference: environment variables, files and encrypted keystores, never values in a configuration.

use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use super::signer::Key;

/// Where a secret is: `$env:NAME` or `file:PATH`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum SecretRef {
    Variable(String),
    File(PathBuf),
}

impl TryFrom<String> for SecretRef {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if let Some(name) = text.strip_prefix("$env:").filter(|name| !name.is_empty()) {
            return Ok(Self::Variable(name.into()));
        }
        if let Some(path) = text.strip_prefix("file:").filter(|path| !path.is_empty()) {
            return Ok(Self::File(path.into()));
        }
        // The text may be the secret itself, so it is not repeated.
        Err("a secret must be a reference, `$env:NAME` or `file:PATH`, not the secret itself".into())
    }
}

/// Why a secret or a key is not there. It never repeats the secret.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyError {
    #[error("the variable {0} is not set")]
    Unset(String),
    #[error("{path}: {error}")]
    File { path: PathBuf, error: std::io::Error },
    #[error("what {0} holds is not a private key of 64 hexadecimal digits")]
    NoKey(String),
    #[error("the keystore {0} cannot be opened; is the password right?")]
    Keystore(PathBuf),
}

impl SecretRef {
    pub(crate) fn reveal(&self) -> Result<SecretString, KeyError> {
        match self {
            Self::Variable(name) => {
                std::env::var(name).map(SecretString::from).map_err(|_| KeyError::Unset(name.clone()))
            }
            Self::File(path) => {
                let text = std::fs::read_to_string(path)
                    .map_err(|error| KeyError::File { path: path.clone(), error })?;
                Ok(SecretString::from(text.trim_end_matches(['\r', '\n']).to_owned()))
            }
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Variable(name) => format!("the variable {name}"),
            Self::File(path) => path.display().to_string(),
        }
    }
}

/// An account that can sign on chains that policies name.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AccountConfig {
    pub(crate) name: String,
    pub(crate) key: KeyRef,
}

/// Where a private key is.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum KeyRef {
    /// The key itself, in hexadecimal, behind a reference.
    Plain(SecretRef),
    /// An encrypted file as wallets write it.
    Keystore { keystore: PathBuf, password: SecretRef },
}

impl KeyRef {
    pub(crate) fn load(&self) -> Result<Key, KeyError> {
        match self {
            Self::Plain(place) => {
                let text = place.reveal()?;
                let text = text.expose_secret();
                let mut bytes = [0; 32];
                let digits = text.strip_prefix("0x").unwrap_or(text);
                let read = hex::decode_to_slice(digits, &mut bytes).ok();
                read.and_then(|()| Key::from_bytes(&bytes)).ok_or_else(|| KeyError::NoKey(place.shown()))
            }
            Self::Keystore { keystore, password } => open_keystore(keystore, &password.reveal()?),
        }
    }
}

fn open_keystore(path: &Path, password: &SecretString) -> Result<Key, KeyError> {
    let bytes = eth_keystore::decrypt_key(path, password.expose_secret());
    let bytes: Option<[u8; 32]> = bytes.ok().and_then(|bytes| bytes.try_into().ok());
    bytes.and_then(|bytes| Key::from_bytes(&bytes)).ok_or_else(|| KeyError::Keystore(path.to_owned()))
}
