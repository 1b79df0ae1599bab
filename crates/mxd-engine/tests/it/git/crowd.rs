//! Many at once: worktrees in parallel, merges into one branch, and a user who does not wait for anybody.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mxd_engine::git::merge::{self, Blocked, Outcome};
use mxd_engine::git::worktree::{self, How, Worktree};
use mxd_engine::git::{GitError, Repository, status};
use tokio::task::JoinSet;

use super::remove::{assert_gone, removal};
use super::yard::{Yard, nobody, write};
use crate::dice::Dice;
use crate::rounds::seeds;

const AT_ONCE: u128 = 32;

/// A user who commits on `main` until told to stop.
fn busy_user(yard: &Arc<Yard>, stop: &Arc<AtomicBool>) -> std::thread::JoinHandle<usize> {
    let (yard, stop) = (Arc::clone(yard), Arc::clone(stop));
    std::thread::spawn(move || {
        let mut commits = 0;
        while !stop.load(Ordering::Relaxed) {
            commits += 1;
            yard.write("repo/diary.txt", &format!("day {commits}\n"));
            yard.user("add diary.txt ; commit -qm day");
        }
        commits
    })
}

async fn create_all(yard: &Arc<Yard>, repository: &Repository) -> Vec<Worktree> {
    let mut all = JoinSet::new();
    for number in 1..=AT_ONCE {
        let (request, repository) = (yard.request(number), repository.clone());
        all.spawn(async move { worktree::create(&repository, &request, nobody).await.unwrap() });
    }
    all.join_all().await.into_iter().map(|made| made.worktree).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn worktrees_in_parallel_beside_a_busy_user_never_fail() {
    for seed in seeds(2) {
        let yard = Arc::new(Yard::new());
        let stop = Arc::new(AtomicBool::new(false));
        let user = busy_user(&yard, &stop);
        let repository = yard.repository().await;
        let worktrees = create_all(&yard, &repository).await;
        let mut dice = Dice::new(seed);
        for worktree in &worktrees {
            if dice.below(2) == 0 {
                write(&worktree.folder.join("note"), &format!("{}\n", worktree.task));
            }
        }
        let mut all = JoinSet::new();
        for worktree in worktrees.clone() {
            let repository = repository.clone();
            all.spawn(async move {
                status(&repository, &worktree).await.unwrap();
                worktree::remove(&repository, &removal(&worktree)).await.unwrap()
            });
        }
        all.join_all().await;
        stop.store(true, Ordering::Relaxed);
        let days = user.join().unwrap();
        assert_eq!(yard.user("rev-list --count main"), (days + 1).to_string(), "seed {seed}");
        for worktree in &worktrees {
            assert_gone(&yard, worktree);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_who_ask_for_one_worktree_get_one() {
    let yard = Arc::new(Yard::new());
    let repository = yard.repository().await;
    let mut all = JoinSet::new();
    for _ in 0..8 {
        let (request, repository) = (yard.request(1), repository.clone());
        all.spawn(async move { worktree::create(&repository, &request, nobody).await.unwrap() });
    }
    let all = all.join_all().await;
    assert_eq!(all.iter().filter(|made| made.how == How::Made).count(), 1);
    assert!(all.iter().all(|made| made.worktree == all[0].worktree));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn merges_into_one_branch_are_all_there_or_told() {
    for checked_out in ["main", "another"] {
        merges_into_main(checked_out).await;
    }
}

async fn merges_into_main(checked_out: &str) {
    let yard = Arc::new(Yard::new());
    yard.user(&format!("checkout -q -B {checked_out}"));
    let repository = yard.repository().await;
    let mut worktrees = Vec::new();
    for number in 1..=6 {
        let worktree = worktree::create(&repository, &yard.request(number), nobody).await.unwrap().worktree;
        yard.commit(&worktree, &format!("part-{number}.txt"), "part\n");
        worktrees.push(worktree);
    }
    let mut all = JoinSet::new();
    for worktree in &worktrees {
        let (request, repository) = (yard.merge(worktree), repository.clone());
        all.spawn(async move {
            let mut told = 0;
            loop {
                match merge::merge(&repository, &request, nobody).await.unwrap() {
                    Outcome::Merged(_) => return told,
                    Outcome::Overtaken { .. } => told += 1,
                    other => panic!("{other:?}"),
                }
            }
        });
    }
    all.join_all().await;
    assert_eq!(yard.user("rev-list --count --merges main"), "6");
    assert_eq!(yard.user("ls-tree --name-only main").matches("part-").count(), 6);
    assert_eq!(yard.user("status --porcelain"), "");
    for worktree in &worktrees {
        yard.user(&format!("merge-base --is-ancestor {} main", worktree.branch));
    }
}

/// A git that does something at its n-th `read-tree -m -u` of the user's checkout.
async fn meddling(yard: &Yard, script: &str) -> Repository {
    let folder = yard.at("meddler");
    let text =
        format!("#!/bin/sh\nif [ \"$2 $3 $4\" = 'read-tree -m -u' ]; then\n{script}\nfi\nexec git \"$@\"\n");
    write(&folder.join("git"), &text);
    fs::set_permissions(folder.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    yard.repository_with(yard.git().program(folder.join("git"))).await
}

#[tokio::test]
async fn a_lock_that_goes_away_is_waited_for() {
    let yard = Yard::new();
    let worktree = yard.create(1).await.worktree;
    yard.commit(&worktree, "new.txt", "new\n");
    yard.write("repo/.git/index.lock", "");
    let tries = yard.at("tries");
    let lock = yard.at("repo/.git/index.lock");
    let script = format!(
        "echo x >> '{}'; if [ $(wc -l < '{0}') = 4 ]; then rm '{}'; fi",
        tries.display(),
        lock.display()
    );
    let repository = meddling(&yard, &script).await;
    let ended = merge::merge(&repository, &yard.merge(&worktree), nobody).await.unwrap();
    assert!(matches!(ended, Outcome::Merged(_)), "{ended:?}");
    assert_eq!(yard.read("tries"), "x\n".repeat(4));
}

#[tokio::test]
async fn a_lock_that_stays_is_told_and_nothing_moves() {
    let yard = Yard::new();
    let worktree = yard.create(1).await.worktree;
    yard.commit(&worktree, "new.txt", "new\n");
    let main = yard.user("rev-parse main");
    yard.write("repo/.git/index.lock", "");
    let ended = merge::merge(&yard.repository().await, &yard.merge(&worktree), nobody).await.unwrap();
    let Outcome::Blocked(Blocked::Stuck { said, .. }) = &ended else { panic!("{ended:?}") };
    assert!(said.contains("index.lock"), "{said}");
    assert_eq!(yard.user("rev-parse main"), main);
    assert!(yard.at("repo/.git/index.lock").exists(), "it is not ours to remove");
    yard.write("repo/.git/config.lock", "");
    let refused = worktree::create(&yard.repository().await, &yard.request(2), nobody).await;
    let stuck = matches!(&refused, Err(worktree::CreateError::Git(GitError::Locked { .. })));
    assert!(stuck || refused.is_ok(), "{refused:?}");
}

#[tokio::test]
async fn a_user_who_edits_at_the_last_moment_loses_nothing() {
    let yard = Yard::new();
    let worktree = yard.create(1).await.worktree;
    yard.commit(&worktree, "file.txt", "the agent's\n");
    let main = yard.user("rev-parse main");
    let file = yard.at("repo/file.txt");
    let repository = meddling(&yard, &format!("echo \"the user's\" > '{}'", file.display())).await;
    let ended = merge::merge(&repository, &yard.merge(&worktree), nobody).await.unwrap();
    assert!(matches!(ended, Outcome::Blocked(Blocked::Stuck { .. })), "{ended:?}");
    assert_eq!(yard.read("repo/file.txt"), "the user's\n");
    assert_eq!(yard.user("rev-parse main"), main);
}

#[tokio::test]
async fn a_user_who_commits_at_the_last_moment_loses_nothing() {
    let yard = Yard::new();
    let worktree = yard.create(1).await.worktree;
    yard.commit(&worktree, "new.txt", "new\n");
    let commit = "test -f 'REPO/user.txt' || (unset $(env | grep -o '^GIT_[A-Z_0-9]*'); cd 'REPO' && echo x > user.txt && git add user.txt && git commit -qm user)";
    let repository = meddling(&yard, &commit.replace("REPO", &yard.at("repo").display().to_string())).await;
    let ended = merge::merge(&repository, &yard.merge(&worktree), nobody).await.unwrap();
    assert!(matches!(ended, Outcome::Overtaken { .. } | Outcome::Blocked(_)), "{ended:?}");
    assert_eq!(yard.user("log --format=%s main"), "user\nstart");
    assert_eq!(yard.read("repo/user.txt"), "x\n");
    assert_eq!(yard.user("status --porcelain"), "");
}
