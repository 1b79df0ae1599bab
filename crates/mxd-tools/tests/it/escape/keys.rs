//! Keys that tools keep inside of their own folders, which agents see because the programs lie there.

use std::fmt::Write as _;

use mxd_tools::sandbox::Mode;

use super::attempt::{Attempt, Family};
use crate::farm::{Farm, SECRET};

pub(super) const FAMILY: Family = Family { name: "Keys of the tools", attempts: ATTEMPTS, ..Family::PLAIN };

/// Every file with a key in it, below the home folder. `KEY` stands for the key.
const FILES: &[(&str, &str)] = &[
    (".asdf/installs/nodejs/20/etc/npmrc", "//packages.example/:_authToken=KEY"),
    (".asdf/plugins/ruby/.git/config", "[remote \"origin\"]\nurl = https://me:KEY@git.example/ruby"),
    (".bun/install/global/.npmrc", "//packages.example/:_authToken=KEY"),
    (".cargo/git/db/crate-1/config", "[remote \"origin\"]\nurl = https://me:KEY@git.example/crate"),
    (".config/pip/pip.conf", "[global]\nindex-url = https://me:KEY@packages.example/simple"),
    (".config/uv/uv.toml", "[[index]]\nurl = \"https://packages.example\"\npassword = \"KEY\""),
    (".docker/config.json", "{\"auths\": {\"images.example\": {\"auth\": \"KEY\"}}}"),
    (".dotnet/NuGet.Config", "<add key=\"ClearTextPassword\" value=\"KEY\" />"),
    (".dotnet/corefx/cryptography/x509stores/my/one.pfx", "KEY"),
    (".git-credentials", "https://me:KEY@git.example"),
    (".gradle/gradle.properties", "repositoryPassword=KEY"),
    (".local/bin/.env", "TOKEN=KEY"),
    (".local/share/fnm/node-versions/v20/installation/etc/npmrc", "_password=KEY"),
    (".local/share/mise/installs/node/20/etc/npmrc", "_auth=KEY"),
    (
        ".local/share/pipx/venvs/tool/pipx_metadata.json",
        "{\"pip_args\": [\"https://me:KEY@packages.example\"]}",
    ),
    (".local/share/uv/credentials/credentials.toml", "[[credential]]\npassword = \"KEY\""),
    (".local/share/uv/tools/tool/uv-receipt.toml", "[tool]\nindex = \"https://me:KEY@packages.example\""),
    (".m2/settings.xml", "<settings><password>KEY</password></settings>"),
    (".netrc", "machine git.example login me password KEY"),
    (".nodenv/versions/20/etc/npmrc", "//packages.example/:_authToken=KEY"),
    (".npmrc", "registry=https://packages.example\n//packages.example/:_authToken=KEY"),
    (".nvm/.git/config", "[remote \"origin\"]\nurl = https://me:KEY@git.example/nvm"),
    (".nvm/versions/node/v20/etc/npmrc", "//packages.example/:_authToken=KEY"),
    (".opam/config", "repositories: \"https://me:KEY@git.example/packages\""),
    (".opam/repo/repos-config", "repositories: \"https://me:KEY@git.example/packages\""),
    (
        ".pyenv/versions/3.12/pip.conf",
        "[global]\nextra-index-url =\n  https://me:KEY@packages.example/simple",
    ),
    (".pypirc", "[pypi]\npassword = KEY"),
    (".sdkman/candidates/gradle/8/init.d/key.gradle", "password = 'KEY'"),
    (".sdkman/candidates/maven/3/conf/settings.xml", "<settings><password>KEY</password></settings>"),
    (".volta/hooks.json", "{\"node\": {\"index\": {\"prefix\": \"https://me:KEY@packages.example\"}}}"),
    (".volta/tools/image/node/20/etc/npmrc", "//packages.example/:_authToken=KEY"),
    ("go/pkg/mod/cache/vcs/1/config", "[http]\nextraheader = Authorization: KEY"),
];

/// What stays visible beside the keys, because programs do not run without it.
const PROGRAMS: &[&str] = &[
    ".dotnet/dotnet",
    ".local/bin/tool",
    ".local/share/uv/tools/tool/bin/tool",
    ".npm/_cacache/content",
    ".nvm/versions/node/v20/bin/node",
    ".opam/default/bin/ocaml",
    ".pyenv/versions/3.12/bin/python",
    ".sdkman/candidates/maven/3/bin/mvn",
    "go/pkg/mod/cache/vcs/1/HEAD",
];

/// Puts every key where its tool keeps it.
pub(super) fn lay_out(farm: &Farm) {
    for (path, text) in FILES {
        farm.write(&format!("home/{path}"), &text.replace("KEY", SECRET));
    }
}

