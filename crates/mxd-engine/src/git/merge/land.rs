//! Moving the target to the merge, together with the checkout that has it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::super::changes::{Detail, names};
use super::super::errand::{Errand, Ran};
use super::super::error::GitError;
use super::super::lane::Turn;
use super::super::limits;
use super::super::names::{Branch, ObjectId};
use super::super::refs::{RefError, Swap};
use super::super::repository::{Checkout, Holder, Place, Repository};
use super::super::run::Call;
use super::{Blocked, Ends, MergeError, Request};

/// What became of the target.
pub(in crate::git) enum Landed {
    /// It moved, and this checkout with it.
    Moved(Option<PathBuf>),
    /// Somebody else moved it first.
    Overtaken,
    /// A checkout is in the way.
    Blocked(Blocked),
}

/// A target that is to move.
struct Step<'a> {
    branch: &'a Branch,
    from: &'a ObjectId,
    to: &'a ObjectId,
}

/// The merge that is about to land, so that a crash between files and branch can be made good.
fn pending_name(from: &Branch) -> String {
    format!("refs/mxd/merge/{from}")
}

/// Moves the target if it still stands where it did.
pub(super) async fn land<R, F>(
    repository: &Repository,
    request: &Request,
    (from, to): (&ObjectId, &ObjectId),
    run: &R,
) -> Result<Landed, MergeError>
where
    R: Fn(Errand) -> F,
    F: Future<Output = io::Result<Ran>>,
{
    let step = Step { branch: &request.into, from, to };
    let turn = repository.turn().await;
    let mut holders = repository.holders(&request.into).await?;
    if holders.len() > 1 {
        return Ok(Landed::Blocked(Blocked::Several {
            folders: holders.into_iter().map(folder_of).collect(),
        }));
    }
    let checkout = match holders.pop() {
        None => return move_branch(repository, &turn, &step, None).await,
        // Whoever runs in that worktree could lead our git astray while it writes. The agent's own git is confined.
        Some(Holder::Agent(folder)) => {
            drop(turn);
            return follow(repository, folder, &step, run).await;
        }
        Some(Holder::User(checkout)) => checkout,
    };
    let pending = pending_name(&request.from);
    if let Some(blocked) = obstacle(repository, &checkout, &step).await? {
        if let Blocked::Filtered { .. } = blocked {
            let before = repository.read_ref(&pending).await?;
            let swap =
                Swap { name: &pending, from: before.as_ref(), to: Some(to), why: "mxd: a merge by hand" };
            repository.swap_ref(&turn, swap).await?;
        }
        return Ok(Landed::Blocked(blocked));
    }
    let before = repository.read_ref(&pending).await?;
    let mark = Swap { name: &pending, from: before.as_ref(), to: Some(to), why: "mxd: a merge lands" };
    repository.swap_ref(&turn, mark).await?;
    let landed = advance(repository, &turn, &checkout, &step).await;
    let unmark = Swap { name: &pending, from: Some(to), to: None, why: "mxd: a merge landed" };
    repository.swap_ref(&turn, unmark).await?;
    landed
}

/// Moves a branch of the user's to a commit of the program's own, with its checkout. Files that the commit does not change
/// stay as they are, changed or not; git itself refuses to write over one that it does change.
pub(in crate::git) async fn land_own(
    repository: &Repository,
    branch: &Branch,
    (from, to): (&ObjectId, &ObjectId),
) -> Result<Landed, MergeError> {
    let step = Step { branch, from, to };
    let turn = repository.turn().await;
    let mut holders = repository.holders(branch).await?;
    if holders.len() > 1 {
        return Ok(Landed::Blocked(Blocked::Several {
            folders: holders.into_iter().map(folder_of).collect(),
        }));
    }
    match holders.pop() {
        None => move_branch(repository, &turn, &step, None).await,
        Some(Holder::Agent(folder)) => {
            let said = "it is the worktree of an agent".to_owned();
            Ok(Landed::Blocked(Blocked::Stuck { folder, said }))
        }
        Some(Holder::User(checkout)) => {
            if let Some(doing) = doing(&checkout.git_dir) {
                return Ok(Landed::Blocked(Blocked::Busy { folder: checkout.folder, doing }));
            }
            advance(repository, &turn, &checkout, &step).await
        }
    }
}

fn folder_of(holder: Holder) -> PathBuf {
    match holder {
        Holder::User(checkout) => checkout.folder,
        Holder::Agent(folder) => folder,
    }
}

async fn move_branch(
    repository: &Repository,
    turn: &Turn<'_>,
    step: &Step<'_>,
    followed: Option<PathBuf>,
) -> Result<Landed, MergeError> {
    let name = step.branch.refname();
    let swap = Swap { name: &name, from: Some(step.from), to: Some(step.to), why: "mxd: merge" };
    match repository.swap_ref(turn, swap).await {
        Ok(()) => Ok(Landed::Moved(followed)),
        Err(RefError::Moved { .. }) => Ok(Landed::Overtaken),
        Err(error) => Err(error.into()),
    }
}

/// Has an agent's own git take the merge over, and looks whether it did.
async fn follow<R, F>(
    repository: &Repository,
    folder: PathBuf,
    step: &Step<'_>,
    run: &R,
) -> Result<Landed, MergeError>
where
    R: Fn(Errand) -> F,
    F: Future<Output = io::Result<Ran>>,
{
    let command = ["git", "merge", "--ff-only", "--no-autostash", "--no-stat", step.to.as_str()];
    let errand = Errand {
        purpose: Errand::FOLLOW,
        command: command.iter().map(Into::into).collect(),
        folder: folder.clone(),
        time: limits::FOLLOW,
    };
    let ran = run(errand).await.map_err(MergeError::NotFollowed)?;
    repository.import_branch(step.branch).await?;
    match repository.branch(step.branch).await? {
        Some(at) if at == *step.to => Ok(Landed::Moved(Some(folder))),
        Some(at) if at == *step.from => {
            Ok(Landed::Blocked(Blocked::Stuck { folder, said: ran.output.trim().to_owned() }))
        }
        _ => Ok(Landed::Overtaken),
    }
}

