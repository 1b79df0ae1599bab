//! A segment's text, handed out piece by piece: whole lines of a plain file, or the frames of a packed one.

use std::io;
use std::path::Path;

use zstd::bulk::Decompressor;
use zstd::zstd_safe::{find_frame_compressed_size, get_frame_content_size};

use super::Form;
use crate::disk::{Disk, DiskFile};
use crate::limits::{BLOCK_BYTES, GROUP_BYTES, LINE_BYTES, SEGMENT_BYTES};

/// How much of a plain file is read at once.
const READ: usize = 1024 * 1024;

/// No frame holds more text than this; a header that says otherwise is damaged.
const FRAME_TEXT: usize = SEGMENT_BYTES as usize + 2 * GROUP_BYTES;

/// No packed file is larger than this.
const PACKED_BYTES: u64 = 2 * (SEGMENT_BYTES + GROUP_BYTES as u64);

/// Where a chunk stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChunkSpan {
    /// Where its text begins in the uncompressed segment.
    pub(crate) text: u64,
    /// Where it begins in the file.
    pub(crate) start: u64,
    /// How many bytes of the file it takes.
    pub(crate) bytes: u64,
    /// Whether the bytes could be turned into text; if not, the chunk is empty.
    pub(crate) sound: bool,
}

/// The chunks of one segment, from the beginning.
pub(crate) enum Chunks {
    Plain(PlainChunks),
    Packed(PackedChunks),
}

impl Chunks {
    pub(crate) fn open(disk: &dyn Disk, path: &Path, form: Form) -> io::Result<Self> {
        Ok(match form {
            Form::Plain => {
                let file = disk.open(path)?;
                Self::Plain(PlainChunks { end: file.len()?, file, read: 0, rest: Vec::new() })
            }
            Form::Packed => Self::Packed(PackedChunks {
                data: crate::disk::read_all(disk, path, PACKED_BYTES)?,
                read: 0,
                text: 0,
                decompressor: Decompressor::new()?,
            }),
        })
    }

    /// Puts the next chunk into `out` and says where it stands; `None` at the end.
    pub(crate) fn next(&mut self, out: &mut Vec<u8>) -> io::Result<Option<ChunkSpan>> {
        out.clear();
        match self {
            Self::Plain(chunks) => chunks.next(out),
            Self::Packed(chunks) => chunks.next(out),
        }
    }
}

/// Reads a plain file in large steps and cuts them at line ends.
pub(crate) struct PlainChunks {
    file: Box<dyn DiskFile>,
    /// How far it went when we began; what is written meanwhile is not ours to read.
    end: u64,
    read: u64,
    rest: Vec<u8>,
}

impl PlainChunks {
    fn next(&mut self, out: &mut Vec<u8>) -> io::Result<Option<ChunkSpan>> {
        out.append(&mut self.rest);
        let start = self.read - out.len() as u64;
        while self.read < self.end {
            let filled = out.len();
            let step = READ.min(usize::try_from(self.end - self.read).unwrap_or(READ));
            out.resize(filled + step, 0);
            let got = self.file.read_at(self.read, &mut out[filled..])?;
            out.truncate(filled + got);
            self.read += got as u64;
            if got < step {
                self.end = self.read; // Somebody has cut it.
            }
            if let Some(end) = memchr::memrchr(b'\n', &out[filled..]) {
                self.rest.extend_from_slice(&out[filled + end + 1..]);
                out.truncate(filled + end + 1);
                self.leave_room(out);
                break;
            }
            if out.len() > 2 * LINE_BYTES {
                break; // Nothing that we wrote goes on for so long without a line end.
            }
        }
        let bytes = out.len() as u64;
        Ok((bytes > 0).then_some(ChunkSpan { text: start, start, bytes, sound: true }))
    }
}

impl PlainChunks {
    /// Room at the end of a step may be written over before the next one is read, and that would begin in the middle of a
    /// line: it begins with the room instead.
    fn leave_room(&mut self, out: &mut Vec<u8>) {
        let text = out.trim_ascii_end().len();
        let room = out.len().saturating_sub(text + 1);
        if self.read < self.end && self.rest.is_empty() && text > 0 && room > 0 {
            out.truncate(text + 1);
            self.read -= room as u64;
        }
    }
}

/// Takes a packed file apart frame by frame, and finds the next frame after a damaged one.
pub(crate) struct PackedChunks {
    data: Vec<u8>,
    read: usize,
    text: u64,
    decompressor: Decompressor<'static>,
}

impl PackedChunks {
    fn next(&mut self, out: &mut Vec<u8>) -> io::Result<Option<ChunkSpan>> {
        let rest = &self.data[self.read..];
        if rest.is_empty() {
            return Ok(None);
        }
        let (start, text) = (self.read as u64, self.text);
        let sound = match find_frame_compressed_size(rest) {
            Ok(bytes) if unpack(&mut self.decompressor, &rest[..bytes], out).is_ok() => {
                self.read += bytes;
                true
            }
            Ok(_) | Err(_) => {
                out.clear();
                self.read += next_frame(rest);
                false
            }
        };
        self.text += out.len() as u64;
        Ok(Some(ChunkSpan { text, start, bytes: self.read as u64 - start, sound }))
    }
}

/// How far the next beginning of a frame is, after the one at the beginning of `data`.
fn next_frame(data: &[u8]) -> usize {
    let magic = zstd::zstd_safe::MAGICNUMBER.to_le_bytes();
    memchr::memmem::find(&data[1..], &magic).map_or(data.len(), |position| position + 1)
}

/// Turns one frame into text.
pub(crate) fn unpack(decompressor: &mut Decompressor<'_>, frame: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
    let size = get_frame_content_size(frame).ok().flatten().and_then(|size| usize::try_from(size).ok());
    let size = size.filter(|size| *size <= FRAME_TEXT).ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidData, "the frame does not say how long its text is")
    })?;
    out.clear();
    out.reserve(size.max(BLOCK_BYTES));
    let got = decompressor.decompress_to_buffer(frame, out)?;
    if got == size {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidData, "the frame is cut short"))
    }
}
