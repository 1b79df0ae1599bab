//! What the files of a repository are like: their names, their sizes, and what git does to them.

use crate::scene::Scene;

pub(super) const SCENES: &[Scene] = &[
    Scene {
        id: "unusual_names",
        title: "names with spaces, other letters, quotes, backslashes and line ends, and such a folder",
        prepare: r#"
            identity; repository
            mkdir -p 'a folder/ünïcödé 日本'; echo x > 'a folder/ünïcödé 日本/a file.txt'
            echo x > "it's"; echo x > 'say "hello"'; echo x > 'back\slash'; echo x > "$(printf 'two\nlines')"; echo x > -dash
            echo x > ':colon'; echo x > "$(printf 'latin\351')"; commit_all 'Names'"#,
        agent: "echo y >> \"it's\"; echo y >> 'say \"hello\"'; echo y >> \"$(printf 'two\\nlines')\"; echo y >> ./-dash; echo y > 'neu 🦀'",
        shared: "a folder/ünïcödé 日本/a file.txt",
        after: r#"[ "$(wc -l < "it's")" = 2 ] && [ -f 'neu 🦀' ] && [ "$(wc -l < "$(printf 'two\nlines')")" = 2 ]"#,
        ..Scene::ORDINARY
    },
    Scene {
        id: "unusual_folder",
        title: "a repository in a folder with spaces, quotes and other letters",
        prepare: r#"
            identity; real="$HOME/my \"code\" ünï \$HOME %s"; mkdir "$real"
            (REPO="$real/it's a thing"; repository); ln -s "$real/it's a thing" "$REPO""#,
        ..Scene::ORDINARY
    },
    Scene {
        id: "case_only",
        title: "names that differ only in case",
        prepare: r#"
            identity; repository
            mkdir -p Folder folder; echo one > Folder/File; echo two > folder/file; echo three > readme.md; commit_all 'Case'"#,
        agent: "echo more >> Folder/File; git mv readme.md ReadMe.md",
        after: r#"[ "$(cat folder/file)" = two ] && grep -q more Folder/File && [ -f ReadMe.md ] && [ ! -e readme.md ]"#,
        ..Scene::ORDINARY
    },
    Scene {
        id: "symlinks",
        title: "symbolic links: to files, to folders, to nowhere, to the outside",
        prepare: r#"
            identity; repository
            mkdir real; echo x > real/file; ln -s real/file link; ln -s real folder-link; ln -s nowhere dangling
            ln -s /etc/hostname outside; ln -s .. above; commit_all 'Links'"#,
        agent: "ln -sf README.md link; ln -s real/file new-link; rm dangling",
        after: r#"[ "$(readlink link)" = README.md ] && [ -L new-link ] && [ ! -L dangling ] && [ "$(readlink outside)" = /etc/hostname ]"#,
        ..Scene::ORDINARY
    },
    Scene {
        id: "eol_attributes",
        title: "ends of lines by attributes (`text=auto`, `eol=crlf`)",
        prepare: r#"
            identity; repository
            printf '* text=auto\n*.bat text eol=crlf\n*.sh text eol=lf\n' > .gitattributes
            printf 'echo one\r\n' > run.bat; git add -A 2>/dev/null; git commit -q -m 'Ends of lines'
            rm run.bat; git checkout -q -- run.bat"#,
        shared: "run.bat",
        comment: "REM ",
        after: r#"
            git show main:run.bat | grep -q "$(printf '\r')" && fail 'a carriage return was committed'
            [ "$(grep -c "$(printf '\r')" run.bat)" = 3 ] || fail "$(od -c run.bat)""#,
        ..Scene::ORDINARY
    },
    Scene {
        id: "eol_not_normalized",
        title: "files committed with other ends of lines than their attributes say",
        prepare: r#"
            identity; repository
            printf 'one\r\ntwo\r\n' > mixed.txt; commit_all 'Windows'
            printf '*.txt text\n' > .gitattributes; git add .gitattributes; git commit -q -m 'Attributes'"#,
        ..Scene::ORDINARY
    },
    Scene {
        id: "encoding",
        title: "files in another encoding (`working-tree-encoding=UTF-16`) and with `ident`",
        prepare: r#"
            identity; repository
            printf '*.rc working-tree-encoding=UTF-16LE-BOM eol=lf\n*.id ident\n' > .gitattributes
            printf 'one\n' | iconv -f UTF-8 -t UTF-16LE | (printf '\377\376'; cat) > text.rc
            printf '$Id$\n' > version.id; commit_all 'Encodings'; rm version.id text.rc; git checkout -q -- version.id text.rc"#,
        agent: "printf 'two\\n' | iconv -f UTF-8 -t UTF-16LE >> text.rc; echo more >> version.id",
        after: r#"git show main:text.rc | grep -q two; [ "$(wc -l < version.id)" = 2 ]"#,
        ..Scene::ORDINARY
    },
    Scene {
        id: "merge_driver",
        title: "a merge driver of the user's, and `merge=union`",
        prepare: r#"
            identity; repository
            git config merge.ours.driver true
            printf 'CHANGES merge=union\nlock merge=ours\n' > .gitattributes; echo one > CHANGES; echo one > lock; commit_all 'Drivers'"#,
        agent: "echo first >> CHANGES; echo first > lock",
        after: "grep -q first CHANGES",
        ..Scene::ORDINARY
    },
    Scene {
        id: "filter",
        title: "a filter of the user's, of whose files none is changed",
        prepare: FILTER,
        after: "[ \"$(cat data.rot)\" = secret ]",
        ..Scene::ORDINARY
    },
    Scene {
        id: "filter_changed",
        title: "a filter of the user's, one of whose files an agent changes",
        prepare: FILTER,
        agent: "echo more >> data.rot",
        after: "[ \"$(cat data.rot)\" = \"$(printf 'secret\\nmore')\" ]",
        ..Scene::ORDINARY
    },
    Scene {
        id: "lfs",
        title: "LFS, none of whose files is changed",
        prepare: LFS,
        after: "[ \"$(cat data.bin)\" = large ]",
        ..Scene::ORDINARY
    },
    Scene {
        id: "lfs_changed",
        title: "LFS, one of whose files an agent changes",
        prepare: LFS,
        agent: "echo more >> data.bin",
        after: "[ \"$(cat data.bin)\" = \"$(printf 'large\\nmore')\" ]; git lfs fsck",
        ..Scene::ORDINARY
    },
    Scene {
        id: "files_10000",
        title: "10,000 files",
        prepare: "identity; repository; many 10000",
        ..Scene::ORDINARY
    },
    Scene {
        id: "files_100000",
        title: "100,000 files",
        prepare: "identity; repository; many 100000",
        ..Scene::ORDINARY
    },
    Scene {
        id: "binary_1_gb",
        title: "a binary file of 1 GB",
        prepare: r#"
            identity; repository
            head -c 1073741824 /dev/urandom > large.dat
            git -c core.compression=0 -c core.bigFileThreshold=16m add large.dat; git commit -q -m 'Large'"#,
        ..Scene::ORDINARY
    },
];

const FILTER: &str = r#"
    identity
    git config --global filter.rot.clean "tr 'a-z' 'n-za-m'"
    git config --global filter.rot.smudge "tr 'a-z' 'n-za-m'"
    git config --global filter.rot.required true
    repository
    printf '*.rot filter=rot\n' > .gitattributes; echo secret > data.rot; commit_all 'Filtered'"#;

const LFS: &str = r#"
    command -v git-lfs > /dev/null || fail 'git-lfs is not installed'
    identity; git lfs install > /dev/null; repository
    git lfs track '*.bin' > /dev/null; echo large > data.bin; commit_all 'Large files'"#;
