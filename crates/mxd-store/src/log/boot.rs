//! Opening a log: find the segments, cut a torn end, read what no cache speaks for, and replay it.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::catalog::{self, Catalog};
use super::prune;
use super::report::{Damage, Report, Torn};
use super::scan::{Listener, scan};
use super::snapshot::{self, Snapshot};
use super::view::{Active, Closed, View, survey};
use super::{Options, Replay};
use crate::disk::{Disk, LockError, LockGuard, publish};
use crate::error::OpenError;
use crate::layout::Layout;
use crate::limits::DAMAGES_LISTED;
use crate::line::Line;
use crate::segment::header::{FORMAT, Header};
use crate::segment::pack::hash_of;
use crate::segment::walk::{Hole, Survey};
use crate::segment::{Form, SegmentFile};

/// A log that is ready to be read and written.
pub(crate) struct Booted {
    pub(crate) lock: LockGuard,
    pub(crate) view: View,
    pub(crate) report: Report,
    /// The number the next commit gets.
    pub(crate) next: u64,
    /// The length of the open segment.
    pub(crate) len: u64,
}

pub(crate) fn boot(
    disk: &dyn Disk,
    layout: &Layout,
    options: &Options,
    replay: &mut dyn Replay,
) -> Result<Booted, OpenError> {
    let lock = prepare(disk, layout)?;
    let mut report = Report::default();
    let (closed, active) = segments(disk, layout, options)?;
    recover_end(disk, layout, options, (&closed, active), &mut report)?;
    prune::finish(disk, layout, active, &closed)?;

    let catalog = trusted(disk, layout, &closed);
    let last = survey(disk, layout, active)
        .map_err(|error| OpenError::io(&layout.log(), error))?
        .next()
        .unwrap_or(1)
        - 1;
    let snapshot = restore(disk, layout, options, (last, replay));
    report.from_snapshot = snapshot > 0;
    let mut files: Vec<_> = closed
        .iter()
        .copied()
        .filter(|file| catalog.get(&file.number).is_none_or(|entry| entry.last > snapshot))
        .collect();
    report.scanned = files.len();
    files.push(active);

    let mut hearing = Hearing { replay, after: snapshot, surveys: Vec::new() };
    scan(disk, &layout.log(), &files, options.threads, &mut hearing)
        .map_err(|(file, error)| OpenError::io(&file.path(&layout.log()), error))?;
    let surveys = hearing.surveys;
    check_versions(layout, options, &surveys)?;
    assemble(disk, layout, Parts { lock, report, catalog, closed, surveys })
}

/// Makes the folders and takes the lock.
fn prepare(disk: &dyn Disk, layout: &Layout) -> Result<LockGuard, OpenError> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |error| OpenError::io(&path, error)
    };
    disk.make_dir(layout.root()).map_err(at(layout.root()))?;
    let lock = disk.lock(&layout.lock()).map_err(|error| match error {
        LockError::Held { owner } => OpenError::Locked { path: layout.lock(), owner },
        LockError::Io(error) => OpenError::io(&layout.lock(), error),
    })?;
    for dir in [layout.log(), layout.blobs(), layout.cache(), layout.quarantine(), layout.tmp()] {
        disk.make_dir(&dir).map_err(at(&dir))?;
    }
    disk.sync_dir(layout.root()).map_err(at(layout.root()))?;
    if let Some(parent) = layout.root().parent().filter(|parent| !parent.as_os_str().is_empty()) {
        disk.sync_dir(parent).map_err(at(parent))?;
    }
    Ok(lock)
}

/// The closed segments in order, and the open one, which is made if there is none.
fn segments(
    disk: &dyn Disk,
    layout: &Layout,
    options: &Options,
) -> Result<(Vec<SegmentFile>, SegmentFile), OpenError> {
    let log = layout.log();
    let mut files: Vec<SegmentFile> = Vec::new();
    for name in disk.list(&log).map_err(|error| OpenError::io(&log, error))? {
        let file =
            SegmentFile::parse(&name).ok_or_else(|| OpenError::ForeignFile { path: log.join(&name) })?;
        // Both forms of a segment: its packing was interrupted before the plain one was removed, which is whole.
        match files.last() {
            Some(last) if last.number == file.number => {}
            _ => files.push(file),
        }
    }
    files.sort_by_key(|file| file.number);
    if let Some(missing) =
        (1..).zip(&files).find(|(number, file)| *number != file.number).map(|(number, _)| number)
    {
        return Err(OpenError::MissingSegment { dir: log, missing });
    }
    match files.last().copied() {
        Some(active) if active.form == Form::Plain => {
            files.pop();
            Ok((files, active))
        }
        last => {
            let active = SegmentFile::plain(last.map_or(1, |file| file.number + 1));
            begin(disk, layout, options, (last, active))?;
            Ok((files, active))
        }
    }
}

