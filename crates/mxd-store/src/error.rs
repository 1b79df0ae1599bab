//! What can go wrong, each with what to do about it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a log could not be opened. Nothing has been changed or deleted when one of these is returned.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has the log open.
    #[error("{} is in use by {owner}", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// What the owner says of itself, usually its pid.
        owner: String,
    },
    /// The log was written by a later major version.
    #[error("{} has {what} version {found}, and this program reads up to {supported}", path.display())]
    NewerVersion {
        /// The segment that says so.
        path: PathBuf,
        /// `log format` or `vocabulary`.
        what: &'static str,
        /// The version on disk.
        found: u32,
        /// The newest version this program knows.
        supported: u32,
    },
    /// Something in the log folder is not a segment.
    #[error("{} does not belong into a log folder", path.display())]
    ForeignFile {
        /// What lies there.
        path: PathBuf,
    },
    /// The numbers of the segments have a gap.
    #[error("segment {missing:06} is missing in {}", dir.display())]
    MissingSegment {
        /// The log folder.
        dir: PathBuf,
        /// The number that is not there.
        missing: u32,
    },
    /// The directory or the disk may not be written to.
    #[error("cannot write to {}: {source}", path.display())]
    ReadOnly {
        /// What could not be written.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
    /// No space is left.
    #[error("no space left for {}: {source}", path.display())]
    Full {
        /// What could not be written.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
    /// Anything else the system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder concerned.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
}

impl OpenError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match Cause::of(&source) {
            Cause::ReadOnly => Self::ReadOnly { path, source },
            Cause::Full => Self::Full { path, source },
            Cause::Other => Self::Io { path, source },
        }
    }

    /// What a person can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Locked { .. } => "stop that process, or give this one another data directory",
            Self::NewerVersion { .. } => "use the newer program that wrote it; nothing was changed",
            Self::ForeignFile { .. } => "move it out of the folder; nothing was changed",
            Self::MissingSegment { .. } => "bring the file back from a backup; nothing was changed",
            Self::ReadOnly { .. } => {
                "make the directory writable for this user, or choose another data directory"
            }
            Self::Full { .. } => "free some space and try again; nothing was lost",
            Self::Io { .. } => "look at the file and the disk; nothing was changed",
        }
    }
}

/// Why a commit was not made durable. It is not in the log, and the log is as it was before. Only if the disk refuses
/// to write and to take back what it had begun, and the machine stops then, may the commit be found afterwards.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AppendError {
    /// The commit is malformed.
    #[error("not a commit: {reason}")]
    Invalid {
        /// What is wrong with it.
        reason: String,
    },
    /// The commit does not fit into one line.
    #[error("a commit of {bytes} bytes is over the limit of {limit}")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// Too much waits to be written already.
    #[error("{waiting} bytes wait to be written, the limit is {limit}")]
    Overloaded {
        /// What waits.
        waiting: usize,
        /// The limit.
        limit: usize,
    },
    /// No space is left. Appending works again as soon as there is.
    #[error("no space left for the log: {source}")]
    Full {
        /// The system's word.
        source: Arc<io::Error>,
    },
    /// The disk refused. Appending is tried afresh with the next commit.
    #[error("the log could not be written: {source}")]
    Io {
        /// The system's word.
        source: Arc<io::Error>,
    },
    /// The log was closed before the commit was written.
    #[error("the log is closed")]
    Closed,
}

impl AppendError {
    pub(crate) fn io(source: io::Error) -> Self {
        let cause = Cause::of(&source);
        let source = Arc::new(source);
        match cause {
            Cause::Full => Self::Full { source },
            Cause::ReadOnly | Cause::Other => Self::Io { source },
        }
    }

    /// What a person can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "this is a fault of the program; please report it",
            Self::TooLarge { .. } => "put large bodies into blobs and name them in the event",
            Self::Overloaded { .. } => "wait for earlier commits before sending more",
            Self::Full { .. } => "free some space; the log is intact and goes on by itself",
            Self::Io { .. } => "check the disk; the log is intact and goes on as soon as it can be written",
            Self::Closed => "open the log again",
        }
    }
}

/// Why something could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A line is not what was once written, and it was sound when the log was opened.
    #[error("{} is damaged at byte {offset}", path.display())]
    Damaged {
        /// The segment.
        path: PathBuf,
        /// Where the damage begins, counted in the uncompressed text.
        offset: u64,
    },
    /// There is no such blob.
    #[error("blob {id} is missing")]
    BlobMissing {
        /// Its address.
        id: String,
    },
    /// A blob's bytes are not those it is named after.
    #[error("blob {} is damaged: {found} bytes with another checksum than its name says", path.display())]
    BlobDamaged {
        /// The file.
        path: PathBuf,
        /// How many bytes there are.
        found: u64,
    },
    /// The system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file concerned.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
}

impl ReadError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    /// What a person can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Damaged { .. } => {
                "open the log again: the damage is set apart and the rest loads; check the disk"
            }
            Self::BlobMissing { .. } => "bring the file back from a backup; the log itself is whole",
            Self::BlobDamaged { .. } => "bring the file back from a backup; it was left as it is",
            Self::Io { .. } => "look at the file and the disk; nothing was changed",
        }
    }
}

/// The few causes a person can act on, told apart.
enum Cause {
    Full,
    ReadOnly,
    Other,
}

impl Cause {
    fn of(error: &io::Error) -> Self {
        use io::ErrorKind as Kind;
        match error.kind() {
            Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge => Self::Full,
            Kind::ReadOnlyFilesystem | Kind::PermissionDenied => Self::ReadOnly,
            _ => Self::Other,
        }
    }
}
