//! Blobs: bodies too large for a line, each named by the SHA-256 of its bytes.
//!
//! A blob is durable before [`Blobs::put`] returns, so a commit that names it never names nothing. Until that
//! commit is durable the caller keeps the [`Pin`]: nothing removes a pinned blob.

use std::collections::{HashMap, HashSet};
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
        let mut held = lock(&self.pins);
        if let Some(count) = held.counts.get_mut(&self.id) {
            *count -= 1;
            if *count == 0 {
                held.counts.remove(&self.id);
            }
        }
    }
}

type Pins = Mutex<Held>;

/// Which blobs somebody holds.
#[derive(Debug, Default)]
struct Held {
    counts: HashMap<BlobId, u64>,
    /// While unnamed blobs are looked for: all that were held at any time since the search began. A commit that
    /// names them may have come after the place was searched.
    since: Option<HashSet<BlobId>>,
}

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
        let present = self.get(pin.id).is_ok();
        let kept = if present { self.settle(pin.id) } else { self.write(pin.id, bytes) };
        kept.map_err(AppendError::io)?;
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

    /// Begins a search for blobs that nobody names any more.
    pub(crate) fn begin_search(&self) {
        let mut held = lock(&self.pins);
        held.since = Some(held.counts.keys().copied().collect());
    }

    /// Ends the search: removes what it found, except what was held meanwhile; tells how many went.
    pub(crate) fn remove(&self, found: impl IntoIterator<Item = BlobId>) -> io::Result<u64> {
        let mut removed = 0;
        for id in found {
            // Held while removing, so that a `put` of the same bytes cannot see the file and lose it.
            let held = lock(&self.pins);
            if held.since.as_ref().is_none_or(|since| since.contains(&id)) {
                continue;
            }
            let path = self.path(id);
            match self.disk.remove(&path) {
                Ok(()) => removed += 1,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            }
            if let Some(folder) = path.parent() {
                self.disk.sync_dir(folder)?;
            }
        }
        lock(&self.pins).since = None;
        Ok(removed)
    }

    fn pin(&self, id: BlobId) -> Pin {
        let mut held = lock(&self.pins);
        *held.counts.entry(id).or_default() += 1;
        if let Some(since) = &mut held.since {
            since.insert(id);
        }
        Pin { id, pins: Arc::clone(&self.pins) }
    }

    /// Whoever wrote the file may have been stopped before its name was durable.
    fn settle(&self, id: BlobId) -> io::Result<()> {
        self.disk.sync_dir(&self.layout.blobs())?;
        self.path(id).parent().map_or(Ok(()), |folder| self.disk.sync_dir(folder))
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

/// It is consistent between any two lines, so a panic elsewhere does not spoil it.
fn lock(pins: &Pins) -> MutexGuard<'_, Held> {
    pins.lock().unwrap_or_else(PoisonError::into_inner)
}