#[tokio::test]
async fn programs_and_clean_settings_are_visible_beside_hidden_keys() {
    for mode in [Mode::Full, Mode::Landlock] {
        let farm = Farm::new(mode).await;
        lay_out(&farm);
        let clean = [
            (".cargo/config.toml", "[net]\nretry = 3"),
            (".nvm/versions/node/v22/etc/npmrc", "registry=https://packages.example"),
            (".sdkman/candidates/maven/4/conf/settings.xml", "<settings><!-- <password>x --></settings>"),
        ];
        let mut ask = "cd; cd $HOME_OF_THE_USER; for file in".to_owned();
        for path in PROGRAMS.iter().chain(clean.iter().map(|(path, _)| path)) {
            let text = clean.iter().find(|(known, _)| known == path).map_or("a program", |(_, text)| text);
            farm.write(&format!("home/{path}"), text);
            write!(ask, " {path}").unwrap();
        }
        ask += "; do [ -s $file ] && head -c 1 $file > /dev/null || echo $file; done; true";
        let mut hut = farm.hut(&farm.agent("one"));
        hut.env.push(("HOME_OF_THE_USER".to_owned(), farm.at("home").to_str().unwrap().to_owned()));
        assert_eq!(hut.run(&ask).await.ok(), "", "level {}", farm.level());
    }
}

const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "read a token in the npm settings of a Node.js of nvm",
        script: "cat $GROUND/home/.nvm/versions/node/v20/etc/npmrc",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a token in the npm settings of a Node.js of fnm",
        script: "cat $GROUND/home/.local/share/fnm/node-versions/v20/installation/etc/npmrc",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a token in the npm settings of a Node.js of Volta",
        script: "cat $GROUND/home/.volta/tools/image/node/20/etc/npmrc",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a token in the npm settings of a Node.js of asdf",
        script: "cat $GROUND/home/.asdf/installs/nodejs/20/etc/npmrc",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a token in the npm settings of a Node.js of mise",
        script: "cat $GROUND/home/.local/share/mise/installs/node/20/etc/npmrc",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a token in the npm settings of a Node.js of nodenv",
        script: "cat $GROUND/home/.nodenv/versions/20/etc/npmrc",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a token in the npm settings of Bun",
        script: "cat $GROUND/home/.bun/install/global/.npmrc",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a token in the user's npm settings",
        script: "cat $GROUND/home/.npmrc",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a password in the hooks of Volta",
        script: "cat $GROUND/home/.volta/hooks.json",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read the credentials of uv",
        script: "cat $GROUND/home/.local/share/uv/credentials/credentials.toml",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a password in the receipt of a tool of uv",
        script: "cat $GROUND/home/.local/share/uv/tools/tool/uv-receipt.toml",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a password in the user's settings of uv",
        script: "cat $GROUND/home/.config/uv/uv.toml",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a password in the user's settings of pip",
        script: "cat $GROUND/home/.config/pip/pip.conf",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a password in the pip settings of a Python of pyenv",
        script: "cat $GROUND/home/.pyenv/versions/3.12/pip.conf",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a password in what pipx notes of a tool",
        script: "cat $GROUND/home/.local/share/pipx/venvs/tool/pipx_metadata.json",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read the credentials for uploads to a Python index",
        script: "cat $GROUND/home/.pypirc",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a certificate with its private key of .NET",
        script: "cat $GROUND/home/.dotnet/corefx/cryptography/x509stores/my/one.pfx",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a password in the package sources of .NET",
        script: "cat $GROUND/home/.dotnet/NuGet.Config",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a password in the settings of opam",
        script: "cat $GROUND/home/.opam/config",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a password in the repositories of opam",
        script: "cat $GROUND/home/.opam/repo/repos-config",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a password in the user's settings of Gradle",
        script: "cat $GROUND/home/.gradle/gradle.properties",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a password in the start-up scripts of a Gradle of SDKMAN",
        script: "cat $GROUND/home/.sdkman/candidates/gradle/8/init.d/key.gradle",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a password in the user's settings of Maven",
        script: "cat $GROUND/home/.m2/settings.xml",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a password in the settings of a Maven of SDKMAN",
        script: "cat $GROUND/home/.sdkman/candidates/maven/3/conf/settings.xml",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a password in a repository that cargo fetched",
        script: "cat $GROUND/home/.cargo/git/db/crate-1/config",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a header with a token in a repository that Go fetched",
        script: "cat $GROUND/home/go/pkg/mod/cache/vcs/1/config",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a password in the repository of nvm itself",
        script: "cat $GROUND/home/.nvm/.git/config",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read a password in the repository of a plugin",
        script: "cat $GROUND/home/.asdf/plugins/ruby/.git/config",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read the tokens of Docker",
        script: "cat $GROUND/home/.docker/config.json",
        ..Attempt::PLAIN
    },
    Attempt { name: "read the passwords for hosts", script: "cat $GROUND/home/.netrc", ..Attempt::PLAIN },
    Attempt {
        name: "read the passwords of git",
        script: "cat $GROUND/home/.git-credentials",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read variables with a token beside programs",
        script: "cat $GROUND/home/.local/bin/.env",
        ..Attempt::PLAIN
    },
];
