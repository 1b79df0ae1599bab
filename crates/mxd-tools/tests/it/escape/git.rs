//! The user's repository and those of other agents: branches, hooks, settings and objects.

use std::fs;

use super::attempt::{Attempt, Family, Landlock, Outside, Sign};
use super::scene::Scene;

pub(super) const FAMILY: Family = Family { name: "The repository", attempts: ATTEMPTS, ..Family::PLAIN };

const OWN_POINTERS: &str = "Landlock cannot keep a single file from change in a folder that may be changed: never run git \
                            outside of the sandbox in an agent's worktree";

/// The branch of the other agent stands where it stood.
fn two_moved(scene: &Scene) -> bool {
    scene.git("rev-parse mxd/two/work") != scene.main
}

fn main_moved(scene: &Scene) -> bool {
    scene.git("rev-parse main") != scene.main
}

/// Whether git, run by the user in the agent's worktree, runs a program of the agent's.
fn git_runs_its_program(scene: &Scene) -> bool {
    scene.git("-C ../data/trees/one status");
    fs::remove_file(scene.at("ran")).is_ok()
}

const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "move another branch",
        script: "git update-ref refs/heads/main $(git commit-tree -m evil HEAD^{tree})",
        sign: Sign::Seen(main_moved),
        outside: Outside::NotTried("the next attempts begin where the branches are; one of them moves it"),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "move another agent's branch by a link among its own",
        script: "ln -s ../two/work $COMMON/refs/heads/mxd/one/alias
                 git symbolic-ref refs/heads/mxd/one/other refs/heads/mxd/two/work
                 commit=$(git commit-tree -m evil HEAD^{tree})
                 git update-ref refs/heads/mxd/one/alias $commit; git update-ref refs/heads/mxd/one/other $commit
                 rm -f $COMMON/refs/heads/mxd/one/alias $COMMON/refs/heads/mxd/one/other",
        sign: Sign::Seen(two_moved),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "commit in the user's checkout with `git -C`",
        script: "git -C $GROUND/repo commit -q --allow-empty -m evil",
        sign: Sign::Seen(main_moved),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "commit in another agent's worktree with `git -C`",
        script: "git -C ../two commit -q --allow-empty -m evil",
        sign: Sign::Seen(two_moved),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "commit for another agent with `GIT_DIR`",
        script: "GIT_DIR=$COMMON/worktrees/two GIT_WORK_TREE=. git commit -q --allow-empty -m evil",
        sign: Sign::Seen(two_moved),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "make a branch outside of its own",
        script: "git branch evil",
        sign: Sign::Seen(|scene| !scene.git("rev-parse --verify refs/heads/evil").is_empty()),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "make a tag",
        script: "git tag evil",
        sign: Sign::Seen(|scene| !scene.git("rev-parse --verify refs/tags/evil").is_empty()),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "make git show one object in place of another",
        script: "git replace main $(git commit-tree -m evil HEAD^{tree})",
        sign: Sign::Seen(|scene| !scene.git("replace --list").is_empty()),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "write to the list of packed branches",
        script: "echo \"$(git rev-parse HEAD) refs/heads/packed-evil\" >> $COMMON/packed-refs",
        sign: Sign::Seen(|scene| scene.text("repo/.git/packed-refs").contains("packed-evil")),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "switch the branch of the user's checkout",
        script: "git --git-dir=$COMMON symbolic-ref HEAD refs/heads/mxd/one/work",
        sign: Sign::Seen(|scene| scene.text("repo/.git/HEAD") != "ref: refs/heads/main\n"),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "switch the branch of another worktree",
        script: "echo ref: refs/heads/evil > $COMMON/worktrees/two/HEAD",
        sign: Sign::Seen(|scene| scene.text("repo/.git/worktrees/two/HEAD").contains("evil")),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "delete the index of another worktree",
        script: "rm -f $COMMON/worktrees/two/index",
        sign: Sign::Seen(|scene| !scene.at("repo/.git/worktrees/two/index").exists()),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "write to another agent's branch history",
        script: "echo evil >> $COMMON/logs/refs/heads/mxd/two/work",
        sign: Sign::Seen(|scene| scene.text("repo/.git/logs/refs/heads/mxd/two/work").contains("evil")),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "write to the history of the user's checkout",
        script: "echo evil >> $COMMON/logs/HEAD",
        sign: Sign::Seen(|scene| scene.text("repo/.git/logs/HEAD").contains("evil")),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "plant a hook",
        script: "mkdir -p $COMMON/hooks; echo evil > $COMMON/hooks/post-checkout",
        sign: Sign::Seen(|scene| scene.at("repo/.git/hooks/post-checkout").exists()),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "set `core.fsmonitor` for all",
        script: "git config core.fsmonitor evil",
        sign: Sign::Seen(|scene| scene.text("repo/.git/config").contains("fsmonitor")),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "set `core.sshCommand` for all by an included file",
        script: "git config --file $COMMON/config includeIf.onbranch:main.path $PWD/evil",
        sign: Sign::Seen(|scene| scene.text("repo/.git/config").contains("includeIf")),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "set `core.hooksPath` for the user's checkout",
        script: "git config --file $COMMON/config.worktree core.hooksPath $PWD",
        sign: Sign::Seen(|scene| scene.at("repo/.git/config.worktree").exists()),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "have files rewritten by attributes for all",
        script: "mkdir -p $COMMON/info; echo '* filter=evil' >> $COMMON/info/attributes",
        sign: Sign::Seen(|scene| scene.at("repo/.git/info/attributes").exists()),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "cut off the history for all",
        script: "git rev-parse HEAD > $COMMON/shallow",
        sign: Sign::Seen(|scene| fs::remove_file(scene.at("repo/.git/shallow")).is_ok()),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "have git read objects from elsewhere for all",
        script: "mkdir -p $COMMON/objects/info; echo $PWD/objects > $COMMON/objects/info/alternates",
        sign: Sign::Seen(|scene| fs::remove_file(scene.at("repo/.git/objects/info/alternates")).is_ok()),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "write files elsewhere with `GIT_OBJECT_DIRECTORY`",
        script: "GIT_OBJECT_DIRECTORY=$GROUND/data/log git hash-object -w README",
        sign: Sign::Seen(|scene| fs::read_dir(scene.at("data/log")).unwrap().count() > 1),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "make its own settings run a program in the user's git",
        script: "git config --worktree core.fsmonitor \"touch $GROUND/ran; false\"; git status; rm -f $GROUND/ran",
        sign: Sign::Seen(git_runs_its_program),
        landlock: Landlock::NotStopped(OWN_POINTERS),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "put another repository in place of its worktree's",
        script: "git config --worktree --unset core.fsmonitor; mv .git .git-before; git init -q .
                 git config core.fsmonitor \"touch $GROUND/ran; false\"",
        sign: Sign::Seen(|scene| {
            let ran = git_runs_its_program(scene);
            let tree = scene.at("data/trees/one");
            if tree.join(".git-before").exists() {
                fs::remove_dir_all(tree.join(".git")).unwrap();
                fs::rename(tree.join(".git-before"), tree.join(".git")).unwrap();
            }
            ran
        }),
        landlock: Landlock::NotStopped(OWN_POINTERS),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "have its worktree take its settings from elsewhere",
        script: "git init -q fake; git -C fake config core.fsmonitor \"touch $GROUND/ran; false\"
                 cp -r $COMMON/refs fake/.git; echo $PWD/fake/.git > $COMMON/worktrees/one/commondir",
        sign: Sign::Seen(|scene| {
            let ran = git_runs_its_program(scene);
            fs::remove_file(scene.at("repo/.git/worktrees/one/commondir")).unwrap();
            scene.farm.write("repo/.git/worktrees/one/commondir", "../..\n");
            ran
        }),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "change an object that is not its own",
        script: "object=$COMMON/objects/${PRECIOUS:0:2}/${PRECIOUS:2}; other=$(echo evil | git hash-object -w --stdin)
                 chmod u+w $object; cat $COMMON/objects/${other:0:2}/${other:2} > $object",
        sign: Sign::Seen(|scene| {
            let changed = scene.git(&format!("cat-file -p {}", scene.precious)) != "precious";
            let object = format!("repo/.git/objects/{}/{}", &scene.precious[..2], &scene.precious[2..]);
            fs::remove_file(scene.at(&object)).unwrap();
            scene.git("hash-object -w ../precious");
            changed
        }),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "delete an object that is not its own",
        script: "rm -f $COMMON/objects/${PRECIOUS:0:2}/${PRECIOUS:2}",
        sign: Sign::Seen(|scene| scene.git(&format!("cat-file -t {}", scene.precious)).is_empty()),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "lock another agent's worktree",
        script: "git worktree lock ../two; touch $COMMON/worktrees/two/locked",
        sign: Sign::Seen(|scene| fs::remove_file(scene.at("repo/.git/worktrees/two/locked")).is_ok()),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "make a worktree in the data folder",
        script: "git worktree add -q -b mxd/one/third $GROUND/data/trees/three",
        sign: Sign::Seen(|scene| scene.at("data/trees/three/README").exists()),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "delete another agent's branch",
        script: "git update-ref --no-deref -d refs/heads/mxd/two/work; rm -f $COMMON/refs/heads/mxd/two/work",
        sign: Sign::Seen(|scene| scene.git("rev-parse --verify refs/heads/mxd/two/work").is_empty()),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "remove another agent's worktree",
        script: "git worktree remove --force ../two; rm -rf ../two",
        sign: Sign::Seen(|scene| !scene.at("data/trees/two/README").exists()),
        ..Attempt::PLAIN
    },
];
