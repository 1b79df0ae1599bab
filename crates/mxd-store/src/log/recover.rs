//! Finding the segments of a log, and mending what a crash left unfinished at its end.

use std::io;
use std::path::{Path, PathBuf};

use super::Options;
use super::report::Torn;
use super::view::survey;
use crate::disk::{Disk, publish, publish_with};
use crate::error::OpenError;
use crate::layout::Layout;
use crate::segment::header::{FORMAT, Header};
use crate::segment::pack::hash_of;
use crate::segment::walk::Survey;
use crate::segment::{Form, SegmentFile};

/// How much is copied at once.
const COPY: usize = 1024 * 1024;

/// Where a log is opened and how.
#[derive(Clone, Copy)]
pub(crate) struct Ground<'a> {
    pub(crate) disk: &'a dyn Disk,
    pub(crate) layout: &'a Layout,
    pub(crate) options: &'a Options,
}

/// The segments of a log whose end is sound.
pub(crate) struct Recovered {
    pub(crate) closed: Vec<SegmentFile>,
    pub(crate) active: SegmentFile,
    /// The last commit.
    pub(crate) last: u64,
    /// What was cut off.
    pub(crate) torn: Option<Torn>,
}

pub(crate) fn recover(ground: Ground<'_>) -> Result<Recovered, OpenError> {
    let mut closed = ground.list()?;
    let active = match closed.pop() {
        Some(active) if active.form == Form::Plain => active,
        // A segment is packed only after the next one has taken over.
        Some(last) => {
            return Err(OpenError::MissingSegment { dir: ground.layout.log(), missing: last.number + 1 });
        }
        None => {
            let active = SegmentFile::plain(1);
            ground.begin(None, active)?;
            active
        }
    };
    ground.settle(active)?;
    let (next, torn) = ground.mend_end(closed.last().copied(), active)?;
    Ok(Recovered { closed, active, last: next - 1, torn })
}

