//! Blobs: bodies too large for a line, each named by the SHA-256 of its bytes.
//!
//! A blob is durable before [`Blobs::put`] returns, so a commit that names it never names nothing. Until that
//! commit is durable the caller keeps the [`Pin`]: nothing removes a pinned blob.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};

use crate::disk::{Disk, publish, read_all};
use crate::error::{AppendError, ReadError};
use crate::layout::Layout;
use crate::limits::BLOB_BYTES;

/// The address of a blob: `sha256:` and 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId([u8; 32]);

/// The beginning of every address.
pub(crate) const BLOB_PREFIX: &str = "sha256:";

impl BlobId {
    /// The address of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{BLOB_PREFIX}{}", hex::encode(self.0))
    }
}

/// A text is not the address of a blob.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a blob address: expected `sha256:` and 64 lower-case hexadecimal digits")]
pub struct NotABlobId;

impl FromStr for BlobId {
    type Err = NotABlobId;

    fn from_str(text: &str) -> Result<Self, NotABlobId> {
        let digits =
            text.strip_prefix(BLOB_PREFIX).filter(|digits| !digits.bytes().any(|b| b.is_ascii_uppercase()));
        let mut id = [0; 32];
        hex::decode_to_slice(digits.ok_or(NotABlobId)?, &mut id).map_err(|_| NotABlobId)?;
        Ok(Self(id))
    }
}

/// Keeps a blob from being removed.
#[derive(Debug)]
pub struct Pin {
    id: BlobId,
    pins: Arc<Pins>,
}

impl Pin {
    /// The address to name in an event.
    pub fn id(&self) -> BlobId {
        self.id
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        let mut pins = lock(&self.pins);
        if let Some(count) = pins.get_mut(&self.id) {
            *count -= 1;
            if *count == 0 {
                pins.remove(&self.id);
            }
        }
    }
}

type Pins = Mutex<HashMap<BlobId, u64>>;

/// The blobs of one log.
#[derive(Debug)]
pub struct Blobs {
    disk: Arc<dyn Disk>,
    layout: Layout,
    pins: Arc<Pins>,
}

impl Blobs {
    pub(crate) fn new(disk: Arc<dyn Disk>, layout: Layout) -> Self {
        Self { disk, layout, pins: Arc::default() }
    }

    /// Keeps these bytes durably. The same bytes are kept once.
    pub fn put(&self, bytes: &[u8]) -> Result<Pin, AppendError> {
        if bytes.len() as u64 > BLOB_BYTES {
            return Err(AppendError::TooLarge { bytes: bytes.len(), limit: BLOB_BYTES as usize });
        }
        let pin = self.pin(BlobId::of(bytes));
        let present = self.disk.len(&self.path(pin.id)).is_ok_and(|len| len == bytes.len() as u64);
        if !present {
            self.write(pin.id, bytes).map_err(AppendError::io)?;
        }
        Ok(pin)
    }

    /// The bytes of a blob, checked against its address.
    pub fn get(&self, id: BlobId) -> Result<Vec<u8>, ReadError> {
        let path = self.path(id);
        let bytes = read_all(&*self.disk, &path, BLOB_BYTES).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => ReadError::BlobMissing { id: id.to_string() },
            _ => ReadError::io(&path, error),
        })?;
        if BlobId::of(&bytes) != id {
            return Err(ReadError::BlobDamaged { path, found: bytes.len() as u64 });
        }
        Ok(bytes)
    }

    /// Removes blobs that nobody names any more, except pinned ones; tells how many went.
    pub(crate) fn remove(&self, ids: impl IntoIterator<Item = BlobId>) -> io::Result<u64> {
        let mut removed = 0;
        for id in ids {
            // Held while removing, so that a `put` of the same bytes cannot see the file and lose it.
            let pins = lock(&self.pins);
            if pins.contains_key(&id) {
                continue;
            }
            match self.disk.remove(&self.path(id)) {
                Ok(()) => removed += 1,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            drop(pins);
        }
        Ok(removed)
    }

    fn pin(&self, id: BlobId) -> Pin {
        *lock(&self.pins).entry(id).or_default() += 1;
        Pin { id, pins: Arc::clone(&self.pins) }
    }

    fn write(&self, id: BlobId, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(id);
        if let Some(folder) = path.parent() {
            self.disk.make_dir(folder)?;
            self.disk.sync_dir(&self.layout.blobs())?;
        }
        publish(&*self.disk, &self.layout.tmp(), &path, bytes)
    }

    fn path(&self, id: BlobId) -> PathBuf {
        let digits = hex::encode(id.0);
        self.layout.blobs().join(&digits[..2]).join(digits)
    }
}

/// The map is consistent between any two lines, so a panic elsewhere does not spoil it.
fn lock(pins: &Pins) -> MutexGuard<'_, HashMap<BlobId, u64>> {
    pins.lock().unwrap_or_else(PoisonError::into_inner)
}
