//! A snapshot: the owner's folded state at one commit, kept so that a boot need not fold the whole log.

use std::io;

use serde::{Deserialize, Serialize};

use crate::disk::{Disk, publish, read_all};
use crate::layout::Layout;
use crate::limits::SNAPSHOT_BYTES;
use crate::line::{seal, unseal};
use crate::segment::header::FORMAT;

#[derive(Serialize, Deserialize, PartialEq, Eq)]
struct Label {
    snapshot: u32,
    vocabulary: u32,
    seq: u64,
    bytes: u64,
    checksum: u32,
}

/// A folded state and the last commit in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pub(crate) seq: u64,
    pub(crate) state: Vec<u8>,
}

pub(crate) fn save(disk: &dyn Disk, layout: &Layout, vocabulary: u32, snapshot: &Snapshot) -> io::Result<()> {
    let bytes = snapshot.state.len() as u64;
    if bytes > SNAPSHOT_BYTES {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("a snapshot of {bytes} bytes, limit {SNAPSHOT_BYTES}"),
        ));
    }
    let checksum = crc32fast::hash(&snapshot.state);
    let label = Label { snapshot: FORMAT, vocabulary, seq: snapshot.seq, bytes, checksum };
    let mut out = serde_json::to_vec(&label)?;
    out.pop();
    seal(&mut out, 0);
    out.extend_from_slice(&snapshot.state);
    publish(disk, &layout.tmp(), &layout.snapshot(), &out)
}

/// The snapshot, if there is one and it is whole; anything else counts as none.
pub(crate) fn load(disk: &dyn Disk, layout: &Layout, vocabulary: u32) -> Option<Snapshot> {
    let mut file = read_all(disk, &layout.snapshot(), SNAPSHOT_BYTES + 1024).ok()?;
    let end = memchr::memchr(b'\n', &file)?;
    let mut label = unseal(&file[..end])?.to_vec();
    label.push(b'}');
    let label: Label = serde_json::from_slice(&label).ok()?;
    let state = file.split_off(end + 1);
    let ours = label.snapshot == FORMAT && label.vocabulary == vocabulary;
    let whole = label.bytes == state.len() as u64 && label.checksum == crc32fast::hash(&state);
    (ours && whole).then_some(Snapshot { seq: label.seq, state })
}

/// Removes the snapshot for good.
pub(crate) fn remove(disk: &dyn Disk, layout: &Layout) -> io::Result<()> {
    disk.remove(&layout.snapshot())?;
    disk.sync_dir(&layout.cache())
}
