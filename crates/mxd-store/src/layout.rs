//! Where things lie in the directory of one log.
//!
//! ```text
//! lock              who has it open
//! log/              000001.jsonl.zst, 000002.jsonl, …   the truth
//! blobs/ab/abcd…    bodies too large for a line, named by their hash
//! cache/            snapshot, catalog and indexes: delete them and they are made anew
//! quarantine/       bytes that recovery took out of the log, kept for a person to look at
//! tmp/              files on their way to their name
//! ```

use std::path::{Path, PathBuf};

/// The paths below one root.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    root: PathBuf,
}

impl Layout {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.root.join("lock")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.root.join("log")
    }

    pub(crate) fn blobs(&self) -> PathBuf {
        self.root.join("blobs")
    }

    pub(crate) fn cache(&self) -> PathBuf {
        self.root.join("cache")
    }

    pub(crate) fn quarantine(&self) -> PathBuf {
        self.root.join("quarantine")
    }

    pub(crate) fn tmp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    pub(crate) fn snapshot(&self) -> PathBuf {
        self.cache().join("snapshot")
    }

    pub(crate) fn catalog(&self) -> PathBuf {
        self.cache().join("catalog")
    }

    pub(crate) fn index(&self, segment: u32) -> PathBuf {
        self.cache().join(format!("{segment:06}.index"))
    }

    /// The blobs that a prune may have left without a name, until they are looked at.
    pub(crate) fn sweep(&self) -> PathBuf {
        self.tmp().join("sweep")
    }

    /// The number of the segment whose prepared form has this name.
    pub(crate) fn pruned_segment(&self, name: &str) -> Option<u32> {
        let number = name.strip_prefix("pruned-")?.strip_suffix(".jsonl.zst")?.parse().ok()?;
        self.pruned(number).ends_with(name).then_some(number)
    }

    /// The rewritten form of a segment that a prune has prepared.
    pub(crate) fn pruned(&self, segment: u32) -> PathBuf {
        self.tmp().join(format!("pruned-{segment:06}.jsonl.zst"))
    }
}
