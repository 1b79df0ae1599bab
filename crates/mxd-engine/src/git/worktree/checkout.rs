//! Files of a commit in a new worktree, and the settings that belong to that worktree.

use std::path::{Path, PathBuf};

use super::super::admin;
use super::super::error::GitError;
use super::super::files::remove_tree;
use super::super::inspect::Files;
use super::super::lane::Turn;
use super::super::names::ObjectId;
use super::super::record;
use super::super::repository::{Place, Repository};
use super::super::run::Call;

/// How the new worktree is attached.
#[derive(Debug, Clone, Copy)]
pub(super) enum Attach<'a> {
    /// To a new branch at a commit.
    New { branch: &'a str, at: &'a ObjectId },
    /// To a branch that is there.
    Existing { branch: &'a str },
}

/// Has git know a worktree with no files in it yet. Returns where git keeps what is its own.
pub(super) async fn register(
    repository: &Repository,
    turn: &Turn<'_>,
    folder: &Path,
    attach: Attach<'_>,
) -> Result<PathBuf, GitError> {
    let call = Call::new(["worktree", "add", "--no-checkout", "--lock", "--reason", "in use by mxd"]);
    let call = match attach {
        // Tracking would write to the settings that all worktrees share, for nothing.
        Attach::New { branch, at } => call.args(["--no-track", "-b", branch]).arg(folder).arg(at.as_str()),
        Attach::Existing { branch } => call.arg(folder).arg(branch),
    };
    repository.change(turn, Place::Store, call).await?;
    let own = own_folder(repository, folder)?;
    silence_hooks(repository, turn, &own).await?;
    Ok(own)
}

/// The same for a commit without a branch.
pub(in super::super) async fn register_detached(
    repository: &Repository,
    turn: &Turn<'_>,
    folder: &Path,
    commit: &ObjectId,
) -> Result<PathBuf, GitError> {
    let call =
        Call::new(["worktree", "add", "--no-checkout", "--detach", "--lock", "--reason", "a merge of mxd"]);
    repository.change(turn, Place::Store, call.arg(folder).arg(commit.as_str())).await?;
    let own = own_folder(repository, folder)?;
    record::mark_scratch(repository.common(), &own, folder)?;
    silence_hooks(repository, turn, &own).await?;
    Ok(own)
}

/// Where git keeps what belongs to a worktree that it just made. Its file says so, and nobody else was in there yet;
/// the notes in the other direction can be an agent's.
pub(super) fn own_folder(repository: &Repository, folder: &Path) -> Result<PathBuf, GitError> {
    let pointer = folder.join(".git");
    let text = admin::read_small(&pointer).map_err(GitError::file("read", &pointer))?;
    let own = text.trim_end_matches('\n').strip_prefix("gitdir: ").map(PathBuf::from);
    let ours = |own: &PathBuf| own.parent() == Some(&repository.common().join("worktrees"));
    own.filter(ours).ok_or(GitError::Tampered { path: pointer, what: "leading elsewhere" })
}

/// Puts the files of a commit into a registered worktree that has none.
pub(in super::super) async fn fill(
    repository: &Repository,
    folder: &Path,
    own: &Path,
    commit: &ObjectId,
) -> Result<(), GitError> {
    let call = Call::new(["read-tree", "-m", "-u", commit.as_str()]);
    let inspected = repository.inspect(folder, &own.join("index"), Files::Write).await?;
    repository.ask(Place::Files(&inspected), call).await?;
    Ok(())
}

/// An agent's commits do not run the hooks of the user's checkout, also when the agent is the user in a terminal.
async fn silence_hooks(repository: &Repository, turn: &Turn<'_>, own: &Path) -> Result<(), GitError> {
    allow_own_settings(repository, turn).await?;
    let file = own.join("config.worktree");
    let call = Call::new(["config", "--file"]).arg(&file).args(["core.hooksPath", "/dev/null"]);
    repository.change(turn, Place::Store, call).await?;
    Ok(())
}

/// Lets worktrees have settings of their own. Two settings of the first checkout would then apply to all and have to
/// move to its own file, as git's manual says. Looked at each time, so that a crash in the middle is made good.
async fn allow_own_settings(repository: &Repository, turn: &Turn<'_>) -> Result<(), GitError> {
    const KEYS: &str = r"^(extensions\.worktreeconfig|core\.bare|core\.worktree)$";
    let (shared, first) = (repository.common().join("config"), repository.common().join("config.worktree"));
    let ask =
        Call::new(["config", "--file"]).arg(&shared).args(["--null", "--get-regexp", KEYS]).accepts(&[1]);
    let answer = repository.ask(Place::Store, ask).await?;
    let mut allowed = false;
    let mut moving = Vec::new();
    for setting in answer.parts() {
        let setting = String::from_utf8_lossy(setting);
        let (key, value) = setting.split_once('\n').unwrap_or((&setting, "true"));
        match key {
            "extensions.worktreeconfig" => allowed = is_true(value),
            "core.bare" if !is_true(value) => {}
            _ => moving.push((key.to_owned(), value.to_owned())),
        }
    }
    for (key, value) in &moving {
        let keep = Call::new(["config", "--file"]).arg(&first).args([key, value]);
        repository.change(turn, Place::Store, keep).await?;
    }
    if !allowed {
        let allow = Call::new(["config", "--file"]).arg(&shared).args(["extensions.worktreeConfig", "true"]);
        repository.change(turn, Place::Store, allow).await?;
    }
    for (key, _) in &moving {
        let take = Call::new(["config", "--file"]).arg(&shared).args(["--unset-all", key]);
        repository.change(turn, Place::Store, take).await?;
    }
    Ok(())
}

fn is_true(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1")
}

/// Has git forget a worktree whose files are gone or ours to remove. Its own command would believe files that an agent
/// may have changed, and the general one would also forget worktrees of the user that are on a disk in a drawer.
pub(in super::super) fn unregister(
    repository: &Repository,
    _: &Turn<'_>,
    folder: &Path,
) -> Result<(), GitError> {
    let said = admin::entries(repository.common())?.into_iter();
    let said = said.filter(|entry| entry.folder.as_deref() == Some(folder)).map(|entry| entry.own);
    for own in said.chain(record::unmark_scratch(repository.common(), folder)) {
        remove_tree(&own).map_err(GitError::file("remove", &own))?;
    }
    Ok(())
}
