//! Removing what the user deleted.
//!
//! The segments concerned are rewritten without the events; the commits stay, empty, so that the numbers keep
//! their order. The rewritten files are prepared first. Then a commit with one `log_pruned` event for each of them
//! says which hash was replaced by which, and why: with it the removal is decided and the hash chain holds on.
//! Only then do the new files take the place of the old ones; a boot finishes what a crash interrupted.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::view::{Closed, survey_file};
use super::{Log, Shared, catalog};
use crate::blobs::{BLOB_PREFIX, BlobId};
use crate::disk::Disk;
use crate::error::{AppendError, OpenError};
use crate::layout::Layout;
use crate::limits::REASON_BYTES;
use crate::line::{Draft, Line, Place, write_line};
use crate::segment::chunk::Chunks;
use crate::segment::pack::{Packer, hash_of};
use crate::segment::{Form, SegmentFile};

/// What is to be removed.
#[derive(Debug, Clone, Copy)]
pub struct Prune<'a> {
    /// Whose events.
    pub task: &'a str,
    /// Up to and including this commit.
    pub through: u64,
    /// Which types of events; others of the task stay.
    pub types: &'a [&'a str],
    /// The reason, for the record.
    pub why: &'a str,
    /// The present moment, in milliseconds since the epoch.
    pub at: u64,
}

/// What was removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pruned {
    /// How many events.
    pub events: u64,
    /// The segments that were rewritten.
    pub segments: Vec<u32>,
    /// How many blobs that nothing names any more.
    pub blobs: u64,
}

