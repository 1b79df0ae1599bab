//! Opening a log: recover its end, read what no cache speaks for, and replay it.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use super::catalog::{self, Catalog};
use super::ledger::Ledger;
use super::prune;
use super::recent::Recent;
use super::recover::{Ground, Recovered, at, recover};
use super::report::Report;
use super::scan::{Listener, scan};
use super::snapshot::{self, Snapshot};
use super::view::{Active, Closed, View};
use super::{Options, Replay};
use crate::disk::{Disk, LockError, LockGuard, make_dirs};
use crate::error::OpenError;
use crate::layout::Layout;
use crate::line::Line;
use crate::segment::SegmentFile;
use crate::segment::walk::Survey;

/// A log that is ready to be read and written.
pub(crate) struct Booted {
    pub(crate) lock: LockGuard,
    pub(crate) view: View,
    pub(crate) report: Report,
    /// The number the next commit gets.
    pub(crate) next: u64,
    /// The length of the open segment.
    pub(crate) len: u64,
    /// Whether the open segment was begun with an older vocabulary.
    pub(crate) outdated: bool,
}

pub(crate) fn boot(
    disk: &dyn Disk,
    layout: &Layout,
    options: &Options,
    replay: &mut dyn Replay,
) -> Result<Booted, OpenError> {
    let ground = Ground { disk, layout, options };
    let lock = prepare(disk, layout)?;
    let Recovered { closed, active, last, torn } = recover(ground)?;
    prune::finish_at_boot(disk, layout, active, &closed)?;

    let catalog = trusted(disk, layout, &closed);
    let snapshot = restore(ground, last, replay)?;
    let unread = |file: &SegmentFile| catalog.get(&file.number).is_none_or(|entry| entry.last > snapshot);
    let mut files: Vec<_> = closed.iter().copied().filter(unread).collect();
    let report = Report { torn, scanned: files.len(), from_snapshot: snapshot > 0, ..Report::default() };
    files.push(active);

    let mut hearing = Hearing { replay, after: snapshot, surveys: Vec::new() };
    scan(disk, &layout.log(), &files, options.threads, &mut hearing)
        .map_err(|(file, error)| OpenError::io(&ground.path(file), error))?;
    let surveys = hearing.surveys;
    surveys.iter().try_for_each(|(file, survey)| ground.check_version(*file, survey))?;
    assemble(ground, Parts { lock, report, catalog, closed, surveys })
}

/// Makes the folders and takes the lock.
fn prepare(disk: &dyn Disk, layout: &Layout) -> Result<LockGuard, OpenError> {
    make_dirs(disk, layout.root()).map_err(at(layout.root()))?;
    let lock = disk.lock(&layout.lock()).map_err(|error| match error {
        LockError::Held { owner } => OpenError::Locked { path: layout.lock(), owner },
        LockError::Io(error) => OpenError::io(&layout.lock(), error),
    })?;
    for dir in [layout.log(), layout.blobs(), layout.cache(), layout.quarantine(), layout.tmp()] {
        make_dirs(disk, &dir).map_err(at(&dir))?;
    }
    disk.sync_dir(layout.root()).map_err(at(layout.root()))?;
    clear_drafts(disk, layout).map_err(at(&layout.tmp()))?;
    Ok(lock)
}

/// Removes what was on its way to its name when the last owner stopped. What a prune needs to finish stays.
fn clear_drafts(disk: &dyn Disk, layout: &Layout) -> io::Result<()> {
    let tmp = layout.tmp();
    let keep = |name: &str| tmp.join(name) == layout.sweep() || layout.pruned_segment(name).is_some();
    disk.list(&tmp)?.iter().filter(|name| !keep(name)).try_for_each(|name| disk.remove(&tmp.join(name)))
}

/// What the catalog says of segments that are still as long as it says.
fn trusted(disk: &dyn Disk, layout: &Layout, closed: &[SegmentFile]) -> Catalog {
    let known = catalog::load_catalog(disk, layout);
    let same = |file: &SegmentFile| {
        let entry = known.get(&file.number).filter(|entry| entry.form == file.form)?;
        let bytes = disk.len(&file.path(&layout.log())).ok()?;
        (bytes == entry.bytes).then_some((file.number, *entry))
    };
    closed.iter().filter_map(same).collect()
}

/// Hands the snapshot to the owner; gives the last commit that need not be replayed. A snapshot that is ahead of the
/// log is of a log that has lost its end; it goes before the numbers it speaks of are given out again.
fn restore(ground: Ground<'_>, last: u64, replay: &mut dyn Replay) -> Result<u64, OpenError> {
    match snapshot::load(ground.disk, ground.layout, ground.options.vocabulary) {
        Some(Snapshot { seq, .. }) if seq > last => {
            snapshot::remove(ground.disk, ground.layout).map_err(at(&ground.layout.snapshot()))?;
            Ok(0)
        }
        Some(Snapshot { seq, state }) if replay.restore(&state) => Ok(seq),
        Some(_) | None => Ok(0),
    }
}

/// Passes commits on to the owner, each once, and keeps the surveys.
struct Hearing<'a> {
    replay: &'a mut dyn Replay,
    after: u64,
    surveys: Vec<(SegmentFile, Survey)>,
}

impl Listener for Hearing<'_> {
    fn filter(&self) -> fn(&str) -> bool {
        self.replay.filter()
    }

    fn line(&mut self, line: &Line<'_>) {
        if line.seq > self.after {
            self.after = line.seq;
            self.replay.commit(line);
        }
    }

    fn end(&mut self, file: SegmentFile, survey: Survey) {
        self.surveys.push((file, survey));
    }
}

struct Parts {
    lock: LockGuard,
    report: Report,
    catalog: Catalog,
    closed: Vec<SegmentFile>,
    surveys: Vec<(SegmentFile, Survey)>,
}

/// Puts together what was found and what the catalog knew.
fn assemble(ground: Ground<'_>, parts: Parts) -> Result<Booted, OpenError> {
    let Parts { lock, mut report, catalog, closed, surveys } = parts;
    let length = |file| ground.disk.len(&ground.path(file)).map_err(at(&ground.path(file)));
    let mut ledger = Ledger::new(ground.layout, &mut report);
    let mut surveys = surveys.into_iter().peekable();
    let mut segments = BTreeMap::new();
    for file in closed {
        let segment = match surveys.next_if(|(surveyed, _)| *surveyed == file) {
            Some((_, survey)) => {
                let damage = ledger.survey(file, &survey);
                Closed::new(file, length(file)?, survey.seqs).with_damage(damage).with_index(survey.index)
            }
            None => {
                let entry = catalog.get(&file.number).copied();
                let seqs = entry.map(|entry| (entry.first, entry.last));
                ledger.commits(file, seqs);
                Closed::new(file, entry.map_or(0, |entry| entry.bytes), seqs)
            }
        };
        segments.insert(file.number, Arc::new(segment));
    }
    let Some((file, survey)) = surveys.next() else {
        return Err(OpenError::io(&ground.layout.log(), io::Error::other("the open segment was not read")));
    };
    let damage = ledger.survey(file, &survey);
    let next = ledger.next();
    let outdated = survey.header.is_some_and(|header| header.vocabulary < ground.options.vocabulary);
    let active = Active { file, seqs: survey.seqs, damage, index: survey.index };
    let view = View { closed: segments, active, recent: Recent::default() };
    Ok(Booted { lock, view, report, next, len: length(file)?, outdated })
}
