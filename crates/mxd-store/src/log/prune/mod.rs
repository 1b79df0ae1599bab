//! Removing what the user deleted.
//!
//! The segments concerned are rewritten without the events; the commits stay, empty, so that the numbers keep
//! their order. The rewritten files are prepared first. Then a commit with one `log_pruned` event for each of them
//! says which hash was replaced by which, and why: with it the removal is decided and the hash chain holds on.
//! Only then do the new files take the place of the old ones, and blobs that nothing names any more are removed. What
//! a crash or an error interrupts is finished by the next prune or at the next boot.

mod record;
mod rewrite;
mod sweep;

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, PoisonError};

use record::records;
pub(crate) use record::{Record, records_in};

use super::view::{Closed, survey_file};
use super::{Log, Shared, catalog};
use crate::blobs::BlobId;
use crate::disk::Disk;
use crate::error::{AppendError, OpenError};
use crate::layout::Layout;
use crate::limits::REASON_BYTES;
use crate::line::{Draft, Line, PRUNE_RECORD};
use crate::segment::pack::hash_of;
use crate::segment::{Form, SegmentFile};
use rewrite::rewrite;

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

/// A rewritten segment that waits to take its place.
struct Prepared {
    number: u32,
    was: String,
    now: String,
    events: u64,
}

impl Log {
    /// Removes the wanted events for good. Others read and append meanwhile.
    pub fn prune(&self, prune: &Prune<'_>) -> Result<Pruned, PruneError> {
        if prune.why.is_empty() || prune.why.len() > REASON_BYTES {
            return Err(PruneError::Invalid("the reason must have 1 to 1024 bytes"));
        }
        if prune.types.contains(&PRUNE_RECORD) {
            return Err(PruneError::Invalid("the record of a removal cannot be removed"));
        }
        let shared = &*self.shared;
        let _alone = shared.rewriting.lock().unwrap_or_else(PoisonError::into_inner);
        shared.finish_recorded()?;
        let prune = &Prune { through: prune.through.min(*shared.head.borrow()), ..*prune };
        shared.close_if_concerned(prune)?;
        shared.pack_closed()?;
        let (prepared, named) = shared.prepare(prune)?;
        if prepared.is_empty() {
            shared.finish_sweep()?;
            return Ok(Pruned::default());
        }
        shared.plan_sweep(named)?;
        self.append(record_of(prune, &prepared)?)?;
        for segment in &prepared {
            shared.replace(segment.number)?;
        }
        shared.save_catalog()?;
        let blobs = shared.finish_sweep()?;
        let segments = prepared.iter().map(|segment| segment.number).collect();
        Ok(Pruned { events: prepared.iter().map(|segment| segment.events).sum(), segments, blobs })
    }
}

impl Shared {
    /// The open segment is never rewritten: if it has something to remove, it is closed first.
    fn close_if_concerned(&self, prune: &Prune<'_>) -> io::Result<()> {
        let mut tail = self.lock_tail();
        let (path, extents) = {
            let active = &self.view().active;
            let begun = active.seqs.is_some_and(|(first, _)| first <= prune.through);
            let extents = if begun { active.index.of_task(prune.task, 0) } else { Vec::new() };
            (active.file.path(&self.layout.log()), extents)
        };
        let file = self.disk.open(&path)?;
        for extent in extents {
            let mut text = vec![0; usize::try_from(extent.block.bytes).map_err(io::Error::other)?];
            file.read_at(extent.block.start, &mut text)?;
            let mut lines = text.split(|byte| *byte == b'\n').filter_map(Line::read);
            if lines.any(|line| rewrite::concerns(prune, &line)) {
                return self.rotate(&mut tail);
            }
        }
        Ok(())
    }

    /// Writes the new form of every segment that has something to remove, beside the old one.
    fn prepare(&self, prune: &Prune<'_>) -> io::Result<(Vec<Prepared>, BTreeSet<BlobId>)> {
        let segments: Vec<Arc<Closed>> = self.view().closed.values().cloned().collect();
        let (mut prepared, mut named) = (Vec::new(), BTreeSet::new());
        for segment in segments {
            // One that is still plain was closed just now, after everything that is to go.
            let packed = segment.file.form == Form::Packed;
            let begun = segment.seqs.is_some_and(|(first, _)| first <= prune.through);
            let speaks = || {
                Ok::<_, io::Error>(
                    !segment.index(&*self.disk, &self.layout)?.of_task(prune.task, 0).is_empty(),
                )
            };
            if packed && begun && speaks()? {
                prepared.extend(self.prepare_one(segment.file, prune, &mut named)?);
            }
        }
        self.disk.sync_dir(&self.layout.tmp())?;
        Ok((prepared, named))
    }