/// What keeps the user's checkout from following.
async fn obstacle(
    repository: &Repository,
    checkout: &Checkout,
    step: &Step<'_>,
) -> Result<Option<Blocked>, MergeError> {
    let folder = || checkout.folder.clone();
    if let Some(doing) = doing(&checkout.git_dir) {
        return Ok(Some(Blocked::Busy { folder: folder(), doing }));
    }
    // Git carries changes of other files over, so only those that the merge would write over are in its way.
    let merged = changed_files(repository, step.from, step.to).await?;
    let mut changes = repository.changes(Place::Checkout(checkout), Detail::Tracked).await?;
    changes.retain(|change| merged.contains(&change.path));
    if !changes.is_empty() {
        return Ok(Some(Blocked::Dirty { folder: folder(), files: names(changes.iter()) }));
    }
    let files = repository.filtered_changes(step.from, step.to).await?;
    if files.count > 0 {
        return Ok(Some(Blocked::Filtered { folder: folder(), files, commit: step.to.clone() }));
    }
    Ok(None)
}

fn doing(git_dir: &Path) -> Option<&'static str> {
    const SIGNS: &[(&str, &str)] = &[
        ("MERGE_HEAD", "a merge"),
        ("rebase-merge", "a rebase"),
        ("rebase-apply", "a rebase"),
        ("CHERRY_PICK_HEAD", "a cherry-pick"),
        ("REVERT_HEAD", "a revert"),
        ("BISECT_LOG", "a bisection"),
    ];
    SIGNS.iter().find(|(name, _)| git_dir.join(name).exists()).map(|(_, doing)| *doing)
}

/// The files that the step changes, also those that it removes.
async fn changed_files(
    repository: &Repository,
    from: &ObjectId,
    to: &ObjectId,
) -> Result<BTreeSet<PathBuf>, MergeError> {
    let diff = Call::new(["diff-tree", "-r", "-z", "--name-only", "--no-renames"]);
    let changed = repository.ask(Place::Store, diff.args([from.as_str(), to.as_str()])).await?;
    Ok(changed.parts().map(|path| PathBuf::from(OsStr::from_bytes(path))).collect())
}

/// Brings the user's checkout and then its branch to the merge. Git itself refuses to write over a file that changed
/// or that it does not know.
async fn advance(
    repository: &Repository,
    turn: &Turn<'_>,
    checkout: &Checkout,
    step: &Step<'_>,
) -> Result<Landed, MergeError> {
    let go =
        |from: &ObjectId, to: &ObjectId| Call::new(["read-tree", "-m", "-u", from.as_str(), to.as_str()]);
    // The branch may have moved since the merge was made; the files must not.
    if repository.branch(step.branch).await?.as_ref() != Some(step.from) {
        return Ok(Landed::Overtaken);
    }
    let place = Place::Checkout(checkout);
    let refresh = Call::new(["update-index", "-q", "--refresh"]).accepts(&[1, 128]);
    repository.ask(place, refresh).await?;
    match repository.change(turn, place, go(step.from, step.to)).await {
        Ok(_) => {}
        Err(GitError::Failed { said, .. } | GitError::Locked { said, .. }) => {
            return Ok(Landed::Blocked(Blocked::Stuck { folder: checkout.folder.clone(), said }));
        }
        Err(error) => return Err(error.into()),
    }
    let landed = move_branch(repository, turn, step, Some(checkout.folder.clone())).await;
    if !matches!(landed, Ok(Landed::Moved(_))) {
        repository.change(turn, place, go(step.to, step.from)).await?;
    }
    landed
}

/// Whether the index of a checkout has every file of the merge. Other files may have changes of the user's.
async fn has_landed(
    repository: &Repository,
    checkout: &Checkout,
    (from, to): (&ObjectId, &ObjectId),
) -> Result<bool, MergeError> {
    let merged = changed_files(repository, from, to).await?;
    let diff = Call::new(["diff-index", "--cached", "-z", "--name-only", "--no-renames", to.as_str()]);
    let differs = repository.ask(Place::Checkout(checkout), diff).await?;
    Ok(!differs.parts().any(|path| merged.contains(Path::new(OsStr::from_bytes(path)))))
}

/// Makes good what a crash left: the files of the user's checkout are at the merge, and its branch is not.
pub(super) async fn recover(
    repository: &Repository,
    request: &Request,
    ends: &Ends,
) -> Result<(), MergeError> {
    let name = pending_name(&request.from);
    let Some(pending) = repository.read_ref(&name).await? else { return Ok(()) };
    let turn = repository.turn().await;
    let before = Call::new(["rev-parse", "-q", "--verify", &format!("{pending}^1")]).accepts(&[1]);
    let before: Option<ObjectId> = repository.ask(Place::Store, before).await?.line().parse().ok();
    for holder in repository.holders(&request.into).await? {
        let Holder::User(checkout) = holder else { continue };
        if before.as_ref() == Some(&ends.into)
            && has_landed(repository, &checkout, (&ends.into, &pending)).await?
        {
            let step = Step { branch: &request.into, from: &ends.into, to: &pending };
            move_branch(repository, &turn, &step, None).await?;
        }
    }
    let unmark = Swap { name: &name, from: Some(&pending), to: None, why: "mxd: a merge was finished" };
    Ok(repository.swap_ref(&turn, unmark).await?)
}
