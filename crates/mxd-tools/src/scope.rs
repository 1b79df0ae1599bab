//! Where a call happens: the worktree of one agent, and what belongs to it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::confine::Files;
use crate::kept::Kept;
use crate::sandbox::Cell;
use crate::secrets::Secrets;
use crate::shell::Processes;

/// What the calls of one agent share. Cheap to clone.
#[derive(Clone)]
pub struct Scope {
    /// The agent's own folder, where relative paths start.
    pub worktree: PathBuf,
    /// What file tools may do there.
    pub access: Access,
    /// Further folders that file tools may touch.
    pub roots: Arc<[Root]>,
    /// A folder outside of the worktree, the agent's own: kept output and temporary files.
    pub scratch: PathBuf,
    /// Where its processes run.
    pub cell: Cell,
    /// The environment they get, and nothing else.
    pub env: Arc<[(String, String)]>,
    /// What it has seen of files, and whose turn it is to edit them.
    pub files: Files,
    /// Its commands.
    pub processes: Processes,
    /// Output of its tools that is too long to be shown. File tools read it when its folder is one of the roots.
    pub kept: Kept,
    /// Which of the values in its environment must not come out again.
    pub secrets: Secrets,
}

impl fmt::Debug for Scope {
    /// Without the environment, which may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("worktree", &self.worktree).finish_non_exhaustive()
    }
}

/// A folder besides the worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Where it is.
    pub path: PathBuf,
    /// What may be done there.
    pub access: Access,
}

/// What may be done in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Looking.
    Read,
    /// Changing, too.
    Write,
}
