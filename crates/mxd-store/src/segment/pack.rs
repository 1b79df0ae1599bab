//! Packing a closed segment: the same text, in zstd frames of whole lines.

use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};
use zstd::bulk::Compressor;
use zstd::zstd_safe::CParameter;

use super::Form;
use super::chunk::Chunks;
use super::header::spell_hash;
use super::index::{Block, SegmentIndex};
use crate::disk::{Disk, DiskFile};

/// Good for text at several hundred megabytes a second.
const LEVEL: i32 = 3;

/// Writes frames to a file, one after another.
pub(crate) struct Packer {
    file: Box<dyn DiskFile>,
    written: u64,
    compressor: Compressor<'static>,
    frame: Vec<u8>,
    hash: Sha256,
}

impl Packer {
    pub(crate) fn create(disk: &dyn Disk, path: &Path) -> io::Result<Self> {
        let mut compressor = Compressor::new(LEVEL)?;
        compressor.set_parameter(CParameter::ChecksumFlag(true))?;
        Ok(Self { file: disk.create(path)?, written: 0, compressor, frame: Vec::new(), hash: Sha256::new() })
    }

    /// Adds a frame and says where it stands.
    pub(crate) fn add(&mut self, text: &[u8]) -> io::Result<(u64, u64)> {
        self.hash.update(text);
        self.frame.clear();
        self.frame.reserve(zstd::zstd_safe::compress_bound(text.len()));
        let bytes = self.compressor.compress_to_buffer(text, &mut self.frame)? as u64;
        self.file.write_at(self.written, &self.frame)?;
        let start = self.written;
        self.written += bytes;
        Ok((start, bytes))
    }

    /// Makes the file durable; gives its length and the hash of its text.
    pub(crate) fn finish(self) -> io::Result<(u64, String)> {
        self.file.sync()?;
        Ok((self.written, spell_hash(&self.hash.finalize())))
    }
}

/// The hash of a segment's text, read from disk.
pub(crate) fn hash_of(disk: &dyn Disk, path: &Path, form: Form) -> io::Result<String> {
    let mut chunks = Chunks::open(disk, path, form)?;
    let (mut hash, mut text) = (Sha256::new(), Vec::new());
    while let Some(span) = chunks.next(&mut text)? {
        if !span.sound {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("damaged at byte {}", span.start),
            ));
        }
        hash.update(&text);
    }
    Ok(spell_hash(&hash.finalize()))
}

/// Packs a plain segment into the file `draft`, reads it back, and gives its index and length if the text came
/// back unchanged.
pub(crate) fn pack(
    disk: &dyn Disk,
    plain: (&Path, &SegmentIndex),
    draft: &Path,
) -> io::Result<(SegmentIndex, u64)> {
    let (path, index) = plain;
    let file = disk.open(path)?;
    let end = file.len()?;
    let mut packer = Packer::create(disk, draft)?;
    let mut text = Vec::new();
    let mut frames = Vec::with_capacity(index.blocks().len());
    // Frames are cut where blocks begin, so that nothing between them, sound or not, is left out. A segment without
    // a readable line is one frame that no index knows of.
    let mut from = 0;
    let none = [Block { first: 0, start: 0, bytes: end }];
    let blocks = if index.blocks().is_empty() { &none[..] } else { index.blocks() };
    for (position, block) in blocks.iter().enumerate() {
        let to = blocks.get(position + 1).map_or(end, |next| next.start);
        text.resize(usize::try_from(to - from).map_err(io::Error::other)?, 0);
        if file.read_at(from, &mut text)? < text.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let (start, bytes) = packer.add(&text)?;
        frames.push(Block { first: block.first, start, bytes });
        from = to;
    }
    let (length, packed_hash) = packer.finish()?;
    let same = packed_hash == hash_of(disk, draft, Form::Packed)?
        && packed_hash == hash_of(disk, path, Form::Plain)?;
    if !same {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the packed segment does not read back"));
    }
    frames.truncate(index.blocks().len());
    Ok((index.with_blocks(frames), length))
}