/// Why nothing, or not everything, was removed.
#[derive(Debug, thiserror::Error)]
pub enum PruneError {
    /// The request makes no sense.
    #[error("cannot prune: {0}")]
    Invalid(&'static str),
    /// The removal could not be recorded, so nothing was removed.
    #[error("the removal was not recorded, and nothing was removed: {0}")]
    Record(#[from] AppendError),
    /// The disk refused. If the removal was recorded already, the next opening of the log finishes it.
    #[error("pruning was interrupted: {0}")]
    Io(#[from] io::Error),
}

/// The event that stands for the removal.
#[derive(Serialize, Deserialize)]
pub(crate) struct Record {
    task: String,
    #[serde(rename = "type")]
    kind: String,
    pub(crate) segment: u32,
    pub(crate) was: String,
    pub(crate) now: String,
    why: String,
    events: u64,
}

const RECORD: &str = "log_pruned";

/// A rewritten segment that waits to take its place.
struct Prepared {
    number: u32,
    was: String,
    now: String,
    events: u64,
}

impl Log {
    /// Removes the wanted events for good. Appending waits meanwhile, reading does not.
    pub fn prune(&self, prune: &Prune<'_>) -> Result<Pruned, PruneError> {
        if prune.why.is_empty() || prune.why.len() > REASON_BYTES {
            return Err(PruneError::Invalid("the reason must have 1 to 1024 bytes"));
        }
        if prune.types.contains(&RECORD) {
            return Err(PruneError::Invalid("the record of a removal cannot be removed"));
        }
        let shared = &*self.shared;
        let _alone = shared.rewriting.lock().unwrap_or_else(PoisonError::into_inner);
        let prune = &Prune { through: prune.through.min(*shared.head.borrow()), ..*prune };
        shared.close_if_concerned(prune)?;
        shared.pack_closed()?;
        let (prepared, named) = shared.prepare(prune)?;
        if prepared.is_empty() {
            return Ok(Pruned::default());
        }
        self.append(shared.record(prune, &prepared)?)?;
        for segment in &prepared {
            shared.replace(segment.number)?;
        }
        shared.save_catalog()?;
        let blobs = shared.blobs.remove(shared.unnamed(named)?)?;
        let segments = prepared.iter().map(|segment| segment.number).collect();
        Ok(Pruned { events: prepared.iter().map(|segment| segment.events).sum(), segments, blobs })
    }
}

impl Shared {
    /// The open segment is never rewritten: if it speaks of the task, it is closed first.
    fn close_if_concerned(&self, prune: &Prune<'_>) -> io::Result<()> {
        let mut tail = self.lock_tail();
        let concerned = {
            let view = self.view();
            let begun = view.active.seqs.is_some_and(|(first, _)| first <= prune.through);
            begun && !view.active.index.of_task(prune.task, 0).is_empty()
        };
        if concerned { self.rotate(&mut tail) } else { Ok(()) }
    }

    /// Writes the new form of every segment that has something to remove, beside the old one.
    fn prepare(&self, prune: &Prune<'_>) -> io::Result<(Vec<Prepared>, BTreeSet<BlobId>)> {
        let segments: Vec<Arc<Closed>> = self.view().closed.values().cloned().collect();
        let (mut prepared, mut named) = (Vec::new(), BTreeSet::new());
        for segment in segments {
            // One that is still plain was closed just now, after everything that is to go.
            let packed = segment.file.form == Form::Packed;
            let begun = segment.seqs.is_some_and(|(first, _)| first <= prune.through);
            if !packed
                || !begun
                || segment.index(&*self.disk, &self.layout)?.of_task(prune.task, 0).is_empty()
            {
                continue;
            }
            let number = segment.file.number;
            let path = segment.file.path(&self.layout.log());
            let draft = self.layout.tmp().join("pruning");
            let (events, now) = rewrite(&*self.disk, (&path, &draft), prune, &mut named)?;
            if events == 0 {
                self.disk.remove(&draft)?;
                continue;
            }
            self.disk.rename(&draft, &self.layout.pruned(number))?;
            let was = hash_of(&*self.disk, &path, Form::Packed)?;
            prepared.push(Prepared { number, was, now, events });
        }
        self.disk.sync_dir(&self.layout.tmp())?;
        Ok((prepared, named))
    }

    fn record(&self, prune: &Prune<'_>, prepared: &[Prepared]) -> Result<Draft, PruneError> {
        let mut draft = Draft::new(prune.at);
        for Prepared { number, was, now, events } in prepared {
            let record = Record {
                task: prune.task.into(),
                kind: RECORD.into(),
                segment: *number,
                was: was.clone(),
                now: now.clone(),
                why: prune.why.into(),
                events: *events,
            };
            draft.push(&serde_json::to_string(&record).map_err(io::Error::from)?)?;
        }
        Ok(draft)
    }

    /// Puts a prepared segment in the place of the old one. What is cached about that goes first.
    fn replace(&self, number: u32) -> io::Result<()> {
        let draft = self.layout.pruned(number);
        let bytes = self.disk.len(&draft)?;
        let found = survey_file(&*self.disk, &draft, Form::Packed)?;
        let segment =
            Closed::new(SegmentFile::packed(number), bytes, found.seqs).with_damage(!found.is_sound());
        catalog::forget(&*self.disk, &self.layout, number)?;
        self.put_in_place(&draft, segment.with_index(found.index))
    }

    /// Which of these blobs no line of the log names any more.
    fn unnamed(&self, mut blobs: BTreeSet<BlobId>) -> io::Result<BTreeSet<BlobId>> {
        let mut files: Vec<SegmentFile> = self.view().closed.values().map(|segment| segment.file).collect();
        files.push(self.view().active.file);
        let mut text = Vec::new();
        for file in files {
            let mut chunks = Chunks::open(&*self.disk, &file.path(&self.layout.log()), file.form)?;
            while !blobs.is_empty() && chunks.next(&mut text)?.is_some() {
                named_in(&text, |id| {
                    blobs.remove(&id);
                });
            }
        }
        Ok(blobs)
    }
}

/// Copies a packed segment without the unwanted events; gives how many there were and the new hash. The blobs they
/// named are added to `named`.
fn rewrite(
    disk: &dyn Disk,
    (from, to): (&std::path::Path, &std::path::Path),
    prune: &Prune<'_>,
    named: &mut BTreeSet<BlobId>,
) -> io::Result<(u64, String)> {
    let mut chunks = Chunks::open(disk, from, Form::Packed)?;
    let mut packer = Packer::create(disk, to)?;
    let (mut text, mut out, mut events) = (Vec::new(), Vec::new(), 0);
    while let Some(span) = chunks.next(&mut text)? {
        if !span.sound {
            let reason = format!("{} is damaged at byte {}", from.display(), span.start);
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        out.clear();
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let sound = line.strip_suffix(b"\n").and_then(Line::read);
            match sound
                .filter(|line| line.seq <= prune.through && line.tasks().any(|task| task == prune.task))
            {
                Some(sound) => events += thin(&sound, prune, named, &mut out)?,
                None => out.extend_from_slice(line),
            }
        }
        packer.add(&out)?;
    }
    Ok((events, packer.finish()?.1))
}

/// Writes a commit without its unwanted events; gives how many there were.
fn thin(
    line: &Line<'_>,
    prune: &Prune<'_>,
    named: &mut BTreeSet<BlobId>,
    out: &mut Vec<u8>,
) -> io::Result<u64> {
    #[derive(Deserialize)]
    struct Head<'a> {
        #[serde(borrow)]
        task: &'a str,
        #[serde(borrow, rename = "type", default)]
        kind: Option<std::borrow::Cow<'a, str>>,
    }
    let events: Vec<&RawValue> = serde_json::from_str(line.events)?;
    let (mut kept, mut tasks, mut removed) = (Vec::new(), Vec::new(), 0);
    for event in events {
        let head: Head<'_> = serde_json::from_str(event.get())?;
        let unwanted = head.task == prune.task && head.kind.is_some_and(|kind| prune.types.contains(&&*kind));
        if unwanted {
            removed += 1;
            named_in(event.get().as_bytes(), |id| {
                named.insert(id);
            });
        } else {
            if !tasks.contains(&head.task) {
                tasks.push(head.task);
            }
            kept.push(event.get());
        }
    }
    write_line(Place { seq: line.seq, durable: line.durable, at: line.at }, &tasks, &kept.join(","), out);
    Ok(removed)
}

/// Calls `found` for every address of a blob in a text.
fn named_in(text: &[u8], mut found: impl FnMut(BlobId)) {
    for start in memchr::memmem::find_iter(text, BLOB_PREFIX.as_bytes()) {
        let address =
            text.get(start..start + BLOB_PREFIX.len() + 64).and_then(|bytes| std::str::from_utf8(bytes).ok());
        if let Some(id) = address.and_then(|address| address.parse().ok()) {
            found(id);
        }
    }
}

/// At boot: puts prepared segments in place whose removal was recorded, and drops the others.
pub(crate) fn finish(
    disk: &dyn Disk,
    layout: &Layout,
    active: SegmentFile,
    closed: &[SegmentFile],
) -> Result<(), OpenError> {
    let failed = |error| OpenError::io(&layout.tmp(), error);
    let names = disk.list(&layout.tmp()).map_err(failed)?;
    let prepared: Vec<SegmentFile> = closed
        .iter()
        .copied()
        .filter(|file| names.iter().any(|name| layout.pruned(file.number).ends_with(name)))
        .collect();
    if prepared.is_empty() {
        return Ok(());
    }
    let mut recorded = Vec::new();
    for file in closed.iter().chain([&active]) {
        recorded.extend(records(disk, layout, *file).map_err(failed)?);
    }
    for file in prepared {
        let draft = layout.pruned(file.number);
        let now = hash_of(disk, &draft, Form::Packed).map_err(failed)?;
        if recorded.iter().any(|record| record.segment == file.number && record.now == now) {
            catalog::forget(disk, layout, file.number).map_err(failed)?;
            disk.rename(&draft, &file.path(&layout.log())).map_err(failed)?;
            disk.sync_dir(&layout.log()).map_err(failed)?;
        } else {
            disk.remove(&draft).map_err(failed)?;
        }
    }
    Ok(())
}

/// The records of removals in one segment.
pub(crate) fn records(disk: &dyn Disk, layout: &Layout, file: SegmentFile) -> io::Result<Vec<Record>> {
    let mut chunks = Chunks::open(disk, &file.path(&layout.log()), file.form)?;
    let (mut text, mut records) = (Vec::new(), Vec::new());
    let mark = format!("\"type\":\"{RECORD}\"");
    while chunks.next(&mut text)?.is_some() {
        if memchr::memmem::find(&text, mark.as_bytes()).is_none() {
            continue;
        }
        for line in text.split(|byte| *byte == b'\n').filter_map(Line::read) {
            let events: Vec<&RawValue> = serde_json::from_str(line.events).unwrap_or_default();
            let found = events.iter().filter_map(|event| serde_json::from_str::<Record>(event.get()).ok());
            records.extend(found.filter(|record| record.kind == RECORD));
        }
    }
    Ok(records)
}
