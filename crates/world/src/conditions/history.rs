//! How a repository keeps its objects, its branches and its history.

use crate::scene::{Expected, Scene};

pub(super) const SCENES: &[Scene] = &[
    Scene {
        id: "shallow_clone",
        title: "a shallow clone",
        prepare: r#"identity; upstream; git clone -q --depth 1 "file://$HOME/upstream" "$REPO""#,
        after: "[ -f .git/shallow ]",
        ..Scene::ORDINARY
    },
    Scene {
        id: "partial_clone",
        title: "a partial clone (`--filter=blob:none`)",
        prepare: r#"identity; upstream; git clone -q --filter=blob:none "file://$HOME/upstream" "$REPO""#,
        ..Scene::ORDINARY
    },
    Scene {
        id: "partial_sparse_clone",
        title: "a partial clone with a sparse checkout, so that files of the last commit are missing here",
        prepare: r#"
            identity; upstream
            cd upstream; mkdir -p large other; echo large > large/file; echo other > other/file; commit_all 'More'; cd ..
            git clone -q --filter=blob:none --sparse "file://$HOME/upstream" "$REPO"
            cd "$REPO"; git sparse-checkout set --cone tests
            GIT_NO_LAZY_FETCH=1 git cat-file -e HEAD:large/file 2>/dev/null && fail 'the file is here' || true"#,
        ..Scene::ORDINARY
    },
    Scene {
        id: "partial_clone_remote_gone",
        title: "a partial clone with a sparse checkout whose server does not answer",
        prepare: r#"
            identity; upstream
            cd upstream; mkdir -p large; echo large > large/file; commit_all 'More'; cd ..
            git clone -q --filter=blob:none --sparse "file://$HOME/upstream" "$REPO"
            cd "$REPO"; git sparse-checkout set --cone tests
            mv "$HOME/upstream" "$HOME/gone""#,
        ..Scene::ORDINARY
    },
    Scene {
        id: "sha256",
        title: "SHA-256 objects",
        prepare: "identity; repository --object-format=sha256",
        ..Scene::ORDINARY
    },
    Scene {
        id: "reftable",
        title: "branches kept as reftable",
        prepare: "identity; repository --ref-format=reftable",
        expected: Expected::RefusedAtInit("git refs migrate --ref-format=files"),
        ..Scene::ORDINARY
    },
    Scene {
        id: "alternates",
        title: "objects borrowed from another repository (`git clone --shared`)",
        prepare: r#"identity; upstream; git clone -q --shared "$HOME/upstream" "$REPO""#,
        after: "[ -f .git/objects/info/alternates ]",
        ..Scene::ORDINARY
    },
    Scene {
        id: "alternates_of_alternates",
        title: "objects borrowed from a repository that borrows them itself",
        prepare: r#"
            identity; upstream
            git clone -q --shared "$HOME/upstream" "$HOME/between"
            git clone -q --shared "$HOME/between" "$REPO""#,
        ..Scene::ORDINARY
    },
    Scene {
        id: "packed",
        title: "everything packed: objects with a commit graph and a multi-pack index, refs in one file",
        prepare: r#"
            identity; repository; git tag v1; git branch other
            git pack-refs --all; git repack -q -a -d --write-midx; git commit-graph write --reachable
            git update-index --index-version 4"#,
        ..Scene::ORDINARY
    },
    Scene {
        id: "own_worktrees",
        title: "worktrees of the user's own beside the project",
        prepare: r#"
            identity; repository
            git worktree add -q -b other "$HOME/other"
            git worktree add -q -b drawer "$HOME/drawer"; rm -r "$HOME/drawer"
            git -C "$HOME/other" config extensions.worktreeConfig true"#,
        after: r#"git -C "$HOME/other" status --porcelain; git worktree list | grep -q drawer"#,
        ..Scene::ORDINARY
    },
    Scene {
        id: "in_own_worktree",
        title: "the project is itself a worktree of the user's",
        prepare: r#"
            identity
            (REPO="$HOME/first"; repository)
            git -C first worktree add -q -b work "$REPO""#,
        base: "work",
        ..Scene::ORDINARY
    },
    Scene {
        id: "separate_git_dir",
        title: "the git folder is elsewhere (`--separate-git-dir`)",
        prepare: r#"identity; repository --separate-git-dir="$HOME/git folder""#,
        ..Scene::ORDINARY
    },
    Scene {
        id: "unborn",
        title: "no commit yet",
        prepare: r#"identity; git init -q -b main "$REPO"; cd "$REPO"; files"#,
        expected: Expected::RefusedAtInit("has no commit yet"),
        ..Scene::ORDINARY
    },
    Scene {
        id: "base_trunk",
        title: "a base branch with another name",
        prepare: "identity; repository; git branch -m trunk",
        base: "trunk",
        ..Scene::ORDINARY
    },
    Scene {
        id: "base_unusual",
        title: "a base branch with slashes, a hash, quotes and other letters",
        prepare: r#"identity; repository; git branch -m 'team/ünï-#1"x'"#,
        base: "team/ünï-#1\"x",
        ..Scene::ORDINARY
    },
    Scene {
        id: "base_mxd",
        title: "a base branch called `mxd`, where the branches of agents would be",
        prepare: "identity; repository; git branch -m mxd",
        base: "mxd",
        expected: Expected::RefusedAtInit("git branch -m mxd"),
        ..Scene::ORDINARY
    },
    Scene {
        id: "detached",
        title: "a detached HEAD when the first task starts",
        before: "git checkout -q --detach",
        after: "git symbolic-ref -q HEAD && fail 'a branch was checked out' || true",
        follows: false,
        ..Scene::ORDINARY
    },
    Scene {
        id: "detached_at_init",
        title: "a detached HEAD at init",
        prepare: "identity; repository; git checkout -q --detach",
        expected: Expected::RefusedAtInit("mxd base"),
        ..Scene::ORDINARY
    },
    Scene {
        id: "another_branch",
        title: "another branch checked out when the first task starts",
        before: "git checkout -q -b feature; echo more >> README.md; git commit -q -a -m 'Of the feature'",
        after: r#"
            [ "$(git symbolic-ref --short HEAD)" = feature ] || fail 'another branch is checked out'
            git merge-base --is-ancestor feature main && fail 'the feature was merged' || true"#,
        follows: false,
        ..Scene::ORDINARY
    },
    Scene {
        id: "bare",
        title: "a bare repository",
        prepare: r#"identity; upstream; git clone -q --bare "$HOME/upstream" "$REPO""#,
        expected: Expected::RefusedAtInit("Clone it"),
        ..Scene::ORDINARY
    },
    Scene {
        id: "subfolder",
        title: "`mxd init` in a folder of a larger repository",
        prepare: r#"
            identity
            git init -q -b main "$HOME/mono"; mkdir -p "$HOME/mono/thing"; ln -s mono/thing "$REPO"
            cd "$HOME/mono/thing"; files; commit_all 'First commit'"#,
        test: "(cd thing && sh tests/run.sh)",
        shared: "thing/hello.sh",
        follows: false,
        ..Scene::ORDINARY
    },
    Scene {
        id: "no_repository",
        title: "no repository at all",
        prepare: r#"identity; mkdir "$REPO"; cd "$REPO"; files"#,
        expected: Expected::RefusedAtInit("git init"),
        ..Scene::ORDINARY
    },
];
