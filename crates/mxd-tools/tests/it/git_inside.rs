//! Git inside of the sandbox: an agent works on its own branch as if it were alone.

use mxd_tools::sandbox::Mode;

use crate::farm::{Farm, git};

const WORK: &str = "set -e
    echo one > file; git add file; git commit -qm 'add a file'
    git checkout -q -b mxd/one/side; echo side > side; git add side; git commit -qm side
    git checkout -q mxd/one/work; echo two >> file; git commit -qam 'change it'
    git merge -q --no-edit mxd/one/side
    git checkout -q -b mxd/one/base main; echo base > base; git add base; git commit -qm base
    git checkout -q mxd/one/side; git rebase -q mxd/one/base
    git checkout -q mxd/one/work
    git status --short; git log --format=%s; git fsck --no-dangling";

const CLEAN_UP: &str = "; git branch -D -q mxd/one/base; git branch";

#[tokio::test]
async fn branches_commits_merges_and_rebases_are_as_outside() {
    let farm = Farm::new(Mode::Full).await;
    let inside = farm.hut(&farm.agent("one")).run(&format!("{WORK}{CLEAN_UP}")).await.ok();
    assert_eq!(inside, outside(&format!("{WORK}{CLEAN_UP}")).await);
    assert_eq!(git(&farm.at("repo"), "log -1 --format=%an mxd/one/work"), "A Farmer\n");
}

/// Below the top level git complains about a lock that it cannot take, does its work, and cannot delete a branch.
#[tokio::test]
async fn below_the_top_level_git_grumbles_and_works() {
    let farm = Farm::new(Mode::Landlock).await;
    let hut = farm.hut(&farm.agent("one"));
    let inside = hut.run(WORK).await.ok();
    let lines: Vec<&str> = inside.lines().filter(|line| !line.contains("packed-refs.lock")).collect();
    assert_eq!(lines.join("\n"), outside(WORK).await.trim_end());
    assert!(hut.run("git branch -D -q mxd/one/base").await.text.contains("packed-refs.lock"));
}

#[tokio::test]
async fn refs_that_were_packed_outside_are_seen_by_the_next_command() {
    let farm = Farm::new(Mode::Full).await;
    let hut = farm.hut(&farm.agent("one"));
    hut.run("git log -1 --format=%s main").await.ok();
    git(&farm.at("repo"), "branch packed");
    git(&farm.at("repo"), "pack-refs --all");
    assert_eq!(
        hut.run("git log -1 --format=%s packed; git log -1 --format=%s main").await.ok(),
        "start\nstart\n"
    );
}

async fn outside(script: &str) -> String {
    let farm = Farm::new(Mode::Off).await;
    farm.hut(&farm.agent("one")).run_outside(script).ok()
}
