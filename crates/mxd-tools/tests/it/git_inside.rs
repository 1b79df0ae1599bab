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

const CLEAN_UP: &str = "; git branch -D -q mxd/one/base; git branch --list 'mxd/one/*'";

#[tokio::test]
async fn branches_commits_merges_and_rebases_are_as_outside_at_every_level() {
    for mode in [Mode::Full, Mode::Landlock] {
        let farm = Farm::new(mode).await;
        let hut = farm.hut(&farm.agent("one"));
        let inside = hut.run(&format!("{WORK}{CLEAN_UP}")).await.ok();
        assert_eq!(inside, outside(&format!("{WORK}{CLEAN_UP}")).await);
        assert_eq!(git(&farm.git_dir("one"), "log -1 --format=%an mxd/one/work"), "A Farmer\n");
        assert_eq!(
            git(&farm.at("repo"), "log -1 --format=%s mxd/one/work"),
            "start\n",
            "nothing arrives by itself"
        );
        let branches = hut.run("git for-each-ref --format='%(refname)'").await.ok();
        assert!(!branches.contains("two"), "{branches}");
    }
}

#[tokio::test]
async fn commit_of_the_user_is_there_for_the_agent_at_once() {
    let farm = Farm::new(Mode::Full).await;
    let hut = farm.hut(&farm.agent("one"));
    hut.run("git log -1 --format=%s main").await.ok();
    git(&farm.at("repo"), "commit -q --allow-empty -m later");
    let commit = git(&farm.at("repo"), "rev-parse main");
    assert_eq!(hut.run(&format!("git log -1 --format=%s {commit}")).await.ok(), "later\n");
}

async fn outside(script: &str) -> String {
    let farm = Farm::new(Mode::Off).await;
    farm.hut(&farm.agent("one")).run_outside(script).ok()
}
