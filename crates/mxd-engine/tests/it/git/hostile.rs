//! Repositories and worktrees that try to have the daemon's git run something, or lead it elsewhere.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;

use mxd_engine::git::merge::{self, Outcome};
use mxd_engine::git::worktree::{self, CreateError, Worktree};
use mxd_engine::git::{GitError, RefError, Repository, diff, review, status};

use super::remove::removal;
use super::yard::{Yard, nobody, write};

/// A yard in which every program that git could run leaves a mark.
struct Trapped {
    yard: Yard,
    canary: PathBuf,
}

const HOOKS: &[&str] = &[
    "post-checkout",
    "pre-commit",
    "post-commit",
    "pre-merge-commit",
    "post-merge",
    "reference-transaction",
    "post-index-change",
    "prepare-commit-msg",
    "commit-msg",
    "post-rewrite",
    "update",
    "pre-auto-gc",
];

impl Trapped {
    fn new() -> Self {
        let yard = Yard::new();
        let canary = yard.at("canary");
        let trap = yard.at("home/trap");
        write(&trap, &format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", canary.display()));
        fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
        let trapped = Self { yard, canary };
        // What an agent commits can name drivers that the user has.
        trapped.yard.write("repo/.gitattributes", "*.txt filter=evil merge=evil diff=evil\n");
        trapped.yard.user("add . ; commit -qm attributes");
        for hook in HOOKS {
            let path = trapped.yard.at(&format!("repo/.git/hooks/{hook}"));
            fs::copy(&trap, path).unwrap();
        }
        let settings = settings(&trap.display().to_string());
        append(&trapped.yard.at("repo/.git/config"), &settings);
        trapped
    }

    fn assert_silent(&self, when: &str) {
        if let Ok(said) = fs::read_to_string(&self.canary) {
            panic!("{when}: {said}");
        }
    }
}

fn settings(trap: &str) -> String {
    let trap = format!("\\\"{trap}\\\"");
    format!(
        "[filter \"evil\"]\nclean = \"{trap} clean\"\nsmudge = \"{trap} smudge\"\nrequired = true\n\
         [filter \"a.b=c\"]\nprocess = \"{trap} process\"\n\
         [merge \"evil\"]\ndriver = \"{trap} merge\"\n[diff \"evil\"]\ncommand = \"{trap} diff\"\n\
         textconv = \"{trap} textconv\"\n[diff]\nexternal = \"{trap} external\"\n\
         [core]\nfsmonitor = \"{trap} monitor\"\nsshCommand = \"{trap} ssh\"\neditor = \"{trap} editor\"\n\
         pager = \"{trap} pager\"\naskPass = \"{trap} ask\"\nalternateRefsCommand = \"{trap} refs\"\n\
         [credential]\nhelper = \"{trap} credential\"\n[gpg]\nprogram = \"{trap} gpg\"\n[commit]\ngpgSign = true\n\
         [pager]\nstatus = \"{trap} pager\"\n[uploadpack]\npackObjectsHook = \"{trap} pack\"\n"
    )
}

fn append(path: &std::path::Path, text: &str) {
    let mut file = fs::File::options().append(true).create(true).open(path).unwrap();
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
}

/// A commit in a worktree without git's porcelain, which would run the traps.
fn commit(yard: &Yard, worktree: &Worktree, text: &str) {
    write(&worktree.folder.join("file.txt"), text);
    let quiet = [
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "filter.evil.clean=",
        "-c",
        "filter.evil.required=false",
        "-c",
        "commit.gpgSign=false",
    ];
    for args in [&["add", "."][..], &["commit", "-qm", "work"]] {
        yard.git_args(&worktree.folder, &[&quiet, args].concat());
    }
}

#[tokio::test]
async fn nothing_that_settings_hooks_or_attributes_name_is_run() {
    let trapped = Trapped::new();
    let yard = &trapped.yard;
    let _ = fs::remove_file(&trapped.canary);
    let repository = yard.repository().await;
    let one = worktree::create(&repository, &yard.request(1), nobody).await.unwrap().worktree;
    let two = worktree::create(&repository, &yard.request(2), nobody).await.unwrap().worktree;
    trapped.assert_silent("create");
    commit(yard, &one, "zero\none\ntwo\nthree\n");
    commit(yard, &two, "one\ntwo\nthree\nfour\n");
    let _ = fs::remove_file(&trapped.canary);
    for worktree in [&one, &two] {
        write(&worktree.folder.join("file.txt"), "dirty\n");
        let status = status(&repository, worktree).await.unwrap();
        diff(&repository, (&worktree.base, status.head.as_ref().unwrap()), 10_000).await.unwrap();
        trapped.assert_silent("status");
    }
    // The user's checkout would have to run a filter to follow.
    let blocked = merge::merge(&repository, &yard.merge(&one), nobody).await.unwrap();
    let Outcome::Blocked(blocked @ merge::Blocked::Filtered { .. }) = &blocked else { panic!("{blocked:?}") };
    assert!(blocked.to_string().contains("git merge --ff-only"), "{blocked}");
    yard.git_in(
        &yard.at("repo"),
        "-c core.fsmonitor=false -c core.hooksPath=/dev/null symbolic-ref HEAD refs/heads/elsewhere",
    );
    let _ = fs::remove_file(&trapped.canary);
    for worktree in [&one, &two] {
        let merged = merge::merge(&repository, &yard.merge(worktree), nobody).await.unwrap();
        assert!(matches!(merged, Outcome::Merged(_)), "{merged:?}");
        trapped.assert_silent("merge");
    }
    let text = yard.git_in(&yard.at("repo"), "cat-file blob main:file.txt");
    assert_eq!(text, "zero\none\ntwo\nthree\nfour", "both sides are in it");
    for worktree in [&one, &two] {
        worktree::remove(&repository, &removal(worktree)).await.unwrap();
        trapped.assert_silent("remove");
    }
}

#[tokio::test]
async fn settings_beside_an_agents_worktree_are_not_read() {
    let trapped = Trapped::new();
    let yard = &trapped.yard;
    let repository = yard.repository().await;
    let worktree = worktree::create(&repository, &yard.request(1), nobody).await.unwrap().worktree;
    commit(yard, &worktree, "work\n");
    let trap = yard.at("home/trap").display().to_string();
    // Whatever an agent below the top level of the sandbox can write.
    let fake = worktree.folder.join("fake");
    fs::create_dir_all(fake.join("objects")).unwrap();
    fs::create_dir_all(fake.join("refs")).unwrap();
    write(&fake.join("HEAD"), "ref: refs/heads/main\n");
    for config in [worktree.own.join("config.worktree"), fake.join("config"), worktree.own.join("config")] {
        append(&config, &settings(&trap).replace("evil", "worse"));
    }
    write(&worktree.folder.join(".gitattributes"), "* filter=worse merge=worse diff=worse\n");
    write(&worktree.own.join("commondir"), &fake.display().to_string());
    write(&worktree.folder.join("file.txt"), "dirty\n");
    let nested = worktree.folder.join("nested");
    fs::create_dir_all(&nested).unwrap();
    yard.git_in(&nested, "init -q");
    append(&nested.join(".git/config"), &settings(&trap));
    write(&nested.join(".gitattributes"), "* filter=evil\n");
    write(&nested.join("a.txt"), "a\n");
    let _ = fs::remove_file(&trapped.canary);
    status(&repository, &worktree).await.unwrap();
    trapped.assert_silent("status");
    worktree::remove(&repository, &removal(&worktree)).await.unwrap();
    trapped.assert_silent("remove");
}

#[tokio::test]
async fn a_submodule_that_an_agent_made_up_is_not_looked_into() {
    let trapped = Trapped::new();
    let yard = &trapped.yard;
    let repository = yard.repository().await;
    let worktree = worktree::create(&repository, &yard.request(1), nobody).await.unwrap().worktree;
    let nested = worktree.folder.join("nested");
    fs::create_dir_all(&nested).unwrap();
    yard.git_in(&nested, "init -q");
    write(&nested.join("a.txt"), "a\n");
    yard.git_in(&nested, "add . ; commit -qm nested");
    let id = yard.git_in(&nested, "rev-parse HEAD");
    append(&nested.join(".git/config"), &settings(&yard.at("home/trap").display().to_string()));
    write(&nested.join(".gitattributes"), "* filter=evil\n");
    let quiet =
        ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "commit.gpgSign=false"];
    let entry = format!("160000,{id},nested");
    yard.git_args(
        &worktree.folder,
        &[&quiet[..], &["update-index", "--add", "--cacheinfo", &entry]].concat(),
    );
    yard.git_args(&worktree.folder, &[&quiet[..], &["commit", "-qm", "link"]].concat());
    let _ = fs::remove_file(&trapped.canary);
    status(&repository, &worktree).await.unwrap();
    trapped.assert_silent("status");
    let refused = worktree::remove(&repository, &removal(&worktree)).await;
    assert!(matches!(refused, Err(worktree::RemoveError::Submodules { .. })), "{refused:?}");
    trapped.assert_silent("remove");
}

