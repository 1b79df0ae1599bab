//! Removing the worktree of a task so that nothing in it is lost.
//!
//! First everything that no commit has becomes a commit, and a ref holds it with all heads of the task. Then the record
//! says so. Only then are files, branches and the record removed, and each of these steps may be repeated.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use mxd_core::id::TaskId;

use super::super::admin::{self, Entry};
use super::super::changes::Names;
use super::super::error::GitError;
use super::super::files::{blocking, remove_tree};
use super::super::heads::{self, Heads, Left};
use super::super::lane::TaskTurn;
use super::super::living::{Inhabitant, inhabitants};
use super::super::names::{Branch, ObjectId};
use super::super::private::Private;
use super::super::record::{self, Record, Stage};
use super::super::refs::{RefError, Swap};
use super::super::repository::{Place, Repository};
use super::super::run::Call;
use super::super::snapshot::{self, Snapshot, SnapshotError, Subject};
use super::checkout::unregister;
use super::create::listed;
use super::repair::is_ours;
use super::{described, namespace};

/// A worktree to be removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// Of which task.
    pub task: TaskId,
    /// Where its files are, for when nothing is remembered about it.
    pub folder: PathBuf,
    /// Its branch, for the same case.
    pub branch: Branch,
}

/// What a removal came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Removed {
    /// The commit that holds what no other ref has; none when everything was elsewhere.
    pub grave: Option<ObjectId>,
    /// Files that differed from the last commit and are kept.
    pub kept: usize,
    /// Ignored files and folders that were too large to be kept, and are gone.
    pub left_out: Names,
}

