//! Keys on disk: one encrypted file each, in the format wallets use, readable by nobody else.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use alloy_primitives::Address;
use k256::elliptic_curve::rand_core::OsRng;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};

use super::signer::Key;
use crate::engine::is_name;
use crate::journal::private_folder;

/// Shorter passwords are guessed.
const PASSWORD_CHARS: usize = 8;
/// The largest file that is taken for a key.
const FILE_BYTES: u64 = 64 << 10;

/// A key that is kept.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) name: String,
    /// What the file says it is; only the password proves it.
    pub(crate) address: String,
    pub(crate) path: PathBuf,
}

/// Why a key was not kept, or none can be listed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VaultError {
    #[error("`{0}` cannot name a key; use small letters, digits, `-` and `_`")]
    Name(String),
    #[error("a password needs at least {PASSWORD_CHARS} characters")]
    Password,
    #[error("there is a key `{0}` already, and it is not overwritten; choose another name")]
    Taken(String),
    #[error("the key could not be encrypted: {0}")]
    Encryption(String),
    #[error("{0}: {1}")]
    Io(PathBuf, io::Error),
}

/// Encrypts a key and keeps it under a name that has none yet.
pub(crate) fn keep(
    folder: &Path,
    name: &str,
    key: &Key,
    password: &SecretString,
) -> Result<Kept, VaultError> {
    if !is_name(name) {
        return Err(VaultError::Name(name.to_owned()));
    }
    if password.expose_secret().chars().count() < PASSWORD_CHARS {
        return Err(VaultError::Password);
    }
    let path = folder.join(format!("{name}.json"));
    let io = |error| VaultError::Io(path.clone(), error);
    private_folder(folder).map_err(io)?;
    let text = encrypted(folder, key, password)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(io)?;
    file.write_all(&text).and_then(|()| file.as_file().sync_all()).map_err(io)?;
    let kept = file.persist_noclobber(&path);
    kept.map_err(|error| match error.error.kind() {
        io::ErrorKind::AlreadyExists => VaultError::Taken(name.to_owned()),
        _ => io(error.error),
    })?;
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(io)?;
    Ok(Kept { name: name.to_owned(), address: key.address().to_checksum(None), path })
}

/// The text of the file, with the address in it as wallets write it.
fn encrypted(folder: &Path, key: &Key, password: &SecretString) -> Result<Vec<u8>, VaultError> {
    let failed = |error: &dyn std::fmt::Display| VaultError::Encryption(error.to_string());
    // The library writes a file that others could read, so it writes into a folder they cannot enter.
    let room = tempfile::tempdir_in(folder).map_err(|error| failed(&error))?;
    let secret = key.secret_bytes();
    eth_keystore::encrypt_key(room.path(), &mut OsRng, secret, password.expose_secret(), Some("key"))
        .map_err(|error| failed(&error))?;
    let text = std::fs::read(room.path().join("key")).map_err(|error| failed(&error))?;
    let mut json: Value = serde_json::from_slice(&text).map_err(|error| failed(&error))?;
    json["address"] = json!(hex::encode(key.address()));
    Ok(json.to_string().into_bytes())
}

/// All keys of a folder, by name.
pub(crate) fn list(folder: &Path) -> Result<Vec<Kept>, VaultError> {
    #[derive(Deserialize)]
    struct Head {
        address: String,
    }
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        Err(error) => return Err(VaultError::Io(folder.to_owned(), error)),
    };
    let mut found = Vec::new();
    for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let fits = path.extension().is_some_and(|extension| extension == "json") && is_name(&name);
        if !fits || std::fs::metadata(&path).is_ok_and(|about| about.len() > FILE_BYTES) {
            continue;
        }
        let text = std::fs::read(&path).map_err(|error| VaultError::Io(path.clone(), error))?;
        let head: Option<Head> = serde_json::from_slice(&text).ok();
        let address = head.and_then(|head| head.address.parse::<Address>().ok());
        let address = address.map_or_else(|| "unknown".into(), |address| address.to_checksum(None));
        found.push(Kept { name, address, path });
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}
