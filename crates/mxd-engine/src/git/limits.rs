//! Every limit of git for agents.

use std::time::Duration;

/// Bytes of output that are read from a git that asks something.
pub const OUTPUT: usize = 64 << 20;

/// Bytes at the end of a git's messages that an error quotes.
pub const STDERR_TAIL: usize = 4 << 10;

/// How long one git may run.
pub const RUN: Duration = Duration::from_secs(300);

/// How long a git that was told to end may take to clean up before it is killed.
pub const GRACE: Duration = Duration::from_secs(2);

/// How often a change is tried again while somebody else holds a lock file.
pub const LOCK_ATTEMPTS: u32 = 10;

/// The wait before the second attempt; it doubles with each further one, up to [`LOCK_WAIT_MOST`].
pub const LOCK_WAIT: Duration = Duration::from_millis(10);

/// The longest wait between two attempts.
pub const LOCK_WAIT_MOST: Duration = Duration::from_secs(2);

/// Bytes of a file of git's own that is read without git: `HEAD`, `gitdir`.
pub const SMALL_FILE: u64 = 4 << 10;

/// Worktrees of one repository that are looked at.
pub const WORKTREES: usize = 4096;

/// Characters of the readable part of a branch name.
pub const SLUG: usize = 30;

/// Bytes of a branch name.
pub const BRANCH_NAME: usize = 200;

/// Names that a list in a message shows before it only counts.
pub const NAMES_SHOWN: usize = 10;

/// Patterns of files that are carried over.
pub const INCLUDE_PATTERNS: usize = 64;

/// Files that are carried over.
pub const INCLUDE_FILES: usize = 1000;

/// Bytes of one file that is carried over.
pub const INCLUDE_FILE: u64 = 10 << 20;

/// Bytes of all files that are carried over.
pub const INCLUDE_TOTAL: u64 = 100 << 20;

/// How long the set-up script may run.
pub const SETUP: Duration = Duration::from_secs(900);

/// How long the check of a merge may run.
pub const CHECK: Duration = Duration::from_secs(1800);

/// How long an agent's own git may take to follow its branch.
pub const FOLLOW: Duration = Duration::from_secs(120);
/// Bytes of what one agent committed since the last time, packed.
pub const IMPORT: u64 = 4 << 30;
/// How long taking it over may last.
pub const IMPORT_TIME: Duration = Duration::from_secs(600);

/// Bytes of one ignored file that a grave keeps.
pub const GRAVE_IGNORED_FILE: u64 = 1 << 20;

/// Files of an ignored folder up to which a grave keeps it.
pub const GRAVE_IGNORED_FOLDER_FILES: usize = 100;

/// Bytes of all ignored files of a grave.
pub const GRAVE_IGNORED_TOTAL: u64 = 16 << 20;

/// Files that a grave takes beside what is committed.
pub const GRAVE_FILES: usize = 100_000;

/// Bytes that a grave takes beside what is committed.
pub const GRAVE_TOTAL: u64 = 2 << 30;

/// Earlier heads that one grave holds on to.
pub const GRAVE_HEADS: usize = 256;

/// Graves that a list names.
pub const GRAVES: usize = 10_000;

/// Depth of folders that are walked.
pub const DEPTH: usize = 128;

/// Processes that a refusal names.
pub const PROCESSES_SHOWN: usize = 10;

/// Files with conflicts that are described.
pub const CONFLICT_FILES: usize = 50;

/// Hunks of one file that are quoted.
pub const CONFLICT_HUNKS: usize = 10;

/// Bytes of one hunk that are quoted.
pub const CONFLICT_HUNK: usize = 4 << 10;

/// Bytes of a file in which hunks are looked for.
pub const CONFLICT_FILE: u64 = 8 << 20;

/// Files that a merge names.
pub const MERGE_FILES: usize = 1000;

/// Dirty files that a status names.
pub const DIRTY_FILES: usize = 200;

/// Bytes of a diff, when nothing else was asked for.
pub const DIFF: usize = 1 << 20;

/// Free bytes below which no new worktree starts, when nothing else was asked for.
pub const FREE_BYTES: u64 = 2 << 30;

/// Free inodes below which no new worktree starts, when nothing else was asked for.
pub const FREE_INODES: u64 = 50_000;

/// Bytes of one look at what a task has changed.
pub const REVIEW: usize = 8 << 20;

/// Files of it that are shown.
pub const REVIEW_FILES: usize = 2_000;

/// Bytes of one file's difference that are shown.
pub const REVIEW_PATCH: usize = 256 << 10;

/// Files beside a worktree's index among which locks are looked for.
pub const LOCKS_LOOKED_AT: usize = 10_000;
