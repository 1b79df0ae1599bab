//! Reading by cursor. Readers take a short look at the view, then read files; they never hold up the writer.

use std::io;
use std::sync::{Arc, PoisonError};

use zstd::bulk::Decompressor;

use super::{Commit, Log};
use crate::disk::DiskFile;
use crate::error::ReadError;
use crate::limits::READ_BYTES;
use crate::line::Line;
use crate::segment::chunk::{ChunkSpan, unpack};
use crate::segment::index::{Block, SegmentIndex};
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
            if run.open {
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
        let (closed, active) = {
            let view = shared.view();
            let has_more = |seqs: Option<(u64, u64)>| seqs.is_some_and(|(_, last)| last > wanted.after);
            let closed = view.closed.range(segment + 1..).find(|(_, closed)| has_more(closed.seqs));
            match closed {
                Some((_, closed)) => (Some(Arc::clone(closed)), None),
                None => {
                    (None, Some((view.active.file, view.active.holed, wanted.blocks(&view.active.index))))
                }
            }
        };
        let (file, open, holed, blocks) = match (closed, active) {
            (Some(closed), _) => {
                let failed = |error| ReadError::io(&closed.file.path(&shared.layout.log()), error);
                let index = closed.index(&*shared.disk, &shared.layout).map_err(failed)?;
                (closed.file, false, closed.holed, wanted.blocks(&index))
            }
            (None, Some((file, holed, blocks))) if file.number > segment => (file, true, holed, blocks),
            (None, _) => return Ok(None),
        };
        let path = file.path(&shared.layout.log());
        let text = shared.disk.open(&path).map_err(|error| ReadError::io(&path, error))?;
        Ok(Some(Run { file, text, open, holed, blocks }))
    }

    fn read_run(&self, run: &Run, harvest: &mut Harvest<'_>) -> Result<(), ReadError> {
        let path = run.file.path(&self.shared.layout.log());
        let failed = |error| ReadError::io(&path, error);
        let mut decompressor = Decompressor::new().map_err(failed)?;
        let (mut stored, mut text) = (Vec::new(), Vec::new());
        for block in &run.blocks {
            if harvest.is_full() {
                break;
            }
            stored.resize(usize::try_from(block.bytes).map_err(|error| failed(io::Error::other(error)))?, 0);
            let got = run.text.read_at(block.start, &mut stored).map_err(failed)?;
            stored.truncate(got);
            let sound = match run.file.form {
                Form::Plain => harvest.take(&stored),
                Form::Packed => unpack(&mut decompressor, &stored, &mut text).is_ok() && harvest.take(&text),
            };
            if !sound && !run.holed {
                self.shared.distrust();
                return Err(ReadError::Damaged { path, offset: block.start });
            }
        }
        Ok(())
    }
}

struct Wanted<'a> {
    task: Option<&'a str>,
    after: u64,
    limit: usize,
}

impl Wanted<'_> {
    fn blocks(&self, index: &SegmentIndex) -> Vec<Block> {
        match self.task {
            Some(task) => index.of_task(task, self.after),
            None => index.after(self.after).to_vec(),
        }
    }
}

/// Blocks of one segment.
struct Run {
    file: SegmentFile,
    text: Box<dyn DiskFile>,
    /// Whether the segment was still growing.
    open: bool,
    holed: bool,
    blocks: Vec<Block>,
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

    /// Takes what is wanted from the lines of a block; false if one of them is damaged.
    fn take(&mut self, text: &[u8]) -> bool {
        let mut survey = Survey::default();
        let span = ChunkSpan { text: 0, start: 0, bytes: text.len() as u64, sound: true };
        survey.take(Form::Plain, span, text, &mut |line| {
            if !self.is_full() {
                self.add(line);
            }
        });
        survey.is_sound()
    }

    fn add(&mut self, line: &Line<'_>) {
        let newer = self.commits.last().map_or(self.wanted.after, |commit| commit.seq);
        if line.seq > newer && self.wanted.task.is_none_or(|task| line.tasks().any(|named| named == task)) {
            self.bytes += line.events.len();
            self.commits.push(Commit { seq: line.seq, at: line.at, events: line.events.to_owned() });
        }
    }
}
