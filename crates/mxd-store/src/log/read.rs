//! Reading by cursor. Readers take a short look at the view, then read files; they never hold up the writer.

use std::io;
use std::sync::{Arc, PoisonError};

use zstd::bulk::Decompressor;

use super::view::{Active, KnownDamage};
use super::{Commit, Log};
use crate::disk::DiskFile;
use crate::error::ReadError;
use crate::limits::READ_BYTES;
use crate::line::Line;
use crate::segment::chunk::{ChunkSpan, unpack};
use crate::segment::index::{Block, Extent, SegmentIndex};
use crate::segment::walk::Survey;
use crate::segment::{Form, SegmentFile};

impl Log {
    /// The commits after `after`, in order, at most `limit` and at most [`READ_BYTES`] of lines. Fewer than
    /// asked for does not mean the end: that is reached when the last one is [`Log::head`].
    pub fn read(&self, after: u64, limit: usize) -> Result<Vec<Commit>, ReadError> {
        self.collect(Wanted { task: None, after, limit })
    }

    /// The commits after `after` that speak of `task`, in order, bounded like [`Log::read`]; an empty answer
    /// means that there are no more.
    pub fn read_task(&self, task: &str, after: u64, limit: usize) -> Result<Vec<Commit>, ReadError> {
        self.collect(Wanted { task: Some(task), after, limit })
    }

    fn collect(&self, wanted: Wanted<'_>) -> Result<Vec<Commit>, ReadError> {
        let mut harvest = Harvest { wanted, commits: Vec::new(), bytes: 0 };
        let mut segment = 0;
        while !harvest.is_full() {
            let Some(run) = self.next_run(&harvest.wanted, segment)? else {
                break;
            };
            self.read_run(&run, &mut harvest)?;
            if run.place.open {
                break; // This was the end of the log; what has come since is for the next read.
            }
            segment = run.file.number;
        }
        Ok(harvest.commits)
    }

    /// The blocks to read in the first segment after number `segment` that may have something.
    fn next_run(&self, wanted: &Wanted<'_>, segment: u32) -> Result<Option<Run>, ReadError> {
        let shared = &*self.shared;
        // Until the file is open, nobody may put another one in its place: the blocks fit only this one.
        let _still = shared.swap.read().unwrap_or_else(PoisonError::into_inner);
        let closed = {
            let view = shared.view();
            let has_more = |seqs: Option<(u64, u64)>| seqs.is_some_and(|(_, last)| last > wanted.after);
            match view.closed.range(segment + 1..).find(|(_, closed)| has_more(closed.seqs)) {
                Some((_, closed)) => Ok(Arc::clone(closed)),
                None if view.active.file.number <= segment => return Ok(None),
                None => Err((view.active.file, Place::of_active(&view.active, wanted))),
            }
        };
        let (file, place) = match closed {
            Err(active) => active,
            Ok(closed) => {
                let failed = |error| ReadError::io(&closed.file.path(&shared.layout.log()), error);
                let index = closed.index(&*shared.disk, &shared.layout).map_err(failed)?;
                let (end, damage) = (end(closed.seqs), closed.damage.clone());
                (closed.file, Place { open: false, end, damage, extents: wanted.extents(&index) })
            }
        };
        let path = file.path(&shared.layout.log());
        let text = shared.disk.open(&path).map_err(|error| ReadError::io(&path, error))?;
        Ok(Some(Run { file, text, place }))
    }

    fn read_run(&self, run: &Run, harvest: &mut Harvest<'_>) -> Result<(), ReadError> {
        let path = run.file.path(&self.shared.layout.log());
        let failed = |error| ReadError::io(&path, error);
        // Made only where there is something to take apart: it is large.
        let packed = run.file.form == Form::Packed;
        let mut decompressor = packed.then(Decompressor::new).transpose().map_err(failed)?;
        let (mut stored, mut text) = (Vec::new(), Vec::new());
        for extent in &run.place.extents {
            if harvest.is_full() {
                break;
            }
            let Block { first, start, bytes } = extent.block;
            stored.resize(usize::try_from(bytes).map_err(|error| failed(io::Error::other(error)))?, 0);
            let got = run.text.read_at(start, &mut stored).map_err(failed)?;
            stored.truncate(got);
            let commits = (first, extent.next.unwrap_or(run.place.end));
            let sound = match &mut decompressor {
                None => harvest.take(&stored, commits, &run.place.damage),
                Some(decompressor) => {
                    unpack(decompressor, &stored, &mut text).is_ok()
                        && harvest.take(&text, commits, &run.place.damage)
                }
            };
            if !sound {
                self.shared.distrust(run.file.number);
                return Err(ReadError::Damaged { path, offset: start });
            }
        }
        Ok(())
    }
}

/// The number after the last commit.
fn end(seqs: Option<(u64, u64)>) -> u64 {
    seqs.map_or(0, |(_, last)| last + 1)
}

struct Wanted<'a> {
    task: Option<&'a str>,
    after: u64,
    limit: usize,
}

impl Wanted<'_> {
    fn extents(&self, index: &SegmentIndex) -> Vec<Extent> {
        match self.task {
            Some(task) => index.of_task(task, self.after),
            None => index.after(self.after),
        }
    }
}

/// Blocks of one segment, and its open file.
struct Run {
    file: SegmentFile,
    text: Box<dyn DiskFile>,
    place: Place,
}

/// What the view said of a segment.
struct Place {
    /// Whether it was still growing.
    open: bool,
    /// The number after its last commit.
    end: u64,
    damage: KnownDamage,
    extents: Vec<Extent>,
}

impl Place {
    fn of_active(active: &Active, wanted: &Wanted<'_>) -> Self {
        let (end, damage) = (end(active.seqs), active.damage.clone());
        Self { open: true, end, damage, extents: wanted.extents(&active.index) }
    }
}

/// What a read has gathered.
struct Harvest<'a> {
    wanted: Wanted<'a>,
    commits: Vec<Commit>,
    bytes: usize,
}

impl Harvest<'_> {
    fn is_full(&self) -> bool {
        self.commits.len() >= self.wanted.limit || self.bytes >= READ_BYTES
    }

    /// Takes what is wanted from a block that should have the commits from the first up to, not including, the second
    /// of `commits`; false if one of them is missing and that was not known.
    fn take(&mut self, text: &[u8], (first, end): (u64, u64), damage: &KnownDamage) -> bool {
        let mut survey = Survey::default();
        let span = ChunkSpan { text: 0, start: 0, bytes: text.len() as u64, sound: true };
        let (mut expected, mut sound) = (damage.next_kept(first), true);
        survey.take(Form::Plain, span, text, &mut |line| {
            sound &= line.seq == expected;
            expected = damage.next_kept(line.seq + 1);
            if !self.is_full() {
                self.add(line);
            }
        });
        sound && expected >= end
    }

    fn add(&mut self, line: &Line<'_>) {
        let newer = self.commits.last().map_or(self.wanted.after, |commit| commit.seq);
        if line.seq > newer && self.wanted.task.is_none_or(|task| line.tasks().any(|named| named == task)) {
            self.bytes += line.events.len();
            self.commits.push(Commit { seq: line.seq, at: line.at, events: line.events.to_owned() });
        }
    }
}
