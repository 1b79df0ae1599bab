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
                key_from_text(&place.reveal()?).ok_or_else(|| KeyError::NoKey(place.shown()))
            }
            Self::Keystore { keystore, password } => open_keystore(keystore, &password.reveal()?),
        }
    }
}

/// A key in hexadecimal, with or without `0x`.
pub(crate) fn key_from_text(text: &SecretString) -> Option<Key> {
    let text = text.expose_secret().trim();
    let mut bytes = [0; 32];
    hex::decode_to_slice(text.strip_prefix("0x").unwrap_or(text), &mut bytes).ok()?;
    Key::from_bytes(&bytes)
}

fn open_keystore(path: &Path, password: &SecretString) -> Result<Key, KeyError> {
    let bytes = eth_keystore::decrypt_key(path, password.expose_secret());
    let bytes: Option<[u8; 32]> = bytes.ok().and_then(|bytes| bytes.try_into().ok());
    bytes.and_then(|bytes| Key::from_bytes(&bytes)).ok_or_else(|| KeyError::Keystore(path.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// The example of the format's own specification.
    const KEYSTORE: &str = r#"{"crypto":{"cipher":"aes-128-ctr","cipherparams":{"iv":"6087dab2f9fdbbfaddc31a909735c1e6"},
        "ciphertext":"5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46","kdf":"pbkdf2","kdfparams":{"c":262144,
        "dklen":32,"prf":"hmac-sha256","salt":"ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd"},
        "mac":"517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2"},
        "id":"3198bc9c-6672-5ab3-d995-4942343ae5b6","version":3}"#;

    #[test]
    fn an_encrypted_key_opens_with_its_password_only() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
            path
        };
        let keystore = file("key.json", KEYSTORE);
        let open = |password: &str| {
            let password = SecretRef::File(file("password", password));
            KeyRef::Keystore { keystore: keystore.clone(), password }.load()
        };
        let key = open("testpassword\n").unwrap();
        let plain = file("plain", "7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d");
        assert_eq!(key.address(), KeyRef::Plain(SecretRef::File(plain)).load().unwrap().address());
        let told = open("wrong-password").unwrap_err().to_string();
        assert!(!told.contains("wrong-password"), "{told}");
        assert!(!format!("{key:?}").contains("7a28b5ba"));
    }
}
