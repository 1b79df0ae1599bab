//! The git repository of an agent: its own, with the user's objects to be read.
//!
//! An agent never writes to the user's repository. It has a git folder of its own, with its own settings, branches, index
//! and objects; the user's object stores are alternates that it can only read. What it commits reaches the user's
//! repository by a transfer that checks every object (`mxd_engine::git`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::super::level::Level;
use super::super::policy::{Policy, StandIn};
use crate::scope::Access;

/// A worktree's own repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The agent's own git folder.
    pub git_dir: PathBuf,
    /// A file that leads git from the worktree to that folder. Inside of the sandbox it is seen as `.git` of the worktree,
    /// where mounts are possible; the file that is really there is for the user's git, and leads to settings of the user's.
    pub git_file: PathBuf,
    /// The object stores that the agent reads: the user's, and all that this one refers to.
    pub objects: Vec<PathBuf>,
}

impl Repository {
    /// Lets the agent use its own repository and read the objects of the user's.
    pub(super) fn give(&self, to: (Level, Access), worktree: &Path, policy: &mut Policy) -> io::Result<()> {
        let git_dir = real(&self.git_dir)?;
        match to.1 {
            Access::Read => policy.read.push(git_dir),
            Access::Write => policy.write.push(git_dir),
        }
        policy.read.extend(self.objects.iter().cloned());
        if to.0 == Level::Full {
            policy
                .read_only_stand_ins
                .push(StandIn { at: real(worktree)?.join(".git"), folder: self.git_file.clone() });
        }
        Ok(())
    }
}

fn real(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