/// Why a worktree stays.
#[derive(Debug, thiserror::Error)]
pub enum RemoveError {
    /// Somebody is in it.
    #[error("{folder} is in use by {}; end them first", listed(.living), folder = folder.display())]
    Inhabited {
        /// Which worktree.
        folder: PathBuf,
        /// Who.
        living: Vec<Inhabitant>,
    },
    /// There is more in it than is kept.
    #[error(
        "{folder} has {count} files of {bytes} bytes that no commit has, more than is kept; commit them, or remove \
         what is not needed",
        folder = folder.display()
    )]
    TooLarge {
        /// Which worktree.
        folder: PathBuf,
        /// How many files.
        count: usize,
        /// How large.
        bytes: u64,
    },
    /// Submodules have repositories of their own in it.
    #[error(
        "{folder} has submodules with files ({names}), whose commits are nowhere else; push them and run `git submodule \
         deinit --all` there",
        folder = folder.display()
    )]
    Submodules {
        /// Which worktree.
        folder: PathBuf,
        /// Which submodules.
        names: Names,
    },
    /// A branch got commits after everything was kept.
    #[error("{name} got commits that are not kept; ask again")]
    Grew {
        /// Which branch.
        name: String,
    },
    /// A branch is not what it seems.
    #[error(transparent)]
    Ref(#[from] RefError),
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// Removes a worktree, its branches, and what is remembered about it. Asked again, it goes on where it stopped.
///
/// # Errors
///
/// When something would be lost, somebody is in it, or git fails. The worktree is then still there, or everything in
/// it is kept.
pub async fn remove(repository: &Repository, removal: &Removal) -> Result<Removed, RemoveError> {
    let turn = repository.task_turn(removal.task).await;
    let record = match Record::read(repository.common(), removal.task)? {
        Some(record) => record,
        None => match guessed(repository, removal).await? {
            Some(record) => record,
            None => return Ok(Removed::default()),
        },
    };
    if let Stage::Removing { grave, .. } = &record.stage {
        finish(repository, &record).await?;
        return Ok(Removed { grave: grave.clone(), ..Removed::default() });
    }
    let (record, removed) = bury(repository, record, &turn).await?;
    finish(repository, &record).await?;
    Ok(removed)
}

/// A record for a worktree about which nothing is remembered, from what the caller and git know.
async fn guessed(repository: &Repository, removal: &Removal) -> Result<Option<Record>, RemoveError> {
    heads::clear_traps(repository.common(), removal.task)?;
    let here = is_ours(repository, &removal.folder);
    let at = repository.branch(&removal.branch).await?;
    let Some(base) = at.or(if here { head_in(repository, &removal.folder)? } else { None }) else {
        return Ok(None);
    };
    let own = entry_of(repository, &removal.folder)?.map(|entry| entry.own);
    let Removal { task, folder, branch } = removal.clone();
    let stage = if here { Stage::Ready } else { Stage::Making };
    Ok(Some(Record { task, folder, branch, base_branch: None, base, own, stage }))
}

fn head_in(repository: &Repository, folder: &Path) -> Result<Option<ObjectId>, GitError> {
    match entry_of(repository, folder)?.map(|entry| admin::standing(&entry.own)) {
        Some(Ok(admin::Standing::At(commit))) => Ok(Some(commit)),
        _ => Ok(None),
    }
}

fn entry_of(repository: &Repository, folder: &Path) -> Result<Option<Entry>, GitError> {
    Ok(repository.entries()?.into_iter().find(|entry| entry.folder.as_deref() == Some(folder)))
}

/// Keeps everything, and writes down that it did.
async fn bury(
    repository: &Repository,
    record: Record,
    turn: &TaskTurn,
) -> Result<(Record, Removed), RemoveError> {
    heads::clear_traps(repository.common(), record.task)?;
    refuse_inhabited(&record.folder).await?;
    let own = match &record.own {
        Some(own) => Some(own.clone()),
        None => entry_of(repository, &record.folder)?.map(|entry| entry.own),
    };
    refuse_modules(repository, &record, own.as_deref()).await?;
    let left = leave(repository, &record, turn).await?;
    let heads = Heads::find(repository, &record, (own.as_deref(), left)).await?;
    // An agent may have removed what says that the folder is ours; the record has not forgotten it.
    let here = record.stage == Stage::Ready || is_ours(repository, &record.folder);
    let folder = number(&record.folder).filter(|_| here);
    let snapshot = match folder {
        Some(_) => Some(take_snapshot(repository, &record, &heads.head).await?),
        None => None,
    };
    let grave = heads.bury(repository, &record, snapshot.as_ref()).await?;
    let (kept, left_out) = snapshot.map(|snapshot| (snapshot.kept, snapshot.left_out)).unwrap_or_default();
    let record = Record { own, stage: Stage::Removing { grave: grave.clone(), folder }, ..record };
    record.write(repository.common())?;
    Ok((record, Removed { grave, kept, left_out }))
}

/// Takes over everything that the agent's own repository holds.
async fn leave(repository: &Repository, record: &Record, turn: &TaskTurn) -> Result<Left, RemoveError> {
    let Some(worktree) = described(record) else { return Ok(Left::default()) };
    let tip = repository.import(&worktree, turn).await?;
    let commits = repository.import_everything(&worktree).await?;
    let staged = repository.import_staged(&worktree).await?;
    Ok(Left { stood: tip.at, commits, staged })
}

/// The number of a folder on its disk.
fn number(folder: &Path) -> Option<(u64, u64)> {
    let found = fs::symlink_metadata(folder).ok().filter(fs::Metadata::is_dir)?;
    Some((found.dev(), found.ino()))
}

async fn take_snapshot(
    repository: &Repository,
    record: &Record,
    head: &ObjectId,
) -> Result<Snapshot, RemoveError> {
    let index = record::index(repository.common(), record.task);
    let folder = &record.folder;
    snapshot::take(repository, Subject { folder, index: &index, head }).await.map_err(|error| match error {
        SnapshotError::TooLarge { count, bytes } => {
            RemoveError::TooLarge { folder: folder.clone(), count, bytes }
        }
        SnapshotError::Submodules(names) => RemoveError::Submodules { folder: folder.clone(), names },
        SnapshotError::Git(error) => error.into(),
        SnapshotError::Ref(error) => error.into(),
    })
}

async fn refuse_inhabited(folder: &Path) -> Result<(), RemoveError> {
    let place = folder.to_owned();
    let living = blocking(move || inhabitants(&place)).await.map_err(GitError::file("look into", folder))?;
    if living.is_empty() { Ok(()) } else { Err(RemoveError::Inhabited { folder: folder.to_owned(), living }) }
}

/// Git keeps the repositories of a worktree's submodules beside its index, so they would go with it: those that the user
/// made there, and those of the agent.
async fn refuse_modules(
    repository: &Repository,
    record: &Record,
    own: Option<&Path>,
) -> Result<(), RemoveError> {
    let listed = own.map(|own| fs::read_dir(own.join("modules")).into_iter().flatten().flatten());
    let mut inside: Vec<PathBuf> =
        listed.into_iter().flatten().map(|entry| PathBuf::from(entry.file_name())).collect();
    let private = Private::of(repository.common(), record.task);
    if private.exists() {
        let find = repository.read_private(record.task).await?;
        let call = Call::new([private.git_dir()]).program("find").args(["-mindepth", "2", "-maxdepth", "2"]);
        let call = call.args(["-path", "*/git/modules/*", "-printf", "%f\\0"]);
        let answer = repository.ask(Place::Files(&find), call).await?;
        inside.extend(answer.parts().map(|name| PathBuf::from(std::ffi::OsStr::from_bytes(name))));
    }
    if inside.is_empty() {
        return Ok(());
    }
    let names = Names::of(inside.iter().map(PathBuf::as_path), super::super::limits::NAMES_SHOWN);
    Err(RemoveError::Submodules { folder: record.folder.clone(), names })
}

/// Removes what is kept elsewhere: files, git's notes, branches, and at last the record.
pub(super) async fn finish(repository: &Repository, record: &Record) -> Result<(), RemoveError> {
    remove_files(repository, record).await?;
    let turn = repository.turn().await;
    unregister(repository, &turn, &record.folder)?;
    if let Some(own) = &record.own {
        remove_tree(own).map_err(GitError::file("remove", own))?;
    }
    heads::clear_traps(repository.common(), record.task)?;
    for head in repository.refs_below(&format!("refs/heads/{}", namespace(record.task))).await? {
        if !heads::is_elsewhere(repository, &head.commit, record.task).await? {
            return Err(RemoveError::Grew { name: head.name });
        }
        let swap =
            Swap { name: &head.name, from: Some(&head.commit), to: None, why: "mxd: worktree removed" };
        repository.swap_ref(&turn, swap).await?;
    }
    heads::remove_folders(repository.common(), record.task);
    drop(turn);
    Private::of(repository.common(), record.task).remove(repository).await?;
    Record::forget(repository.common(), record.task)?;
    Ok(())
}

/// Moves the files aside before they are removed, so that half a worktree is never taken for a whole one.
async fn remove_files(repository: &Repository, record: &Record) -> Result<(), RemoveError> {
    let folder = &record.folder;
    let aside = aside(folder);
    let Stage::Removing { folder: kept, .. } = record.stage else { return Ok(()) };
    if kept.is_some() && number(folder) == kept {
        refuse_inhabited(folder).await?;
        if aside.exists() {
            repository.remove_agents_folder(&aside).await?;
        }
        fs::rename(folder, &aside).map_err(GitError::file("move", folder))?;
    }
    Ok(repository.remove_agents_folder(&aside).await?)
}

fn aside(folder: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(folder.file_name().unwrap_or_default());
    name.push(".removed");
    folder.with_file_name(name)
}
