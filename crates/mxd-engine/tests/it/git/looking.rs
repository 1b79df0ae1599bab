//! Status, differences, the git program itself, and the example of a set-up script.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

use mxd_engine::git::init::{self, Example};
use mxd_engine::git::merge::Stat;
use mxd_engine::git::{Branch, GitError, OpenError, Repository, Stands, diff, status, worktree};
use proptest::prelude::*;

use super::yard::{Yard, write};

#[tokio::test]
async fn a_status_says_how_branch_and_base_went_apart() {
    let yard = Yard::new();
    let worktree = yard.create(1).await.worktree;
    let repository = yard.repository().await;
    let fresh = status(&repository, &worktree).await.unwrap();
    assert_eq!((fresh.head.as_ref(), &fresh.stands), (Some(&worktree.base), &Stands::OnItsBranch));
    assert_eq!((fresh.base.ahead, fresh.base.behind, fresh.dirty.count), (0, 0, 0));
    let head = yard.commit(&worktree, "one.txt", "1\n2\n");
    yard.commit(&worktree, "two.txt", "1\n");
    yard.write("repo/file.txt", "moved\n");
    yard.user("commit -qam moved");
    write(&worktree.folder.join("file.txt"), "dirty\n");
    write(&worktree.folder.join("untracked"), "x\n");
    write(&worktree.folder.join("ignored.log"), "x\n");
    let later = status(&repository, &worktree).await.unwrap();
    assert_eq!((later.base.ahead, later.base.behind), (2, 1));
    assert_eq!(later.base.now.unwrap().as_str(), yard.user("rev-parse main"));
    assert_eq!(later.stat, Stat { files: 2, insertions: 3, deletions: 0 });
    assert_eq!(later.dirty.first, ["file.txt", "untracked"]);
    assert_eq!(later.tree.unwrap().as_str(), yard.user(&format!("rev-parse {}^{{tree}}", worktree.branch)));
    yard.git_in(&worktree.folder, &format!("checkout -q --force --detach {head}"));
    let detached = status(&repository, &worktree).await.unwrap();
    assert_eq!(detached.stands, Stands::Detached(head.parse().unwrap()));
    assert_eq!(detached.dirty.first, ["untracked"]);
    assert_eq!(worktree::list(&repository).unwrap(), [worktree]);
}

#[tokio::test]
async fn a_branch_or_a_base_that_is_gone_is_told() {
    let yard = Yard::new();
    let worktree = yard.create(1).await.worktree;
    yard.git_in(&worktree.folder, &format!("checkout -q --detach ; branch -D {}", worktree.branch));
    yard.user("checkout -q -b other ; branch -D main");
    let looked = status(&yard.repository().await, &worktree).await.unwrap();
    assert_eq!((looked.head, looked.base.now), (None, None));
}

#[tokio::test]
async fn a_difference_is_cut_where_asked() {
    let yard = Yard::new();
    let worktree = yard.create(1).await.worktree;
    let head = yard.commit(&worktree, "long.txt", &"line\n".repeat(10_000)).parse().unwrap();
    let repository = yard.repository().await;
    assert_eq!(status(&repository, &worktree).await.unwrap().head.as_ref(), Some(&head));
    let whole = diff(&repository, (&worktree.base, &head), 1 << 20).await.unwrap();
    assert!(!whole.cut && whole.text.contains("+++ b/long.txt"), "{}", whole.text.len());
    let part = diff(&repository, (&worktree.base, &head), 1000).await.unwrap();
    assert_eq!((part.cut, part.text.as_str()), (true, &whole.text[..1000]));
}