/// Makes a segment that follows `last`.
fn begin(
    disk: &dyn Disk,
    layout: &Layout,
    options: &Options,
    (last, new): (Option<SegmentFile>, SegmentFile),
) -> Result<(), OpenError> {
    let path = new.path(&layout.log());
    following(disk, layout, options, (last, new))
        .and_then(|header| publish(disk, &layout.tmp(), &path, &header.line()))
        .map_err(|error| OpenError::io(&path, error))
}

/// The header of a segment that follows `last`.
fn following(
    disk: &dyn Disk,
    layout: &Layout,
    options: &Options,
    (last, new): (Option<SegmentFile>, SegmentFile),
) -> io::Result<Header> {
    let (first, previous) = match last {
        None => (1, None),
        Some(last) => {
            let before = survey(disk, layout, last)?;
            (before.next().unwrap_or(1), Some(hash_of(disk, &last.path(&layout.log()), last.form)?))
        }
    };
    Ok(Header { format: FORMAT, vocabulary: options.vocabulary, segment: new.number, first, previous })
}

/// A segment that was begun while the disk failed may never have been used: the one before it went on growing,
/// and the header made for that moment no longer fits.
fn renew_unused(
    disk: &dyn Disk,
    layout: &Layout,
    options: &Options,
    (last, active, found): (Option<SegmentFile>, SegmentFile, &Survey),
) -> Result<(), OpenError> {
    if found.header.is_none() && found.seqs.is_none() {
        return begin(disk, layout, options, (last, active)); // The file is empty.
    }
    let (Some(last), Some(header), None) = (last, &found.header, found.seqs) else {
        return Ok(());
    };
    if last.form == Form::Packed {
        return Ok(()); // Packed only after this segment had taken over.
    }
    let path = active.path(&layout.log());
    let fitting = following(disk, layout, options, (Some(last), active))
        .map_err(|error| OpenError::io(&path, error))?;
    if fitting.first == header.first && fitting.previous == header.previous {
        return Ok(());
    }
    publish(disk, &layout.tmp(), &path, &fitting.line()).map_err(|error| OpenError::io(&path, error))
}

/// Cuts off what a crash left unfinished at the end of the open segment, keeping the bytes.
fn recover_end(
    disk: &dyn Disk,
    layout: &Layout,
    options: &Options,
    (closed, active): (&[SegmentFile], SegmentFile),
    report: &mut Report,
) -> Result<(), OpenError> {
    let path = active.path(&layout.log());
    let failed = |error| OpenError::io(&path, error);
    let found = survey(disk, layout, active).map_err(failed)?;
    check_version(layout, options, active, &found)?;
    let torn = found.holes.iter().find(|hole| hole.swallows_beyond(found.durable)).map(|hole| hole.start);
    let Some(offset) = torn.or(found.tail.map(|(start, _)| start)) else {
        return renew_unused(disk, layout, options, (closed.last().copied(), active, &found));
    };
    let (bytes, kept) = set_apart(disk, layout, active, offset).map_err(failed)?;
    report.torn = Some(Torn { path: path.clone(), offset, bytes, kept });
    if offset == 0 {
        return begin(disk, layout, options, (closed.last().copied(), active));
    }
    let cut = || {
        let file = disk.open_for_writing(&path)?;
        file.set_len(offset)?;
        file.sync()
    };
    cut().map_err(failed)
}

/// Copies the end of a segment into the quarantine, under a name that is free.
fn set_apart(
    disk: &dyn Disk,
    layout: &Layout,
    file: SegmentFile,
    offset: u64,
) -> io::Result<(u64, std::path::PathBuf)> {
    let source = disk.open(&file.path(&layout.log()))?;
    let mut bytes = vec![0; usize::try_from(source.len()?.saturating_sub(offset)).map_err(io::Error::other)?];
    let got = source.read_at(offset, &mut bytes)?;
    bytes.truncate(got);
    let taken = disk.list(&layout.quarantine())?;
    let name = (1u64..)
        .map(|count| format!("{:06}-{offset}-{count}.torn", file.number))
        .find(|name| taken.binary_search(name).is_err())
        .unwrap_or_default();
    let kept = layout.quarantine().join(name);
    publish(disk, &layout.tmp(), &kept, &bytes)?;
    Ok((got as u64, kept))
}

/// What the catalog says of segments that are still as long as it says.
fn trusted(disk: &dyn Disk, layout: &Layout, closed: &[SegmentFile]) -> Catalog {
    let mut catalog = catalog::load_catalog(disk, layout);
    catalog.retain(|number, entry| {
        let file = SegmentFile { number: *number, form: entry.form };
        closed.contains(&file) && disk.len(&file.path(&layout.log())).is_ok_and(|bytes| bytes == entry.bytes)
    });
    catalog
}

/// Hands the snapshot to the owner, unless it is ahead of the log, which can then only be an older copy; gives the
/// last commit that need not be replayed.
fn restore(
    disk: &dyn Disk,
    layout: &Layout,
    options: &Options,
    (last, replay): (u64, &mut dyn Replay),
) -> u64 {
    match snapshot::load(disk, layout, options.vocabulary) {
        Some(Snapshot { seq, state }) if seq <= last && replay.restore(&state) => seq,
        Some(_) | None => 0,
    }
}

