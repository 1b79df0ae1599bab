//! What a crash left behind, cleared away without loss.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::super::error::GitError;
use super::super::files::{blocking, is_vacant, remove_tree};
use super::super::lane::Turn;
use super::super::limits;
use super::super::living::{Inhabitant, inhabitants};
use super::super::private::Private;
use super::super::repository::{Place, Repository};
use super::super::run::Call;
use super::Worktree;
use super::checkout::unregister;

/// Why leftovers are left.
#[derive(Debug, thiserror::Error)]
pub(super) enum Stuck {
    #[error("it is not ours")]
    Occupied,
    #[error("somebody lives there")]
    Inhabited(Vec<Inhabitant>),
    #[error(transparent)]
    Git(#[from] GitError),
}

/// Removes a worktree in which no agent ever was. Files that are not in a worktree of ours are not touched.
pub(super) async fn clear_half_made(repository: &Repository, folder: &Path) -> Result<(), Stuck> {
    let place = folder.to_owned();
    let living = blocking(move || inhabitants(&place)).await.map_err(GitError::file("look into", folder))?;
    if !living.is_empty() {
        return Err(Stuck::Inhabited(living));
    }
    let is_ours = is_ours(repository, folder);
    if !is_ours && !is_vacant(folder).map_err(GitError::file("look into", folder))? {
        return Err(Stuck::Occupied);
    }
    let (place, aside) = (folder.to_owned(), aside_of(folder));
    let clear = move || {
        remove_tree(&aside)?;
        if is_ours {
            // Under another name first: of a removal that is cut off something is left that does not look like ours.
            fs::rename(&place, &aside)?;
            remove_tree(&aside)?;
        }
        Ok(())
    };
    blocking(clear).await.and_then(|ended| ended).map_err(GitError::file("remove", folder))?;
    let turn = repository.turn().await;
    unregister(repository, &turn, folder)?;
    Ok(())
}

/// Where a half-made worktree is while it is removed.
fn aside_of(folder: &Path) -> PathBuf {
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push(".unmade");
    folder.with_file_name(name)
}

/// Removes the locks that git left in a worktree, on its branches, and in its agent's own repository, when it died with
/// the daemon: nobody who works there could do anything with git any more. Where somebody lives they stay, because they
/// may be in use. Tells which ones are gone.
///
/// # Errors
///
/// When the agent's repository cannot be looked through.
pub async fn release_locks(repository: &Repository, worktree: &Worktree) -> Result<Vec<PathBuf>, GitError> {
    if !inhabitants(&worktree.folder).is_empty() {
        return Ok(Vec::new());
    }
    let branches = repository.common().join("refs/heads").join(worktree.branches());
    let left = [&worktree.own, &branches].into_iter().flat_map(|folder| locks(folder));
    let mut gone: Vec<PathBuf> = left.filter(|lock| fs::remove_file(lock).is_ok()).collect();
    if Private::of(repository.common(), worktree.task).exists() {
        let git_dir = Private::of(repository.common(), worktree.task).git_dir();
        let find = repository.change_private(worktree).await?;
        let call =
            Call::new([&git_dir]).program("find").args(["-not", "-path", "*/git/objects/*", "-type", "f"]);
        let call = call.args(["-name", "*.lock", "-print0", "-delete"]);
        let answer = repository.ask(Place::Files(&find), call).await?;
        gone.extend(answer.parts().map(|path| PathBuf::from(std::ffi::OsStr::from_bytes(path))));
    }
    Ok(gone)
}

/// The lock files directly in a folder. Links are none, wherever they lead.
fn locks(folder: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).into_iter().flatten().flatten().take(limits::LOCKS_LOOKED_AT);
    let files = listed.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    files.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "lock")).collect()
}

/// Whether the folder says that it is a worktree of this repository.
pub(super) fn is_ours(repository: &Repository, folder: &Path) -> bool {
    let Ok(pointer) = super::super::admin::read_small(&folder.join(".git")) else { return false };
    let Some(own) = pointer.trim_end().strip_prefix("gitdir: ") else { return false };
    let own = Path::new(own);
    let is_agents = own.starts_with(repository.common().join("mxd/agents"));
    is_agents || own.parent() == Some(&repository.common().join("worktrees"))
}

/// Has git forget a worktree at a place where nothing is any more.
pub(super) fn forget_vanished(
    repository: &Repository,
    turn: &Turn<'_>,
    folder: &Path,
) -> Result<(), GitError> {
    let vacant = is_vacant(folder).map_err(GitError::file("look into", folder))?;
    if vacant { unregister(repository, turn, folder) } else { Ok(()) }
}