/// A nested repository that is dirty makes git look into it with the settings it has of its own, whatever git is told
/// about submodules. Outside of a sandbox those settings ran a program of the agent's with the user's rights.
#[tokio::test]
async fn nested_repository_with_a_filter_runs_nothing_outside_at_any_look() {
    let yard = Yard::new();
    let repository = yard.repository().await;
    let worktree = worktree::create(&repository, &yard.request(1), nobody).await.unwrap().worktree;
    let mark = yard.at("home/filter-ran");
    for (name, is_tracked) in [("tracked", true), ("untracked", false)] {
        let nested = worktree.folder.join(name);
        fs::create_dir_all(&nested).unwrap();
        yard.git_in(&nested, "init -q");
        write(&nested.join("a.txt"), "a\n");
        yard.git_in(&nested, "add . ; commit -qm nested");
        append(
            &nested.join(".git/config"),
            &format!("[filter \"evil\"]\n\tclean = \"touch '{}'; cat\"\n", mark.display()),
        );
        write(&nested.join(".gitattributes"), "* filter=evil\n");
        // As long as before, so that git has to read it through the filter to know whether it differs.
        write(&nested.join("a.txt"), "b\n");
        if is_tracked {
            let id = yard.git_in(&nested, "rev-parse HEAD");
            yard.git_args(
                &worktree.folder,
                &["update-index", "--add", "--cacheinfo", &format!("160000,{id},{name}")],
            );
            yard.git_args(&worktree.folder, &["commit", "-qm", "link"]);
        }
    }
    write(&worktree.folder.join("new.txt"), "new\n");
    let _ = fs::remove_file(&mark);
    let looked = review(&repository, &worktree).await.unwrap();
    assert!(looked.files.iter().any(|file| file.path == "new.txt"), "{looked:?}");
    assert!(!mark.exists(), "a look at what changed ran a program of the agent's");
    status(&repository, &worktree).await.unwrap();
    assert!(!mark.exists(), "the status ran a program of the agent's");
    // It stays because of the submodule, and that is found out without running anything.
    worktree::remove(&repository, &removal(&worktree)).await.unwrap_err();
    assert!(!mark.exists(), "a removal ran a program of the agent's");
}

