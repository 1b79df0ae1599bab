//! Every limit of the store, in one place.

/// Commits are numbered below this; a larger number was not written by us.
pub const SEQ_LIMIT: u64 = 1 << 62;

/// A segment is closed once it has grown to this many bytes; it may end one group of commits beyond.
pub const SEGMENT_BYTES: u64 = 16 * 1024 * 1024;

/// Lines are found, read and compressed in blocks of about this many bytes.
pub const BLOCK_BYTES: usize = 64 * 1024;

/// Blank lines kept at the end of the open segment, which the next commits are written over.
pub const ROOM_BYTES: usize = 64 * 1024;

/// The longest line, and with it the largest commit. Larger bodies belong into blobs.
pub const LINE_BYTES: usize = 4 * 1024 * 1024;

/// What one write and one sync carry at most; what waits beyond it goes with the next.
pub const GROUP_BYTES: usize = 8 * 1024 * 1024;

/// Bytes of commits that may wait to be written before a caller is turned away.
pub const QUEUE_BYTES: usize = 64 * 1024 * 1024;

/// What one read hands out at most, counted in bytes of lines. It always hands out one commit if there is one.
pub const READ_BYTES: usize = 8 * 1024 * 1024;

/// Commits that are kept in memory after they were written.
pub const RECENT_COMMITS: usize = 256;

/// Bytes of their events.
pub const RECENT_BYTES: usize = 256 * 1024;

/// The largest blob.
pub const BLOB_BYTES: u64 = 64 * 1024 * 1024;

/// The largest snapshot.
pub const SNAPSHOT_BYTES: u64 = 256 * 1024 * 1024;

/// The longest name of a task.
pub const TASK_BYTES: usize = 64;

/// The longest reason given for a prune.
pub const REASON_BYTES: usize = 1024;

/// Damaged places remembered one by one; beyond it they are only counted.
pub const DAMAGES_LISTED: usize = 1000;