    fn prepare_one(
        &self,
        file: SegmentFile,
        prune: &Prune<'_>,
        named: &mut BTreeSet<BlobId>,
    ) -> io::Result<Option<Prepared>> {
        let path = file.path(&self.layout.log());
        let draft = self.layout.tmp().join("pruning");
        let (events, now) = rewrite(&*self.disk, (&path, &draft), prune, named)?;
        if events == 0 {
            self.disk.remove(&draft)?;
            return Ok(None);
        }
        self.remove_plain(file.number)?;
        self.disk.rename(&draft, &self.layout.pruned(file.number))?;
        let was = hash_of(&*self.disk, &path, Form::Packed)?;
        Ok(Some(Prepared { number: file.number, was, now, events }))
    }

    /// A plain form that an interrupted packing left behind would bring back at the next boot what is removed now.
    fn remove_plain(&self, number: u32) -> io::Result<()> {
        remove_if_there(&*self.disk, &self.layout, SegmentFile::plain(number))
    }

    /// Puts a prepared segment in the place of the old one. What is cached about that goes first.
    fn replace(&self, number: u32) -> io::Result<()> {
        let draft = self.layout.pruned(number);
        let bytes = self.disk.len(&draft)?;
        let found = survey_file(&*self.disk, &draft, Form::Packed)?;
        let damage = self.view().closed.get(&number).map(|old| old.damage.clone()).unwrap_or_default();
        let segment = Closed::new(SegmentFile::packed(number), bytes, found.seqs).with_damage(damage);
        catalog::forget(&*self.disk, &self.layout, number)?;
        self.view_mut().recent.forget();
        self.put_in_place(&draft, segment.with_index(found.index))
    }

    /// Finishes removals that were recorded but interrupted by an error.
    fn finish_recorded(&self) -> io::Result<()> {
        let files: Vec<SegmentFile> = {
            let view = self.view();
            view.closed.values().map(|segment| segment.file).chain([view.active.file]).collect()
        };
        for number in recorded(&*self.disk, &self.layout, &files)? {
            self.remove_plain(number)?;
            self.replace(number)?;
        }
        Ok(())
    }
}

/// At boot: puts prepared segments in place whose removal was recorded, and drops the others.
pub(crate) fn finish_at_boot(
    disk: &dyn Disk,
    layout: &Layout,
    active: SegmentFile,
    closed: &[SegmentFile],
) -> Result<(), OpenError> {
    let finish = || {
        let files: Vec<SegmentFile> = closed.iter().copied().chain([active]).collect();
        for number in recorded(disk, layout, &files)? {
            catalog::forget(disk, layout, number)?;
            remove_if_there(disk, layout, SegmentFile::plain(number))?;
            disk.rename(&layout.pruned(number), &SegmentFile::packed(number).path(&layout.log()))?;
            disk.sync_dir(&layout.log())?;
        }
        Ok(())
    };
    finish().map_err(|error| OpenError::io(&layout.tmp(), error))
}

/// The segments whose prepared form waits and is recorded. Other prepared forms are put away: their removal was never
/// decided.
fn recorded(disk: &dyn Disk, layout: &Layout, files: &[SegmentFile]) -> io::Result<Vec<u32>> {
    let names = disk.list(&layout.tmp())?;
    let waiting: Vec<u32> = names.iter().filter_map(|name| layout.pruned_segment(name)).collect();
    if waiting.is_empty() {
        return Ok(waiting);
    }
    let mut found: Vec<Record> = Vec::new();
    for file in files {
        found.extend(records(disk, layout, *file)?);
    }
    let mut decided = Vec::new();
    for number in waiting {
        let draft = layout.pruned(number);
        // One that cannot be read was never synced, so it was never recorded either.
        let now = hash_of(disk, &draft, Form::Packed).ok();
        if found.iter().any(|record| record.segment == number && Some(&record.now) == now.as_ref()) {
            decided.push(number);
        } else {
            disk.remove(&draft)?;
        }
    }
    Ok(decided)
}

fn remove_if_there(disk: &dyn Disk, layout: &Layout, file: SegmentFile) -> io::Result<()> {
    match disk.remove(&file.path(&layout.log())) {
        Ok(()) => disk.sync_dir(&layout.log()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn record_of(prune: &Prune<'_>, prepared: &[Prepared]) -> Result<Draft, PruneError> {
    let mut draft = Draft::new(prune.at);
    for Prepared { number, was, now, events } in prepared {
        let record = Record {
            task: prune.task.into(),
            kind: PRUNE_RECORD.into(),
            segment: *number,
            was: was.clone(),
            now: now.clone(),
            why: prune.why.into(),
            events: *events,
        };
        draft.push_own(&serde_json::to_string(&record).map_err(io::Error::from)?)?;
    }
    Ok(draft)
}
