//! What the log says of its own removals.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::disk::Disk;
use crate::layout::Layout;
use crate::line::{Line, PRUNE_RECORD};
use crate::segment::SegmentFile;
use crate::segment::chunk::Chunks;

/// The event that stands for the removal of events from one segment.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) task: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) segment: u32,
    /// The hash of the segment's text before.
    pub(crate) was: String,
    /// The hash of its text after.
    pub(crate) now: String,
    pub(crate) why: String,
    /// How many events were removed.
    pub(crate) events: u64,
}

/// The records in one segment.
pub(crate) fn records(disk: &dyn Disk, layout: &Layout, file: SegmentFile) -> io::Result<Vec<Record>> {
    let mut chunks = Chunks::open(disk, &file.path(&layout.log()), file.form)?;
    let (mut text, mut found) = (Vec::new(), Vec::new());
    while chunks.next(&mut text)?.is_some() {
        records_in(&text, &mut found);
    }
    Ok(found)
}

/// The records in a piece of a segment's text.
pub(crate) fn records_in(text: &[u8], found: &mut Vec<Record>) {
    let mark = format!("\"type\":\"{PRUNE_RECORD}\"");
    if memchr::memmem::find(text, mark.as_bytes()).is_none() {
        return;
    }
    for line in text.split(|byte| *byte == b'\n').filter_map(Line::read) {
        let events: Vec<&RawValue> = serde_json::from_str(line.events).unwrap_or_default();
        let records = events.iter().filter_map(|event| serde_json::from_str::<Record>(event.get()).ok());
        found.extend(records.filter(|record| record.kind == PRUNE_RECORD));
    }
}
