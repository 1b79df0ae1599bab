//! Every moment in which the daemon looks at a worktree.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use mxd_engine::git::merge;
use mxd_engine::git::worktree::{self, Base, Request};
use mxd_engine::git::{Lanes, Repository, diff, grave, review, status};

use super::super::remove::removal;
use super::super::yard::{inspector, nobody};
use super::ground::{Ground, SECRET};

/// How long a git may take for a worktree that is attacked. Pipes make it wait for ever, and whether it ends by itself is not
/// what is tried here.
const TIME: Duration = Duration::from_secs(3);

/// How long it may take for a worktree that is not.
const TIME_OF_OTHERS: Duration = Duration::from_secs(120);

/// How long all of a moment may take. It has several gits.
const PATIENCE: Duration = Duration::from_secs(120);

/// Plays all moments; nothing may run outside, nothing may be shown, and others go on.
pub(super) async fn all(ground: &Ground) {
    let time = if ground.names.len() == 1 { TIME } else { TIME_OF_OTHERS };
    let repository = restarted(ground, time).await;
    looks(ground, &repository).await;
    merges(ground, &repository).await;
    starts_from_it(ground, &repository).await;
    let repository = restarted(ground, time).await;
    comes_back(ground, &repository).await;
    others_go_on(ground, &restarted(ground, TIME_OF_OTHERS).await).await;
    leaves(ground, &repository).await;
    let objects =
        ground.yard.command(&ground.yard.at("repo"), &["cat-file", "--batch-all-objects", "--batch"]);
    let objects = { objects }.output().unwrap().stdout;
    assert!(!contains(&objects, SECRET), "{:?}: a secret is in the repository", ground.names);
}

async fn restarted(ground: &Ground, time: Duration) -> Repository {
    let git = ground.yard.git().time(time);
    let lanes: Arc<Lanes> = Lanes::new();
    let repository = Repository::open(git, &lanes, &ground.yard.at("repo")).await.unwrap();
    repository.inspected_by(inspector().await)
}

/// Something that the daemon does. It may fail with one clear sentence.
async fn moment<T: std::fmt::Debug, E: std::fmt::Display>(
    ground: &Ground,
    name: &str,
    doing: impl Future<Output = Result<T, E>>,
) -> Result<T, String> {
    let ended = tokio::time::timeout(PATIENCE, doing).await;
    let ended = ended.unwrap_or_else(|_| panic!("{:?}: {name} does not end", ground.names));
    let said = match &ended {
        Ok(done) => format!("{done:?}"),
        Err(error) => error.to_string(),
    };
    assert!(!said.trim().is_empty(), "{:?}: {name} says nothing", ground.names);
    assert!(!said.contains(SECRET), "{:?}: {name} shows what stands outside: {said}", ground.names);
    let ran = ground.markers();
    assert!(ran.is_empty(), "{name} ran a program outside: {ran:?}");
    ended.map_err(|_| said)
}

/// An agent comes to rest; the user looks at its work; it says that it is done.
async fn looks(ground: &Ground, repository: &Repository) {
    let worktree = &ground.worktree;
    let looked = moment(ground, "rest", review(repository, worktree)).await;
    // One that stops git would hide the others.
    if let Err(said) = looked {
        assert_eq!(ground.names.len(), 1, "nothing of the group was tried: {said}");
    }
    let status = moment(ground, "done", status(repository, worktree)).await;
    if let Some(head) = status.ok().and_then(|status| status.head) {
        let _may_fail = moment(ground, "diff", diff(repository, (&worktree.base, &head), 1 << 20)).await;
    }
}

/// Into a branch that did not move, and into one that disagrees.
async fn merges(ground: &Ground, repository: &Repository) {
    for into in ["side", "main"] {
        let request = merge::Request { into: into.parse().unwrap(), ..ground.yard.merge(&ground.worktree) };
        let _may_fail = moment(ground, "merge", merge::merge(repository, &request, nobody)).await;
    }
}

/// A task begins with the agent's branch.
async fn starts_from_it(ground: &Ground, repository: &Repository) {
    let base = Base::Branch(ground.worktree.branch.clone());
    let request = Request { base, ..ground.yard.request(3) };
    let Ok(child) = moment(ground, "launch", worktree::create(repository, &request, nobody)).await else {
        return;
    };
    let _may_fail = moment(ground, "look at the child", status(repository, &child.worktree)).await;
    let _may_fail =
        moment(ground, "removal of the child", worktree::remove(repository, &removal(&child.worktree))).await;
}

/// What the daemon does with a worktree after a start.
async fn comes_back(ground: &Ground, repository: &Repository) {
    let worktree = &ground.worktree;
    let _may_fail = moment(ground, "locks", worktree::release_locks(repository, worktree)).await;
    let _may_fail = moment(ground, "branches", repository.refresh_given(worktree)).await;
    let _may_fail =
        moment(ground, "handing out", worktree::create(repository, &ground.yard.request(1), nobody)).await;
    let _may_fail = moment(ground, "rest again", review(repository, worktree)).await;
}

/// The project is as it was for everybody else.
async fn others_go_on(ground: &Ground, repository: &Repository) {
    let other = status(repository, &ground.other).await;
    let other = other.unwrap_or_else(|error| panic!("{:?}: others are disturbed: {error}", ground.names));
    assert_eq!(other.dirty.first, ["own.txt"]);
    review(repository, &ground.other).await.unwrap();
}

/// The worktree is backed up and removed; what was kept comes back.
async fn leaves(ground: &Ground, repository: &Repository) {
    let worktree = &ground.worktree;
    let removed = moment(ground, "removal", worktree::remove(repository, &removal(worktree))).await;
    if removed.is_err() {
        return;
    }
    assert!(!worktree.folder.exists(), "{:?}", ground.names);
    let folder = ground.yard.at("restored");
    let _may_fail = moment(ground, "coming back", grave::restore(repository, worktree.task, &folder)).await;
    let outside = fs::read_to_string(ground.yard.at("home/secret")).unwrap();
    assert!(outside.contains(SECRET), "{:?}: what stands outside was changed", ground.names);
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
