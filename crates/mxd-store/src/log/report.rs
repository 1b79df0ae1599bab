//! What opening a log found out about its health.

use std::path::PathBuf;

/// The state in which a log was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Places that were damaged after they had been written. They are left as they are and passed over.
    pub damages: Vec<Damage>,
    /// More damaged places than are listed.
    pub damages_unlisted: u64,
    /// What a crash had left half written at the end, if anything.
    pub torn: Option<Torn>,
    /// Segments that were read through, because no cache spoke for them.
    pub scanned: usize,
    /// Whether the state came from a snapshot.
    pub from_snapshot: bool,
}

/// A damaged place in the middle of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The segment's file.
    pub path: PathBuf,
    /// Where the damage begins, counted in the uncompressed text.
    pub offset: u64,
    /// How many bytes are damaged; none if commits are missing without a trace.
    pub bytes: u64,
    /// The commits that are lost by it, first and last.
    pub lost: Option<(u64, u64)>,
}

/// An unfinished end that was cut off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Torn {
    /// The segment's file.
    pub path: PathBuf,
    /// Where the cut was made.
    pub offset: u64,
    /// How many bytes were cut off.
    pub bytes: u64,
    /// Where they are kept.
    pub kept: PathBuf,
}
