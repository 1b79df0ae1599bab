//! The caches that spare a boot the reading of closed segments: one catalog of all, one index for each.
//!
//! Whatever is wrong with a cache, it counts as absent and is made anew. A segment with damage never enters the
//! catalog, so that every boot looks at it again and says so.

use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};

use crate::disk::{Disk, publish, read_all};
use crate::layout::Layout;
use crate::line::{seal, unseal};
use crate::segment::Form;
use crate::segment::index::SegmentIndex;

/// The largest cache file that is believed.
const CACHE_BYTES: u64 = 64 * 1024 * 1024;

/// What the catalog knows of one closed segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) form: Form,
    /// The length of the file.
    pub(crate) bytes: u64,
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// All closed segments that are known to be sound.
pub(crate) type Catalog = BTreeMap<u32, Entry>;

#[derive(Serialize, Deserialize)]
struct IndexFile {
    bytes: u64,
    index: SegmentIndex,
}

pub(crate) fn load_catalog(disk: &dyn Disk, layout: &Layout) -> Catalog {
    read_all(disk, &layout.catalog(), CACHE_BYTES).ok().and_then(|bytes| decode(&bytes)).unwrap_or_default()
}

pub(crate) fn save_catalog(disk: &dyn Disk, layout: &Layout, catalog: &Catalog) -> io::Result<()> {
    publish(disk, &layout.tmp(), &layout.catalog(), &encode(catalog)?)
}

/// The index of a segment whose file has `bytes` bytes, if it was kept.
pub(crate) fn load_index(disk: &dyn Disk, layout: &Layout, segment: u32, bytes: u64) -> Option<SegmentIndex> {
    let file: IndexFile = decode(&read_all(disk, &layout.index(segment), CACHE_BYTES).ok()?)?;
    (file.bytes == bytes).then_some(file.index)
}

pub(crate) fn save_index(
    disk: &dyn Disk,
    layout: &Layout,
    (segment, bytes): (u32, u64),
    index: &SegmentIndex,
) -> io::Result<()> {
    let file = encode(&IndexFile { bytes, index: index.clone() })?;
    publish(disk, &layout.tmp(), &layout.index(segment), &file)
}

/// Forgets what is cached about a segment that is about to change, and the state made from it, durably.
pub(crate) fn forget(disk: &dyn Disk, layout: &Layout, segment: u32) -> io::Result<()> {
    for path in [layout.catalog(), layout.index(segment), layout.snapshot()] {
        match disk.remove(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    disk.sync_dir(&layout.cache())
}

fn encode(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut out = b"{\"cache\":".to_vec();
    serde_json::to_writer(&mut out, value)?;
    seal(&mut out, 0);
    Ok(out)
}

fn decode<T: for<'de> Deserialize<'de>>(file: &[u8]) -> Option<T> {
    let body = unseal(file.strip_suffix(b"\n")?)?;
    serde_json::from_slice(body.strip_prefix(b"{\"cache\":")?).ok()
}