#[tokio::test]
async fn a_worktree_that_says_it_stands_on_the_users_branch_is_not_believed() {
    let trapped = Trapped::new();
    let yard = &trapped.yard;
    let repository = yard.repository().await;
    let liar = worktree::create(&repository, &yard.request(1), nobody).await.unwrap().worktree;
    let worker = worktree::create(&repository, &yard.request(2), nobody).await.unwrap().worktree;
    commit(yard, &worker, "work\n");
    yard.git_in(
        &yard.at("repo"),
        "-c core.fsmonitor=false -c core.hooksPath=/dev/null symbolic-ref HEAD refs/heads/other",
    );
    append(&liar.own.join("config.worktree"), &settings(&yard.at("home/trap").display().to_string()));
    write(&liar.own.join("HEAD"), "ref: refs/heads/main\n");
    for place in [liar.folder.clone(), yard.at("home"), yard.at("nowhere")] {
        write(&liar.own.join("gitdir"), &format!("{}\n", place.join(".git").display()));
        let _ = fs::remove_file(&trapped.canary);
        let merged = merge::merge(&repository, &yard.merge(&worker), nobody).await.unwrap();
        let moved = matches!(&merged, Outcome::Merged(merged) if merged.followed.is_none());
        assert!(moved || matches!(merged, Outcome::AlreadyMerged { .. }), "{merged:?}");
        trapped.assert_silent("merge");
    }
    assert_eq!(fs::read_to_string(liar.folder.join("file.txt")).unwrap(), "one\ntwo\nthree\n");
    worktree::remove(&repository, &removal(&liar)).await.unwrap();
    assert!(!liar.own.exists() && !liar.folder.exists());
    assert!(yard.at("home/.gitconfig").exists());
}

