//! Reading whole segments, several at a time, and telling what is in them in order.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use crate::disk::Disk;
use crate::line::Line;
use crate::segment::SegmentFile;
use crate::segment::chunk::Chunks;
use crate::segment::walk::{Found, Survey};

/// Chunks that one scanning thread may be ahead of the listener.
const AHEAD: usize = 4;

/// What a scanning thread tells.
enum Told {
    Lines { text: Vec<u8>, found: Vec<Found> },
    End(io::Result<Survey>),
}

/// Listens to a scan, segment by segment in the given order.
pub(crate) trait Listener {
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
    if let [file] = files {
        let tell = |text: Vec<u8>, found: Vec<Found>| {
            pass_on(&text, &found, listener);
            true
        };
        let survey = survey(disk, log, *file, tell).map_err(|error| (*file, error))?;
        listener.end(*file, survey);
        return Ok(());
    }
    let next = AtomicUsize::new(0);
    let (senders, receivers): (Vec<_>, Vec<_>) = files.iter().map(|_| sync_channel(AHEAD)).unzip();
    let senders: Vec<_> = senders.into_iter().map(|sender| Mutex::new(Some(sender))).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, files.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let position = next.fetch_add(1, Ordering::Relaxed);
                    let Some(sender) = senders.get(position) else {
                        break;
                    };
                    // Taken out, so that the listener sees the end even if this thread dies.
                    if let Some(sender) = sender.lock().unwrap_or_else(PoisonError::into_inner).take() {
                        read_aloud(disk, log, files[position], &sender);
                    }
                }
            });
        }
        files.iter().zip(receivers).try_for_each(|(file, told)| {
            hear(told, *file, listener).map_err(|error| {
                next.store(files.len(), Ordering::Relaxed);
                (*file, error)
            })
        })
    })
}

/// On a scanning thread: tells everything about one segment.
fn read_aloud(disk: &dyn Disk, log: &Path, file: SegmentFile, sender: &SyncSender<Told>) {
    let tell = |text, found| sender.send(Told::Lines { text, found }).is_ok();
    let end = survey(disk, log, file, tell);
    // If the listener has gone, nobody needs the end.
    let _ = sender.send(Told::End(end));
}

/// Passes on what one segment's thread tells.
fn hear(told: Receiver<Told>, file: SegmentFile, listener: &mut impl Listener) -> io::Result<()> {
    for told in told {
        match told {
            Told::Lines { text, found } => pass_on(&text, &found, listener),
            Told::End(survey) => {
                listener.end(file, survey?);
                return Ok(());
            }
        }
    }
    Err(io::Error::other("the thread that read the segment has died"))
}

fn pass_on(text: &[u8], found: &[Found], listener: &mut impl Listener) {
    for (start, end) in found {
        if let Some(line) = Line::parse(&text[*start..*end]) {
            listener.line(&line);
        }
    }
}

/// Walks over one segment and tells its lines, until nobody wants to hear more.
fn survey(
    disk: &dyn Disk,
    log: &Path,
    file: SegmentFile,
    mut tell: impl FnMut(Vec<u8>, Vec<Found>) -> bool,
) -> io::Result<Survey> {
    let mut chunks = Chunks::open(disk, &file.path(log), file.form)?;
    let mut survey = Survey::default();
    loop {
        let mut text = Vec::new();
        let Some(span) = chunks.next(&mut text)? else {
            return Ok(survey);
        };
        let mut found = Vec::new();
        survey.take(file.form, span, &text, &mut found);
        if !tell(text, found) {
            return Ok(survey);
        }
    }
}
