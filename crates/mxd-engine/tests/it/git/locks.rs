//! Locks that git left when it was killed.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use mxd_engine::git::worktree::release_locks;

use super::yard::{Yard, write};

#[tokio::test]
async fn locks_of_the_dead_are_removed_and_work_goes_on() {
    let yard = Yard::new();
    let worktree = yard.create(1).await.worktree;
    let repository = yard.repository().await;
    let branch = yard.at(&format!("repo/.git/refs/heads/{}", worktree.branch.as_str()));
    let left = [
        worktree.own.join("index.lock"),
        worktree.own.join("HEAD.lock"),
        branch.with_extension("lock"),
        yard.private(&worktree).join("packed-refs.lock"),
    ];
    left.iter().for_each(|lock| write(lock, ""));
    let mut gone = release_locks(&repository, &worktree).await.unwrap();
    gone.sort();
    let mut left = left.to_vec();
    left.sort();
    assert_eq!(gone, left);
    yard.commit(&worktree, "after.txt", "it goes on");
    assert_eq!(release_locks(&repository, &worktree).await.unwrap(), Vec::<std::path::PathBuf>::new());
}

#[tokio::test]
async fn locks_stay_where_somebody_lives() {
    let yard = Yard::new();
    let worktree = yard.create(1).await.worktree;
    let repository = yard.repository().await;
    write(&worktree.own.join("index.lock"), "");
    let mut living = Command::new("cat").current_dir(&worktree.folder).stdin(Stdio::piped()).spawn().unwrap();
    assert_eq!(release_locks(&repository, &worktree).await.unwrap(), Vec::<std::path::PathBuf>::new());
    drop(living.stdin.take());
    living.wait().unwrap();
    assert_eq!(release_locks(&repository, &worktree).await.unwrap().len(), 1);
}

#[tokio::test]
async fn links_and_folders_that_are_called_locks_are_left_alone() {
    let yard = Yard::new();
    let worktree = yard.create(1).await.worktree;
    let repository = yard.repository().await;
    yard.write("precious.lock", "keep me");
    symlink(yard.at("precious.lock"), worktree.own.join("index.lock")).unwrap();
    fs::create_dir(worktree.own.join("folder.lock")).unwrap();
    assert_eq!(release_locks(&repository, &worktree).await.unwrap(), Vec::<std::path::PathBuf>::new());
    assert_eq!(yard.read("precious.lock"), "keep me");
    assert!(worktree.own.join("index.lock").exists() && worktree.own.join("folder.lock").exists());
}
