//! Segments: the files the log is made of.
//!
//! The last one grows as plain text. A closed one is compressed in frames of whole lines, so that any part of it
//! can be read alone and `zstdcat` still shows the whole.

pub(crate) mod chunk;
pub(crate) mod header;
pub(crate) mod index;
pub(crate) mod pack;
pub(crate) mod walk;

use std::path::{Path, PathBuf};

/// How a segment's text is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Form {
    /// As it is.
    Plain,
    /// In zstd frames.
    Packed,
}

/// Which file a segment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SegmentFile {
    pub(crate) number: u32,
    pub(crate) form: Form,
}

impl SegmentFile {
    pub(crate) fn plain(number: u32) -> Self {
        Self { number, form: Form::Plain }
    }

    pub(crate) fn packed(number: u32) -> Self {
        Self { number, form: Form::Packed }
    }

    /// Its name in the log folder.
    pub(crate) fn name(self) -> String {
        match self.form {
            Form::Plain => format!("{:06}.jsonl", self.number),
            Form::Packed => format!("{:06}.jsonl.zst", self.number),
        }
    }

    pub(crate) fn path(self, log: &Path) -> PathBuf {
        log.join(self.name())
    }

    /// Reads a name back; `None` for anything we would not have written.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let number = name.split_once('.')?.0.parse().ok().filter(|number| *number > 0)?;
        [Self::plain(number), Self::packed(number)].into_iter().find(|file| file.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_are_segments() {
        assert_eq!(SegmentFile::parse("000012.jsonl"), Some(SegmentFile::plain(12)));
        assert_eq!(SegmentFile::parse("1000000.jsonl.zst"), Some(SegmentFile::packed(1_000_000)));
        for name in
            ["12.jsonl", "000000.jsonl", "000001.jsonl.bak", "000001", "notes.txt", "+00001.jsonl", ""]
        {
            assert_eq!(SegmentFile::parse(name), None, "{name}");
        }
    }
}
