//! Who the user is to git, and what the user's settings of git demand.

use crate::scene::{Expected, Scene};

pub(super) const SCENES: &[Scene] = &[
    Scene { id: "identity_global", title: "identity in the global settings only", ..Scene::ORDINARY },
    Scene {
        id: "identity_include_if",
        title: "identity by `includeIf` for this folder, another one globally",
        prepare: r#"
            identity
            git config --file .gitconfig-work user.name Work
            git config --file .gitconfig-work user.email work@example.org
            git config --global includeIf.gitdir:~/thing/.path '~/.gitconfig-work'
            repository"#,
        author: "Work <work@example.org>",
        ..Scene::ORDINARY
    },
    Scene {
        id: "identity_local",
        title: "identity in the repository only",
        prepare: r#"
            git init -q -b main "$REPO"
            git -C "$REPO" config user.name Local
            git -C "$REPO" config user.email local@example.org
            cd "$REPO"; files; commit_all 'First commit'"#,
        author: "Local <local@example.org>",
        ..Scene::ORDINARY
    },
    Scene {
        id: "identity_none",
        title: "no identity at all",
        prepare: r#"
            git init -q -b main "$REPO"; cd "$REPO"; files; git add -A
            git -c user.name=Other -c user.email=other@example.org commit -q -m 'First commit'"#,
        expected: Expected::RefusedAtInit("git config --global user.name"),
        ..Scene::ORDINARY
    },
    Scene {
        id: "signing_by_ssh",
        title: "`commit.gpgSign` with a key of ssh",
        prepare: r#"
            identity
            ssh-keygen -q -t ed25519 -N '' -f "$HOME/key"
            git config --global gpg.format ssh
            git config --global user.signingKey "$HOME/key.pub"
            git config --global commit.gpgSign true
            echo "user@example.org $(cat key.pub)" > allowed
            git config --global gpg.ssh.allowedSignersFile "$HOME/allowed"
            repository
            git verify-commit HEAD"#,
        told: "not signed",
        note: "Commits of agents and merges are not signed, and `mxd init` says so: agents have no access to the user's key.",
        ..Scene::ORDINARY
    },
    Scene {
        id: "signing_by_gpg",
        title: "`commit.gpgSign` with a key of GnuPG",
        prepare: r#"
            identity
            mkdir -m 700 .gnupg
            gpg --batch --quiet --passphrase '' --quick-generate-key 'User <user@example.org>' default default never
            git config --global commit.gpgSign true
            repository
            git verify-commit HEAD
            gpgconf --kill all"#,
        after: "gpgconf --kill all",
        told: "not signed",
        note: "Commits of agents and merges are not signed, and `mxd init` says so: agents have no access to the user's key.",
        ..Scene::ORDINARY
    },
    Scene {
        id: "hooks_husky",
        title: "hooks of husky, which need what `npm ci` installs",
        prepare: r#"
            identity; repository
            mkdir -p .husky/_
            printf '#!/usr/bin/env sh\nnode_modules/.bin/lint-staged\n' > .husky/pre-commit
            printf '#!/usr/bin/env sh\nsh -e ".husky/$(basename "$0")"\n' > .husky/_/pre-commit
            chmod +x .husky/pre-commit .husky/_/pre-commit
            printf '{ "name": "thing", "scripts": { "prepare": "husky" } }\n' > package.json
            commit_all 'Hooks'
            git config core.hooksPath .husky/_"#,
        note: "The hooks do not run for commits of agents: those are made in repositories of their own.",
        ..Scene::ORDINARY
    },
    Scene {
        id: "hooks_pre_commit",
        title: "a hook of pre-commit that refuses and changes files",
        prepare: r#"
            identity; repository
            printf 'repos: []\n' > .pre-commit-config.yaml
            commit_all 'Hooks'
            printf '#!/bin/sh\necho changed >> README.md\necho "trailing whitespace: Failed"\nexit 1\n' > .git/hooks/pre-commit
            chmod +x .git/hooks/pre-commit"#,
        note: "The hooks do not run for commits of agents: those are made in repositories of their own.",
        ..Scene::ORDINARY
    },
    Scene {
        id: "hooks_path",
        title: "`core.hooksPath` in the global settings, with hooks that refuse everything",
        prepare: r#"
            identity; repository
            mkdir "$HOME/hooks"
            for hook in pre-commit commit-msg pre-merge-commit reference-transaction post-checkout post-index-change; do
              printf '#!/bin/sh\necho "%s says no" >&2\nexit 1\n' $hook > "$HOME/hooks/$hook"
            done
            chmod +x "$HOME"/hooks/*
            git config --global core.hooksPath "$HOME/hooks""#,
        note: "The hooks do not run for commits of agents: those are made in repositories of their own.",
        ..Scene::ORDINARY
    },
    Scene {
        id: "many_settings",
        title: "settings that change what git prints: colours, prefixes, pagers, aliases, templates",
        prepare: r#"
            identity; repository
            set() { git config --global "$1" "$2"; }
            set color.ui always; set diff.noprefix true; set diff.mnemonicPrefix true; set core.quotePath false
            set status.showUntrackedFiles no; set status.short true; set status.branch true; set log.showSignature true
            set core.pager less; set core.editor false; set commit.template "$HOME/template"; set commit.verbose true
            set merge.conflictStyle zdiff3; set merge.ff only; set pull.rebase true; set rerere.enabled true
            set diff.renames copies; set log.date relative; set format.pretty fuller; set push.default nothing
            set core.untrackedCache true; set index.version 4; set feature.manyFiles true
            set core.logAllRefUpdates always; set gc.auto 1; set advice.detachedHead true; set branch.autoSetupMerge always
            set checkout.defaultRemote origin; set core.abbrev 4; set core.commentChar ';'; set column.ui always
            echo 'template' > "$HOME/template""#,
        ..Scene::ORDINARY
    },
    Scene {
        id: "mxd_ignored",
        title: "`.mxd` in the user's global list of ignored files",
        prepare: r#"
            identity
            printf '.mxd/\n' > ignored
            git config --global core.excludesFile "$HOME/ignored"
            repository"#,
        ..Scene::ORDINARY
    },
    Scene {
        id: "autocrlf",
        title: "`core.autocrlf=true`",
        prepare: r#"
            identity
            git config --global core.autocrlf true
            git config --global core.safecrlf false
            repository
            printf 'hello.sh eol=lf\ntests/*.sh eol=lf\n' > .gitattributes; commit_all 'Scripts have ends of lines of Unix'
            printf 'one\r\ntwo\r\n' > windows.txt
            git -c core.autocrlf=true add windows.txt; git commit -q -m 'Lines of Windows'
            rm windows.txt README.md; git checkout -q -- windows.txt README.md
            grep -q "$(printf '\r')" README.md"#,
        shared: "windows.txt",
        comment: "",
        after: r#"
            git show main:windows.txt | grep -q "$(printf '\r')" && fail 'a carriage return was committed'
            [ "$(grep -c "$(printf '\r')" windows.txt)" = 4 ] || fail "$(od -c windows.txt)""#,
        ..Scene::ORDINARY
    },
];
