//! A merge that was made and not told: found again by what it joined.

use super::super::limits;
use super::super::names::ObjectId;
use super::super::repository::{Holder, Place, Repository};
use super::super::run::Call;
use super::{Ends, MergeError, Merged, Request, ends};

/// Merges of the target that are looked at, the newest first. What was cut off is among the last ones.
const MERGES_LOOKED_AT: &str = "--max-count=1000";

/// The merge commit of the target that joined the branch as it stands, if there is one.
///
/// # Errors
///
/// When a branch is not there, or git fails.
pub async fn find_made(repository: &Repository, request: &Request) -> Result<Option<Merged>, MergeError> {
    let Ends { from, into } = ends(repository, request).await?;
    let list = Call::new(["rev-list", "--first-parent", "--merges", "--parents", MERGES_LOOKED_AT]);
    let answer = repository.ask(Place::Store, list.arg(into.as_str())).await?;
    let made = answer.text().lines().find_map(|line| {
        let ids: Vec<ObjectId> = line.split(' ').filter_map(|id| id.parse().ok()).collect();
        match &ids[..] {
            [commit, before, joined] if *joined == from => Some((commit.clone(), before.clone())),
            _ => None,
        }
    });
    let Some((commit, before)) = made else { return Ok(None) };
    let (files, stat) = repository.stat(&before, &commit, limits::MERGE_FILES).await?;
    let followed = repository.holders(&request.into).await?.pop().map(|holder| match holder {
        Holder::User(checkout) => checkout.folder,
        Holder::Agent(folder) => folder,
    });
    let tree = repository.tree(&commit).await?;
    Ok(Some(Merged { commit, tree, from: before, files, stat, check: None, followed }))
}
