//! Walking over a segment's text: which lines are sound, where the holes are, and the index that follows.

use super::Form;
use super::chunk::ChunkSpan;
use super::header::Header;
use super::index::{LineSpan, SegmentIndex};
use crate::line::Line;

/// How many places in a bad line are tried as the beginning of a sound one.
const RESYNC_TRIES: usize = 64;

/// The beginning of every commit line.
const LINE_START: &[u8] = b"{\"seq\":";

/// A place where the text is not what was once written, or where commits are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hole {
    /// Where it begins in the uncompressed text.
    pub(crate) start: u64,
    /// How many bytes are concerned.
    pub(crate) bytes: u64,
    /// The first commit that is lost there, as far as this segment tells.
    pub(crate) from: Option<u64>,
    /// The first sound commit after it.
    pub(crate) to: u64,
}

impl Hole {
    /// Whether it swallowed a commit that had not been durable yet by `durable`.
    pub(crate) fn swallows_beyond(&self, durable: u64) -> bool {
        self.from.is_some_and(|from| from < self.to) && self.to - 1 > durable
    }
}

/// What a walk over one segment has found so far.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub(crate) header: Option<Header>,
    pub(crate) index: SegmentIndex,
    /// The first and the last sound commit.
    pub(crate) seqs: Option<(u64, u64)>,
    /// What the last sound commit says had been durable before it.
    pub(crate) durable: u64,
    pub(crate) holes: Vec<Hole>,
    /// Bytes that are not sound, with nothing sound behind them yet.
    pub(crate) tail: Option<(u64, u64)>,
    /// Blank lines with nothing behind them yet: room for commits to come.
    pub(crate) room: Option<(u64, u64)>,
    expected: Option<u64>,
    begun: bool,
    framed: Option<u64>,
}

impl Survey {
    /// The number of the commit that follows, if anything in the segment tells.
    pub(crate) fn next(&self) -> Option<u64> {
        self.expected
    }

    /// Whether everything so far is as it was written.
    pub(crate) fn is_sound(&self) -> bool {
        self.holes.is_empty() && self.tail.is_none()
    }

    /// Takes in the next chunk and passes its sound lines on to `found`.
    pub(crate) fn take(
        &mut self,
        form: Form,
        span: ChunkSpan,
        text: &[u8],
        found: &mut dyn FnMut(&Line<'_>),
    ) {
        if !span.sound {
            self.spoil(span.text, span.bytes);
        }
        let mut start = 0;
        while start < text.len() {
            let blank = text[start..].iter().take_while(|byte| **byte == b'\n').count();
            if blank > 0 {
                self.blank(span.text + start as u64, blank as u64);
                start += blank;
                continue;
            }
            let newline = memchr::memchr(b'\n', &text[start..]).map(|length| start + length);
            let end = newline.unwrap_or(text.len());
            let next = newline.map_or(end, |newline| newline + 1);
            let place = Place { form, span, start, end, next, joined: false };
            if newline.is_none() || !self.line(text, place, found) {
                self.mend(text, place, found);
            }
            start = next;
        }
    }

    /// Takes one line if it is sound.
    fn line(&mut self, text: &[u8], place: Place, found: &mut dyn FnMut(&Line<'_>)) -> bool {
        let bytes = &text[place.start..place.end];
        if !self.begun
            && let Some(header) = Header::read(bytes)
        {
            self.begun = true;
            self.expected = Some(header.first);
            self.header = Some(header);
            return true;
        }
        match Line::read(bytes) {
            Some(line) if self.expected.is_none_or(|expected| line.seq >= expected) => {
                self.accept(&line, place);
                found(&line);
                true
            }
            Some(_) | None => false,
        }
    }

    fn accept(&mut self, line: &Line<'_>, place: Place) {
        self.begun = true;
        self.fill_room();
        let spoiled = self.tail.take();
        let missing = self.expected.is_some_and(|expected| expected < line.seq);
        if spoiled.is_some() || missing {
            let (start, bytes) = spoiled.unwrap_or((place.text(), 0));
            self.holes.push(Hole { start, bytes, from: self.expected, to: line.seq });
        }
        match place.form {
            Form::Plain => self.index.add(line.seq, place.line_span(), line.tasks()),
            Form::Packed => {
                if self.framed != Some(place.span.start) {
                    self.framed = Some(place.span.start);
                    self.index.begin_frame(line.seq, (place.span.start, place.span.bytes));
                }
                self.index.note(line.tasks());
            }
        }
        self.seqs = Some((self.seqs.map_or(line.seq, |(first, _)| first), line.seq));
        self.durable = line.durable;
        self.expected = Some(line.seq + 1);
    }

    /// A bad line may be two sound ones whose line end was damaged, or a damaged one that swallowed a sound one.
    fn mend(&mut self, text: &[u8], place: Place, found: &mut dyn FnMut(&Line<'_>)) {
        let bytes = &text[place.start..place.end];
        let sound = (place.next > place.end)
            .then(|| memchr::memmem::rfind_iter(bytes, LINE_START).take(RESYNC_TRIES))
            .and_then(|mut starts| starts.find(|start| *start > 0 && Line::read(&bytes[*start..]).is_some()));
        let Some(sound) = sound.map(|offset| place.start + offset) else {
            return self.spoil(place.text(), (place.next - place.start) as u64);
        };
        let before = Place { end: sound - 1, next: sound - 1, ..place };
        if self.line(text, before, found) {
            self.spoil(place.span.text + before.end as u64, 1);
        } else {
            self.spoil(place.text(), (sound - place.start) as u64);
        }
        let after = Place { start: sound, joined: true, ..place };
        if !self.line(text, after, found) {
            self.spoil(after.text(), (after.next - after.start) as u64);
        }
    }

    /// Notes blank lines.
    fn blank(&mut self, start: u64, bytes: u64) {
        self.begun = true;
        let (start, before) = self.room.unwrap_or((start, 0));
        self.room = Some((start, before + bytes));
    }

    /// Blank lines before something else are no room: something was to be there.
    fn fill_room(&mut self) {
        if let Some((start, bytes)) = self.room.take() {
            self.spoil(start, bytes);
        }
    }

    /// Notes bad bytes; neighbours become one place.
    fn spoil(&mut self, start: u64, bytes: u64) {
        self.begun = true;
        self.fill_room();
        self.tail = match self.tail {
            Some((from, _)) => Some((from, start + bytes - from)),
            None => Some((start, bytes)),
        };
    }
}

/// A line of a chunk: `[start, end)` is its text, `next` is where the following one begins.
#[derive(Clone, Copy)]
struct Place {
    form: Form,
    span: ChunkSpan,
    start: usize,
    end: usize,
    next: usize,
    /// Whether it hangs together with what is before it.
    joined: bool,
}

impl Place {
    fn line_span(&self) -> LineSpan {
        LineSpan { start: self.text(), bytes: (self.next - self.start) as u64, joined: self.joined }
    }

    /// Where it begins in the uncompressed segment.
    fn text(&self) -> u64 {
        self.span.text + self.start as u64
    }
}
