//! The parts of a shared repository that an agent needs to commit, and no more.
//!
//! Git wants to write lock files beside what all worktrees share. At the top level the agent therefore sees a folder
//! of its own in that place, into which the shared parts are put: objects and its own branches to be changed,
//! everything else to be looked at. Single files are replaced by renaming, which a mount would not follow, so they
//! are copies, made anew before each command.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::super::level::Level;
use super::super::policy::{Copy, Policy, StandIn};
use crate::scope::Access;

/// A worktree's share of its repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The folder that all worktrees share: `.git` of the first one.
    pub common: PathBuf,
    /// The worktree's own folder in there: `worktrees/<name>`.
    pub own: PathBuf,
    /// The part of the branch names that is the agent's, such as `mxd/<task>`.
    pub branches: String,
}

/// Files of the shared folder that git reads.
const FILES: &[&str] = &["HEAD", "config", "packed-refs", "shallow", "description"];

impl Repository {
    /// The folder that an agent with this scratch folder sees in the place of the shared one, where that can be arranged.
    pub fn stand_in(scratch: &Path) -> PathBuf {
        scratch.join("git")
    }

    /// Lets the agent look at the repository, add objects, and move its own branches.
    pub(super) fn give(&self, to: (Level, Access), scratch: &Path, policy: &mut Policy) -> io::Result<()> {
        let (common, own) = (real(&self.common)?, real(&self.own)?);
        if to.1 == Access::Read {
            policy.read.push(common);
            return Ok(());
        }
        let branches =
            [common.join("refs/heads"), common.join("logs/refs/heads")].map(|at| at.join(&self.branches));
        // A list of further object stores in here would be followed by everybody's git.
        let further_stores = common.join("objects/info");
        for folder in branches.iter().chain([&further_stores]) {
            fs::create_dir_all(folder)?;
        }
        for folder in &branches {
            // Git removes folders of branches that are empty, and a mount would go with them. It takes no notice of this.
            make_file(&folder.join(".keep"))?;
        }
        match to.0 {
            Level::Full => show_through(&common, &Self::stand_in(scratch), policy)?,
            Level::Landlock | Level::Off => policy.read.push(common.clone()),
        }
        policy.read.extend(pointers(&own)?);
        policy.write.extend([common.join("objects"), own]);
        policy.write.extend(branches);
        policy.read.push(further_stores);
        Ok(())
    }
}

/// What leads git from a worktree to its settings. Whoever changes it decides which programs git runs for anybody who
/// uses it in that worktree, also outside of the sandbox.
fn pointers(own: &Path) -> io::Result<Vec<PathBuf>> {
    let gitdir = own.join("gitdir");
    // The other way round: the file in the worktree that leads here.
    let worktrees = PathBuf::from(fs::read_to_string(&gitdir)?.trim_end());
    let settings = own.join("config.worktree");
    make_file(&settings)?;
    let pointers = vec![gitdir, own.join("commondir"), settings, worktrees];
    for pointer in &pointers {
        // A link would be followed when the file is shown, to whatever it leads to.
        if !fs::symlink_metadata(pointer)?.is_file() {
            let what = format!("{} is not a file any more: make the worktree anew", pointer.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
    }
    Ok(pointers)
}

/// Puts a folder of the agent's own where the shared one is, and the folders of the shared one into it.
fn show_through(common: &Path, folder: &Path, policy: &mut Policy) -> io::Result<()> {
    super::make_private(folder)?;
    policy.stand_ins.push(StandIn { at: common.to_owned(), folder: folder.to_owned() });
    for entry in fs::read_dir(common)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            policy.read.push(entry.path());
        }
    }
    let copies = FILES.iter().map(|name| Copy { from: common.join(name), to: folder.join(name) });
    policy.copies.extend(copies);
    Ok(())
}

/// Makes an empty file where nothing is. What is there may be the agent's, so it is neither opened nor followed.
fn make_file(path: &Path) -> io::Result<()> {
    match fs::OpenOptions::new().create_new(true).write(true).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn real(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
