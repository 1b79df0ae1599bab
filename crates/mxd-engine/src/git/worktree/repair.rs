//! What a crash left behind, cleared away without loss.

use std::path::Path;

use super::super::error::GitError;
use super::super::files::{blocking, is_vacant, remove_tree};
use super::super::lane::Turn;
use super::super::living::{Inhabitant, inhabitants};
use super::super::repository::Repository;
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
    if is_ours(repository, folder) {
        let removed = folder.to_owned();
        let ended = blocking(move || remove_tree(&removed)).await.and_then(|ended| ended);
        ended.map_err(GitError::file("remove", folder))?;
    } else if !is_vacant(folder).map_err(GitError::file("look into", folder))? {
        return Err(Stuck::Occupied);
    }
    let turn = repository.turn().await;
    unregister(repository, &turn, folder)?;
    Ok(())
}

/// Whether the folder says that it is a worktree of this repository.
pub(super) fn is_ours(repository: &Repository, folder: &Path) -> bool {
    let Ok(pointer) = super::super::admin::read_small(&folder.join(".git")) else { return false };
    let Some(own) = pointer.trim_end().strip_prefix("gitdir: ") else { return false };
    Path::new(own).parent() == Some(&repository.common().join("worktrees"))
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
