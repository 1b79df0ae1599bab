//! Removing blobs that nothing names any more.
//!
//! The candidates are written down before the removal of the events that named them is decided, and crossed out last:
//! a search that was interrupted is made again, and searching once too often removes nothing that is named.

use std::collections::BTreeSet;
use std::io;

use super::Shared;
use crate::blobs::{BLOB_PREFIX, BlobId};
use crate::disk::{publish, read_all};
use crate::limits::SNAPSHOT_BYTES;
use crate::segment::SegmentFile;
use crate::segment::chunk::Chunks;

impl Shared {
    /// Writes down which blobs to look for.
    pub(super) fn plan_sweep(&self, mut blobs: BTreeSet<BlobId>) -> io::Result<()> {
        blobs.extend(self.planned()?);
        if blobs.is_empty() {
            return Ok(());
        }
        let list: String = blobs.iter().map(|id| format!("{id}\n")).collect();
        publish(&*self.disk, &self.layout.tmp(), &self.layout.sweep(), list.as_bytes())
    }

    /// Removes what was written down and is not named; tells how many went.
    pub(crate) fn finish_sweep(&self) -> io::Result<u64> {
        let blobs = self.planned()?;
        if blobs.is_empty() {
            return Ok(0);
        }
        self.blobs.begin_search();
        let removed = self.blobs.remove(self.unnamed(blobs)?)?;
        self.disk.remove(&self.layout.sweep())?;
        Ok(removed)
    }

    fn planned(&self) -> io::Result<BTreeSet<BlobId>> {
        match read_all(&*self.disk, &self.layout.sweep(), SNAPSHOT_BYTES) {
            Ok(list) => Ok(String::from_utf8_lossy(&list).lines().filter_map(|id| id.parse().ok()).collect()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeSet::new()),
            Err(error) => Err(error),
        }
    }

    /// Which of these no line of the log names. Where a part of the log cannot be read, it may name all of them.
    fn unnamed(&self, mut blobs: BTreeSet<BlobId>) -> io::Result<BTreeSet<BlobId>> {
        let files: Vec<SegmentFile> = {
            let view = self.view();
            view.closed.values().map(|segment| segment.file).chain([view.active.file]).collect()
        };
        let mut text = Vec::new();
        for file in files {
            let mut chunks = Chunks::open(&*self.disk, &file.path(&self.layout.log()), file.form)?;
            while !blobs.is_empty()
                && let Some(span) = chunks.next(&mut text)?
            {
                if !span.sound {
                    return Ok(BTreeSet::new());
                }
                named_in(&text, |id| {
                    blobs.remove(&id);
                });
            }
        }
        Ok(blobs)
    }
}

/// Calls `found` for every address of a blob in a text.
pub(super) fn named_in(text: &[u8], mut found: impl FnMut(BlobId)) {
    for start in memchr::memmem::find_iter(text, BLOB_PREFIX.as_bytes()) {
        let address =
            text.get(start..start + BLOB_PREFIX.len() + 64).and_then(|bytes| std::str::from_utf8(bytes).ok());
        if let Some(id) = address.and_then(|address| address.parse().ok()) {
            found(id);
        }
    }
}
