//! Why a path cannot be used, in the words of the one who wrote it.

use std::io;

/// Why a file tool does not touch something. Paths are as the agent wrote them.
#[derive(Debug, thiserror::Error)]
pub enum ConfineError {
    /// The path is none.
    #[error("{path:?} is not a path: {why}")]
    BadPath {
        /// What was given, shortened.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The path leads out by itself.
    #[error("{path} is outside of the worktree; use a path relative to {worktree}")]
    Outside {
        /// As written.
        path: String,
        /// Where relative paths start.
        worktree: String,
    },
    /// The path leads out through a link.
    #[error(
        "{path} is outside of the worktree: the link {link} -> {target} leads there; use a file inside of the \
         worktree"
    )]
    LeadsOutside {
        /// As written.
        path: String,
        /// The last link on the way.
        link: String,
        /// What it says.
        target: String,
    },
    /// Links lead to links without end.
    #[error("{path} leads through more than {limit} links; is there a loop?", limit = super::MAX_LINKS)]
    TooManyLinks {
        /// As written.
        path: String,
    },
    /// More folders than anybody needs.
    #[error("{path} leads through more than {limit} folders", limit = super::MAX_DEPTH)]
    TooDeep {
        /// As written.
        path: String,
    },
    /// There is nothing.
    #[error("{path} does not exist{near}")]
    Missing {
        /// As written.
        path: String,
        /// What was perhaps meant.
        near: String,
    },
    /// Something on the way is a file.
    #[error("{path} cannot be: {part} is not a folder")]
    NotAFolder {
        /// As written.
        path: String,
        /// The part that is in the way.
        part: String,
    },
    /// A folder where a file is needed.
    #[error("{path} is a folder; list_files shows what is in it")]
    IsFolder {
        /// As written.
        path: String,
    },
    /// Neither a file nor a folder.
    #[error("{path} is a {kind}; file tools touch only ordinary files")]
    NotRegular {
        /// As written.
        path: String,
        /// What it is.
        kind: &'static str,
    },
    /// The agent's own folder, where it has no other.
    #[error(
        "{path} cannot be written: {worktree} is only to be looked at; give the change to a task that has a worktree of its \
         own"
    )]
    ReadOnlyWorktree {
        /// As written.
        path: String,
        /// The agent's own folder.
        worktree: String,
    },
    /// A folder that is given for reading only.
    #[error("{path} cannot be written: {root} is given for reading only; write inside of the worktree")]
    ReadOnlyRoot {
        /// As written.
        path: String,
        /// The declared folder.
        root: String,
    },
    /// A file that its owner protected.
    #[error("{path} is read-only (mode {mode:04o}); if it should change, make it writable with chmod first")]
    ReadOnlyFile {
        /// As written.
        path: String,
        /// Its mode.
        mode: u32,
    },
    /// What belongs to git.
    #[error("{path} belongs to git and cannot be written by file tools; use git commands")]
    Git {
        /// As written.
        path: String,
    },
    /// Somebody else was faster.
    #[error("{path} was changed by somebody else at this moment; read it and try again")]
    ChangedMeanwhile {
        /// As written.
        path: String,
    },
    /// Larger than a tool takes into memory.
    #[error("{path} has {bytes} bytes, more than the {limit} that can be edited; use bash (sed, head, tail)")]
    TooLarge {
        /// As written.
        path: String,
        /// How large.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The system said no.
    #[error("{doing} {path} failed: {source}{}", advice(.source))]
    Io {
        /// What was tried.
        doing: &'static str,
        /// As written.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}

impl ConfineError {
    pub(super) fn io(doing: &'static str, path: &str, source: impl Into<io::Error>) -> Self {
        Self::Io { doing, path: path.to_owned(), source: source.into() }
    }
}

fn advice(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "; the file is as it was, free some space and try again"
        }
        io::ErrorKind::PermissionDenied => "; its permissions do not allow it, ls -l shows them",
        io::ErrorKind::ReadOnlyFilesystem => "; it lies on a file system that cannot be written",
        _ => "",
    }
}