fn check_versions(
    layout: &Layout,
    options: &Options,
    surveys: &[(SegmentFile, Survey)],
) -> Result<(), OpenError> {
    surveys.iter().try_for_each(|(file, survey)| check_version(layout, options, *file, survey))
}

fn check_version(
    layout: &Layout,
    options: &Options,
    file: SegmentFile,
    survey: &Survey,
) -> Result<(), OpenError> {
    let Some(header) = &survey.header else {
        return Ok(());
    };
    let newer = |what, found, supported| OpenError::NewerVersion {
        path: file.path(&layout.log()),
        what,
        found,
        supported,
    };
    if header.format > FORMAT {
        return Err(newer("log format", header.format, FORMAT));
    }
    if header.vocabulary > options.vocabulary {
        return Err(newer("vocabulary", header.vocabulary, options.vocabulary));
    }
    Ok(())
}

/// Passes commits on to the owner, each once, and keeps the surveys.
struct Hearing<'a> {
    replay: &'a mut dyn Replay,
    after: u64,
    surveys: Vec<(SegmentFile, Survey)>,
}

impl Listener for Hearing<'_> {
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
fn assemble(disk: &dyn Disk, layout: &Layout, parts: Parts) -> Result<Booted, OpenError> {
    let Parts { lock, mut report, catalog, closed, surveys } = parts;
    let mut ledger = Ledger { layout, report: &mut report, next: 1, open: None };
    let mut surveys = surveys.into_iter().peekable();
    let mut segments = std::collections::BTreeMap::new();
    for file in closed {
        let segment = match surveys.next_if(|(surveyed, _)| *surveyed == file) {
            Some((_, survey)) => {
                let path = file.path(&layout.log());
                let bytes = disk.len(&path).map_err(|error| OpenError::io(&path, error))?;
                let holed = ledger.survey(file, &survey);
                Closed::new(file, bytes, survey.seqs).with_damage(holed).with_index(survey.index)
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
        return Err(OpenError::io(&layout.log(), io::Error::other("the open segment was not read")));
    };
    let holed = ledger.survey(file, &survey);
    let next = ledger.next;
    let path = file.path(&layout.log());
    let len = disk.len(&path).map_err(|error| OpenError::io(&path, error))?;
    let active = Active { file, seqs: survey.seqs, holed, index: survey.index };
    Ok(Booted { lock, view: View { closed: segments, active }, report, next, len })
}

/// Goes through the segments in order and notes which commits are missing where.
struct Ledger<'a> {
    layout: &'a Layout,
    report: &'a mut Report,
    next: u64,
    /// Damage at the end of a segment; what it cost shows with the next one.
    open: Option<(SegmentFile, u64, u64)>,
}

impl Ledger<'_> {
    /// Notes a segment that was read; tells whether it is damaged.
    fn survey(&mut self, file: SegmentFile, survey: &Survey) -> bool {
        let begin = survey.header.as_ref().map(|header| header.first).or(survey.seqs.map(|(first, _)| first));
        // Without its header, a segment's first hole tells from where on commits are missing.
        let headless = survey.header.is_none() && !survey.holes.is_empty();
        self.arrive(file, begin.filter(|_| !headless));
        for Hole { start, bytes, from, to } in &survey.holes {
            self.damage(file, (*start, *bytes), (from.unwrap_or(self.next), *to));
        }
        self.next = survey.next().unwrap_or(self.next).max(self.next);
        self.open = survey.tail.map(|(start, bytes)| (file, start, bytes));
        !survey.is_sound()
    }

    /// Notes a segment that the catalog speaks for.
    fn commits(&mut self, file: SegmentFile, seqs: Option<(u64, u64)>) {
        self.arrive(file, seqs.map(|(first, _)| first));
        self.next = seqs.map_or(self.next, |(_, last)| last + 1);
    }

    /// The next segment begins with `first`: whatever lies between it and what we had is lost.
    fn arrive(&mut self, file: SegmentFile, first: Option<u64>) {
        let first = first.unwrap_or(self.next);
        match self.open.take() {
            Some((damaged, start, bytes)) => self.damage(damaged, (start, bytes), (self.next, first)),
            None if first > self.next => self.damage(file, (0, 0), (self.next, first)),
            None => {}
        }
        self.next = first.max(self.next);
    }

    fn damage(&mut self, file: SegmentFile, (offset, bytes): (u64, u64), (from, to): (u64, u64)) {
        if self.report.damages.len() >= DAMAGES_LISTED {
            self.report.damages_unlisted += 1;
            return;
        }
        let lost = (from < to).then(|| (from, to - 1));
        self.report.damages.push(Damage { path: file.path(&self.layout.log()), offset, bytes, lost });
    }
}