/// A git that is a script.
async fn opened_with(yard: &Yard, script: &str) -> Result<Repository, OpenError> {
    let path = yard.at("scripted");
    write(&path, &format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    Repository::open(
        yard.git().program(path).time(Duration::from_millis(500)),
        yard.lanes(),
        &yard.at("repo"),
    )
    .await
}

#[tokio::test]
async fn a_git_that_is_missing_old_loud_or_slow_is_told() {
    let yard = Yard::new();
    let missing = Repository::open(yard.git().program("/no/such/git"), yard.lanes(), &yard.at("repo")).await;
    assert!(matches!(missing, Err(OpenError::Git(GitError::Start { .. }))), "{missing:?}");
    let old = opened_with(&yard, "echo git version 2.30.1").await;
    assert!(matches!(old, Err(OpenError::Git(GitError::TooOld { .. }))), "{old:?}");
    let loud = opened_with(&yard, "cat /dev/zero | head -c 100000000").await;
    assert!(
        matches!(loud, Err(OpenError::Git(GitError::TooMuch { .. } | GitError::TimedOut { .. }))),
        "{loud:?}"
    );
    let mark = yard.at("child");
    let slow =
        opened_with(&yard, &format!("cat /dev/zero > /dev/null & echo $! > '{}'; wait", mark.display()))
            .await;
    assert!(matches!(slow, Err(OpenError::Git(GitError::TimedOut { .. }))), "{slow:?}");
    let child = yard.read("child");
    let state = Command::new("ps").args(["-o", "stat=", "-p", child.trim()]).output().unwrap();
    let state = String::from_utf8_lossy(&state.stdout).into_owned();
    assert!(state.is_empty() || state.starts_with('Z'), "what it started ended with it: {state}");
}

#[tokio::test]
async fn nothing_of_git_is_inherited() {
    let yard = Yard::new();
    let seen = yard.at("seen");
    let _ = opened_with(&yard, &format!("env > '{}'; echo git version 1.0", seen.display())).await;
    let seen = yard.read("seen");
    let names: Vec<_> = seen.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    for name in ["GIT_CONFIG_COUNT", "GIT_TERMINAL_PROMPT", "LC_ALL", "PATH", "HOME"] {
        assert!(names.contains(&name), "{name}");
    }
    for name in ["CARGO_PKG_NAME", "CARGO_MANIFEST_DIR", "GIT_DIR", "GIT_AUTHOR_NAME"] {
        assert!(!names.contains(&name), "{name}");
    }
}

#[test]
fn a_project_is_recognised_by_its_files() {
    let cases: &[(&[&str], &[&str])] = &[
        (&[], &[]),
        (&["Cargo.toml"], &["cargo"]),
        (&["package.json"], &["npm"]),
        (&["package.json", "package-lock.json"], &["npm"]),
        (&["package.json", "pnpm-lock.yaml"], &["pnpm"]),
        (&["package.json", "yarn.lock"], &["yarn"]),
        (&["package.json", "bun.lock"], &["bun"]),
        (&["requirements.txt"], &["pip"]),
        (&["pyproject.toml", "uv.lock"], &["uv"]),
        (&["go.mod"], &["go"]),
        (&["pom.xml"], &["maven"]),
        (&["build.gradle.kts", "gradlew"], &["gradle"]),
        (&["Gemfile", "Gemfile.lock"], &["bundler"]),
        (&["pyproject.toml", "poetry.lock"], &["poetry"]),
        (&["Cargo.toml", "package.json", "go.mod"], &["cargo", "npm", "go"]),
    ];
    for (files, kits) in cases {
        let folder = tempfile::tempdir().unwrap();
        files.iter().for_each(|file| write(&folder.path().join(file), ""));
        assert_eq!(init::detect(folder.path()), *kits, "{files:?}");
        let path = folder.path().join(init::EXAMPLE);
        let written = init::write_example(folder.path()).unwrap();
        assert_eq!(written, Example::Written { path: path.clone(), kits: kits.to_vec() });
        let checked = Command::new("bash").arg("-n").arg(&path).status().unwrap();
        assert!(checked.success(), "{}", fs::read_to_string(&path).unwrap());
        write(&path, "mine\n");
        assert_eq!(init::write_example(folder.path()).unwrap(), Example::Kept { path: path.clone() });
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine\n");
    }
}

#[test]
fn the_example_is_not_written_through_a_link() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::os::unix::fs::symlink(elsewhere.path(), folder.path().join(".mxd")).unwrap();
    assert!(init::write_example(folder.path()).is_err());
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn branch_names_are_those_that_git_takes(name in "(mxd/)?[-a-z./@{ ~^:?*\\[\\\\é\u{7f}]{0,12}(\\.lock)?") {
        let git = Command::new("git").args(["check-ref-format", "--branch", &name]).output().unwrap();
        // Git takes this one for `HEAD`; for us it is no name.
        let taken = git.status.success() && name != "@";
        prop_assert_eq!(name.parse::<Branch>().is_ok(), taken, "{:?}", name);
    }
}
