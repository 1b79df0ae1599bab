//! What the user has in the checkout, beside what is committed.

use crate::scene::Scene;

pub(super) const SCENES: &[Scene] = &[
    Scene {
        id: "dirty",
        title: "a dirty checkout: changed, staged and unknown files that no task touches",
        prepare: r#"
            identity; repository
            printf 'first\n' > notes.txt; printf 'first\n' > staged.txt; commit_all 'Notes'
            echo changed >> notes.txt; echo staged >> staged.txt; git add staged.txt; echo unknown > unknown.txt"#,
        after: r#"
            [ "$(cat notes.txt)" = "$(printf 'first\nchanged')" ] || fail 'the change is gone'
            [ "$(git diff --cached --name-only)" = staged.txt ] || fail 'what was staged is not any more'
            [ "$(cat unknown.txt)" = unknown ]"#,
        ..Scene::ORDINARY
    },
    Scene {
        id: "unknown_files",
        title: "unknown and ignored files in the checkout",
        prepare: r#"
            identity; repository
            printf 'build/\n*.log\n' > .gitignore; commit_all 'Ignored'
            mkdir build; echo built > build/out; echo log > a.log; echo unknown > 'an unknown file'"#,
        after: "[ -f build/out ] && [ -f a.log ] && [ -f 'an unknown file' ]",
        ..Scene::ORDINARY
    },
    Scene {
        id: "touched",
        title: "files that were rewritten without a change, so that git's index is out of date",
        prepare: r#"identity; repository; touch -d '2001-01-01' hello.sh README.md tests/run.sh"#,
        ..Scene::ORDINARY
    },
    Scene {
        id: "assumed_unchanged",
        title: "a file with changes that git was told not to look at (`--skip-worktree`)",
        prepare: r#"
            identity; repository
            echo secret >> README.md; git update-index --skip-worktree README.md"#,
        after: "grep -q secret README.md",
        ..Scene::ORDINARY
    },
    Scene {
        id: "sparse",
        title: "a sparse checkout",
        prepare: r#"
            identity; repository
            mkdir -p far/away near; echo far > far/away/file; echo near > near/file; commit_all 'Folders'
            git sparse-checkout set --cone near tests; [ ! -e far ]"#,
        agent: "echo more >> near/file; test ! -e far",
        after: "[ ! -e far ] || fail 'far was checked out'; git show main:near/file | grep -q more; git show main:far/away/file | grep -q far",
        ..Scene::ORDINARY
    },
    Scene {
        id: "submodule",
        title: "a submodule that the tests do not need",
        prepare: SUBMODULE,
        after: "[ -z \"$(git status --porcelain)\" ] && [ -f lib/lib.sh ]",
        ..Scene::ORDINARY
    },
    Scene {
        id: "submodule_needed",
        title: "a submodule that the tests need, with a set-up script that asks git for it",
        prepare: SUBMODULE,
        test: "test -f lib/lib.sh && sh tests/run.sh",
        set_up: "#!/bin/sh\nset -e\ngit submodule update --init --recursive\n",
        ..Scene::ORDINARY
    },
    Scene {
        id: "submodule_dirty",
        title: "a submodule with changes, and one that stands at another commit",
        prepare: r#"
            identity
            git config --global protocol.file.allow always
            git init -q -b main "$HOME/lib"; cd "$HOME/lib"; echo 'true' > lib.sh; commit_all 'A library'
            repository
            git submodule --quiet add "$HOME/lib" lib; git submodule --quiet add "$HOME/lib" second; commit_all 'Libraries'
            echo changed >> lib/lib.sh
            cd second; echo more > more.sh; commit_all 'More'"#,
        after: "grep -q changed lib/lib.sh; [ -f second/more.sh ]",
        ..Scene::ORDINARY
    },
    Scene {
        id: "nested",
        title: "repositories inside of the repository, one of them known to git without `.gitmodules`",
        prepare: r#"
            identity; repository
            git init -q -b main nested; cd nested; echo nested > file; commit_all 'Nested'; cd ..
            git -c advice.addEmbeddedRepo=false add nested; git commit -q -m 'A repository inside'
            git init -q -b main other; cd other; echo other > file; commit_all 'Other'"#,
        after: "[ -f nested/file ] && [ -f other/file ] && [ -d other/.git ]",
        ..Scene::ORDINARY
    },
    Scene {
        id: "read_only",
        title: "read-only files and folders",
        prepare: r#"
            identity; repository
            mkdir -p locked; echo locked > locked/file; commit_all 'Locked'
            chmod a-w README.md locked/file hello.sh locked"#,
        after: "[ -f locked/file ]",
        ..Scene::ORDINARY
    },
    Scene {
        id: "executable",
        title: "executable bits that an agent gives and takes",
        agent: "printf '#!/bin/sh\\n' > new.sh; chmod +x new.sh; chmod -x tests/run.sh",
        after: r#"
            [ -x new.sh ] || fail 'new.sh cannot be run'
            [ ! -x tests/run.sh ] || fail 'tests/run.sh can still be run'"#,
        ..Scene::ORDINARY
    },
    Scene {
        id: "file_mode_off",
        title: "`core.fileMode=false`, with modes that differ from those committed",
        prepare: "identity; repository; git config core.fileMode false; chmod -x hello.sh; chmod +x README.md",
        ..Scene::ORDINARY
    },
];

const SUBMODULE: &str = r#"
    identity
    git config --global protocol.file.allow always
    git init -q -b main "$HOME/lib"; cd "$HOME/lib"; echo 'true' > lib.sh; commit_all 'A library'
    repository
    git submodule --quiet add "$HOME/lib" lib; commit_all 'The library'"#;