impl Ground<'_> {
    /// The segments in the folder, in order and without a gap.
    fn list(self) -> Result<Vec<SegmentFile>, OpenError> {
        let dir = self.layout.log();
        let mut files: Vec<SegmentFile> = Vec::new();
        for name in self.disk.list(&dir).map_err(|error| OpenError::io(&dir, error))? {
            let file =
                SegmentFile::parse(&name).ok_or_else(|| OpenError::ForeignFile { path: dir.join(&name) })?;
            // Both forms of a segment: its packing was interrupted before the plain one was removed, and that is
            // whole.
            if files.last().is_none_or(|last| last.number != file.number) {
                files.push(file);
            }
        }
        files.sort_by_key(|file| file.number);
        match (1..).zip(&files).find(|(number, file)| *number != file.number) {
            Some((missing, _)) => Err(OpenError::MissingSegment { dir, missing }),
            None => Ok(files),
        }
    }

    /// Makes durable what the last owner may have left in the system's memory when it was killed: everything that is
    /// found from here on counts as durable.
    fn settle(self, active: SegmentFile) -> Result<(), OpenError> {
        let (dir, path) = (self.layout.log(), self.path(active));
        self.disk.sync_dir(&dir).map_err(at(&dir))?;
        self.disk.open_for_writing(&path).and_then(|file| file.sync()).map_err(at(&path))
    }

    /// Cuts off what a crash left unfinished, keeping the bytes; gives the number of the next commit.
    fn mend_end(
        self,
        before: Option<SegmentFile>,
        active: SegmentFile,
    ) -> Result<(u64, Option<Torn>), OpenError> {
        let path = self.path(active);
        let failed = |error| OpenError::io(&path, error);
        let found = survey(self.disk, self.layout, active).map_err(failed)?;
        self.check_version(active, &found)?;
        let hole = found.holes.iter().find(|hole| hole.swallows_beyond(found.durable)).map(|hole| hole.start);
        let Some(offset) = hole.or(found.tail.map(|(start, _)| start)) else {
            if found.header.is_none() && found.seqs.is_none() {
                return Ok((self.begin(before, active)?, None));
            }
            if let Some((end, _)) = found.room {
                self.cut(active, end).map_err(failed)?;
            }
            return Ok((found.next().unwrap_or(1), None));
        };
        let end = found.room.map(|(end, _)| end);
        let (bytes, kept) = self.set_apart(active, offset, end).map_err(failed)?;
        let torn = Torn { path: path.clone(), offset, bytes, kept };
        if offset == 0 {
            return Ok((self.begin(before, active)?, Some(torn)));
        }
        let left = self.cut(active, offset).and_then(|()| survey(self.disk, self.layout, active));
        Ok((left.map_err(failed)?.next().unwrap_or(1), Some(torn)))
    }

    fn cut(self, file: SegmentFile, len: u64) -> io::Result<()> {
        let file = self.disk.open_for_writing(&self.path(file))?;
        file.set_len(len)?;
        file.sync()
    }

    /// Makes a segment that follows `before`; gives the number of its first commit.
    fn begin(self, before: Option<SegmentFile>, new: SegmentFile) -> Result<u64, OpenError> {
        let path = self.path(new);
        let write = |header: Header| {
            publish(self.disk, &self.layout.tmp(), &path, &header.line())?;
            Ok(header.first)
        };
        self.header_after(before, new).and_then(write).map_err(|error| OpenError::io(&path, error))
    }

    fn header_after(self, before: Option<SegmentFile>, new: SegmentFile) -> io::Result<Header> {
        let (first, previous) = match before {
            None => (1, None),
            Some(before) => {
                let found = survey(self.disk, self.layout, before)?;
                (found.next().unwrap_or(1), Some(hash_of(self.disk, &self.path(before), before.form)?))
            }
        };
        let vocabulary = self.options.vocabulary;
        Ok(Header { format: FORMAT, vocabulary, segment: new.number, first, previous })
    }

    /// Copies the end of a segment, or what is before the room at its end, into the quarantine, under a name that is free.
    fn set_apart(self, file: SegmentFile, offset: u64, end: Option<u64>) -> io::Result<(u64, PathBuf)> {
        let source = self.disk.open(&self.path(file))?;
        let end = end.map_or_else(|| source.len(), Ok)?;
        let bytes = end.saturating_sub(offset);
        let taken = self.disk.list(&self.layout.quarantine())?;
        let name = (1u64..)
            .map(|count| format!("{:06}-{offset}-{count}.torn", file.number))
            .find(|name| taken.binary_search(name).is_err())
            .unwrap_or_default();
        let kept = self.layout.quarantine().join(name);
        publish_with(self.disk, &self.layout.tmp(), &kept, |copy| {
            let mut buffer = vec![0; COPY];
            let mut done = 0;
            while done < bytes {
                let most = usize::try_from(bytes - done).map_or(COPY, |left| left.min(COPY));
                let got = source.read_at(offset + done, &mut buffer[..most])?;
                if got == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                copy.write_at(done, &buffer[..got])?;
                done += got as u64;
            }
            Ok(())
        })?;
        Ok((bytes, kept))
    }

    /// Refuses what a later major version has written.
    pub(crate) fn check_version(self, file: SegmentFile, found: &Survey) -> Result<(), OpenError> {
        let Some(header) = &found.header else { return Ok(()) };
        let newer = |what, found, supported| OpenError::NewerVersion {
            path: self.path(file),
            what,
            found,
            supported,
        };
        if header.format > FORMAT {
            return Err(newer("log format", header.format, FORMAT));
        }
        if header.vocabulary > self.options.vocabulary {
            return Err(newer("vocabulary", header.vocabulary, self.options.vocabulary));
        }
        Ok(())
    }

    pub(crate) fn path(self, file: SegmentFile) -> PathBuf {
        file.path(&self.layout.log())
    }
}

/// Turns a refusal of the system into one that names the path.
pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> OpenError + use<> {
    let path = path.to_owned();
    move |error| OpenError::io(&path, error)
}
