//! Reading whole segments, several at a time, and telling what is in them in order.

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;

use crate::disk::Disk;
use crate::line::{Line, OwnedLine};
use crate::segment::SegmentFile;
use crate::segment::chunk::Chunks;
use crate::segment::walk::Survey;

/// Chunks of one segment that may wait for the listener: more than a segment usually has, so that one thread reads
/// on while the listener is busy with what another has read.
const AHEAD: usize = 512;

/// What a scanning thread tells.
enum Told {
    Lines(Vec<OwnedLine>),
    End(io::Result<Box<Survey>>),
}

/// Listens to a scan, segment by segment in the given order.
pub(crate) trait Listener {
    /// Whether it wants to hear of a commit with these events; asked on the scanning threads.
    fn filter(&self) -> fn(&str) -> bool;
    /// A sound commit.
    fn line(&mut self, line: &Line<'_>);
    /// The end of one segment.
    fn end(&mut self, file: SegmentFile, survey: Survey);
}

/// Scans the segments on up to `threads` threads; the listener hears them in order on this one.
pub(crate) fn scan(
    disk: &dyn Disk,
    log: &Path,
    files: &[SegmentFile],
    threads: usize,
    listener: &mut impl Listener,
) -> Result<(), (SegmentFile, io::Error)> {
    let filter = listener.filter();
    let threads = if files.len() > 1 { threads.min(files.len()) } else { 0 };
    let (senders, receivers): (Vec<_>, Vec<_>) = files.iter().map(|_| sync_channel(AHEAD)).unzip();
    let work = Mutex::new(files.iter().zip(senders));
    // One segment more than there are threads may be begun before the listener has heard one to its end.
    let (permit, permits) = sync_channel(files.len() + threads + 1);
    let permits = Mutex::new(permits);
    for _ in 0..=threads {
        let _ = permit.try_send(());
    }
    std::thread::scope(|scope| {
        let read = || {
            while let Some((file, sender)) = next_segment(&permits, &work) {
                let end = survey(disk, log, *file, filter, |lines| sender.send(Told::Lines(lines)).is_ok());
                // If the listener has gone, nobody needs the end.
                let _ = sender.send(Told::End(end.map(Box::new)));
            }
        };
        let start = |_: &usize| Builder::new().name("log-scan".into()).spawn_scoped(scope, read).is_ok();
        if (0..threads).filter(start).count() == 0 {
            return files.iter().try_for_each(|file| read_here(disk, log, *file, listener));
        }
        // Moved in here, so that the threads see the end of the permits whatever becomes of us.
        let permit = permit;
        files.iter().zip(receivers).try_for_each(|(file, told)| {
            hear(told, *file, listener).map_err(|error| (*file, error))?;
            let _ = permit.try_send(());
            Ok(())
        })
    })
}

/// Reads a segment on this thread: it is the only one, or there are no others to be had.
fn read_here(
    disk: &dyn Disk,
    log: &Path,
    file: SegmentFile,
    listener: &mut impl Listener,
) -> Result<(), (SegmentFile, io::Error)> {
    let filter = listener.filter();
    let found = survey(disk, log, file, filter, |lines| {
        pass_on(&lines, listener);
        true
    });
    listener.end(file, found.map_err(|error| (file, error))?);
    Ok(())
}

/// Waits until another segment may be read, and takes it; `None` when there is none or nobody listens any more.
fn next_segment<T>(permits: &Mutex<Receiver<()>>, work: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    permits.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()?;
    work.lock().unwrap_or_else(PoisonError::into_inner).next()
}

/// Passes on what one segment's thread tells.
fn hear(told: Receiver<Told>, file: SegmentFile, listener: &mut impl Listener) -> io::Result<()> {
    for told in told {
        match told {
            Told::Lines(lines) => pass_on(&lines, listener),
            Told::End(survey) => {
                listener.end(file, *survey?);
                return Ok(());
            }
        }
    }
    Err(io::Error::other("the thread that read the segment has died"))
}

fn pass_on(lines: &[OwnedLine], listener: &mut impl Listener) {
    lines.iter().for_each(|line| listener.line(&line.line()));
}

/// Walks over one segment and tells its wanted lines, until nobody wants to hear more.
fn survey(
    disk: &dyn Disk,
    log: &Path,
    file: SegmentFile,
    filter: fn(&str) -> bool,
    mut tell: impl FnMut(Vec<OwnedLine>) -> bool,
) -> io::Result<Survey> {
    let mut chunks = Chunks::open(disk, &file.path(log), file.form)?;
    let (mut survey, mut text) = (Survey::default(), Vec::new());
    let mut heard = true;
    while heard && let Some(span) = chunks.next(&mut text)? {
        let mut lines = Vec::new();
        survey.take(file.form, span, &text, &mut |line| {
            if filter(line.events) {
                lines.push(line.keep());
            }
        });
        heard = lines.is_empty() || tell(lines);
    }
    Ok(survey)
}
