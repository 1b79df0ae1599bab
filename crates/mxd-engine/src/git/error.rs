//! Why a git did not do what it was asked.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why a git did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The program is not there or cannot be run.
    #[error("cannot run {program}: {source}; install git or put it on the PATH of the daemon")]
    Start {
        /// Which program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The program is older than what is needed.
    #[error("git {found} is too old: 2.38 or newer is needed")]
    TooOld {
        /// What it calls itself.
        found: String,
    },
    /// The files of an agent were to be looked at or changed, and there is no sandbox to do it in.
    #[error("the files of an agent are only looked at in a sandbox, and there is none for this")]
    NoSandbox,
    /// What an agent committed cannot be taken over.
    #[error(
        "the work of the agent cannot be taken over: an object in its repository is missing, damaged or not what its name \
         says ({said}). Nothing was changed. In its worktree, `git fsck` names the object; reset the task, or have the \
         agent commit its files anew"
    )]
    Forged {
        /// What git said.
        said: String,
    },
    /// Talking to it failed.
    #[error("`git {command}` could not be talked to: {source}")]
    Talk {
        /// Its arguments.
        command: String,
        /// What the system said.
        source: io::Error,
    },
    /// It ended with an error.
    #[error("`git {command}` failed ({how}): {said}")]
    Failed {
        /// Its arguments.
        command: String,
        /// Its exit code or signal.
        how: String,
        /// The end of what it said.
        said: String,
    },
    /// It took too long and was ended.
    #[error("`git {command}` took longer than {} s and was ended", limit.as_secs())]
    TimedOut {
        /// Its arguments.
        command: String,
        /// How long it had.
        limit: Duration,
    },
    /// It said more than is read.
    #[error("`git {command}` wrote more than {limit} bytes and was ended")]
    TooMuch {
        /// Its arguments.
        command: String,
        /// How much is read.
        limit: usize,
    },
    /// Somebody holds a lock file, and did so for all the time we waited.
    #[error(
        "`git {command}` found a lock that did not go away: {said}; wait for the git that holds it, or remove the \
         file when none runs"
    )]
    Locked {
        /// Its arguments.
        command: String,
        /// What it said.
        said: String,
    },
    /// It said something that cannot be understood.
    #[error("`git {command}` gave an answer that was not expected: {answer}")]
    Answer {
        /// Its arguments.
        command: String,
        /// The beginning of what it said.
        answer: String,
    },
    /// A file of the repository cannot be read or written.
    #[error("cannot {action} {path}: {source}", path = path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of the repository is not what git would have made.
    #[error("{path} is {what}, which git does not make: look at it and put it right", path = path.display())]
    Tampered {
        /// Which file.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
}

impl GitError {
    /// An error about a file, for `map_err`.
    pub(super) fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File { action, path, source }
    }

    /// Whether trying again later may help, because a lock file was in the way.
    pub(super) fn is_lock(&self) -> bool {
        let Self::Failed { said, .. } = self else { return false };
        let taken = said.contains(".lock': File exists") || said.contains(".lock: File exists");
        taken || said.contains("could not lock config file")
    }

    /// The same, for when waiting did not help.
    pub(super) fn into_locked(self) -> Self {
        match self {
            Self::Failed { command, said, .. } => Self::Locked { command, said },
            other => other,
        }
    }
}

/// Arguments as an error shows them.
pub(super) fn shown(args: &[OsString]) -> String {
    const MOST: usize = 300;
    let words: Vec<_> = args.iter().map(|word| word.to_string_lossy()).collect();
    let mut text = words.join(" ");
    if let Some((end, _)) = text.char_indices().nth(MOST) {
        text.truncate(end);
        text.push('…');
    }
    text
}