#[tokio::test]
async fn nothing_of_the_daemons_environment_leads_git() {
    let yard = Yard::new();
    let elsewhere = yard.at("elsewhere");
    yard.git_args(&yard.at("home"), &["init", "-q", elsewhere.to_str().unwrap()]);
    // Only what a repository is opened with counts, and the call says where that is.
    let git = yard.git().variable("GIT_DIR_OF_NO_MEANING", "x");
    let repository = yard.repository_with(git).await;
    let made = worktree::create(&repository, &yard.request(1), nobody).await.unwrap();
    assert!(made.worktree.own.starts_with(yard.at("repo/.git/worktrees")));
}

#[tokio::test]
async fn pipes_and_links_in_place_of_gits_notes_stop_nobody_for_long() {
    let yard = Yard::new();
    let worktree = yard.create(1).await.worktree;
    let repository: Repository = yard.repository().await;
    let head = worktree.own.join("HEAD");
    fs::remove_file(&head).unwrap();
    assert!(Command::new("mkfifo").arg(&head).status().unwrap().success());
    let refused = worktree::create(&repository, &yard.request(2), nobody).await;
    assert!(matches!(refused, Err(CreateError::Git(GitError::Tampered { .. }))), "{refused:?}");
    status(&repository, &worktree).await.unwrap();
    fs::remove_file(&head).unwrap();
    symlink(yard.at("home/.gitconfig"), &head).unwrap();
    let refused = worktree::create(&repository, &yard.request(2), nobody).await;
    assert!(matches!(refused, Err(CreateError::Git(GitError::Tampered { .. }))), "{refused:?}");
    worktree::remove(&repository, &removal(&worktree)).await.unwrap();
    worktree::create(&repository, &yard.request(2), nobody).await.unwrap();
}

#[tokio::test]
async fn a_branch_that_became_a_link_is_not_merged_or_moved() {
    let yard = Yard::new();
    let worktree = yard.create(1).await.worktree;
    let repository = yard.repository().await;
    let file = yard.at("repo/.git/refs/heads").join(worktree.branch.as_str());
    let main = yard.user("rev-parse main");
    fs::remove_file(&file).unwrap();
    write(&file, "ref: refs/heads/main\n");
    let mut request = yard.merge(&worktree);
    let refused = merge::merge(&repository, &request, nobody).await;
    assert!(matches!(refused, Err(merge::MergeError::Ref(RefError::NotItsOwn { .. }))), "{refused:?}");
    fs::remove_file(&file).unwrap();
    symlink("../../main", &file).unwrap();
    std::mem::swap(&mut request.from, &mut request.into);
    let refused = merge::merge(&repository, &request, nobody).await;
    assert!(
        matches!(refused, Err(merge::MergeError::Ref(RefError::Git(GitError::Tampered { .. })))),
        "{refused:?}"
    );
    assert_eq!(yard.user("rev-parse main"), main);
}
