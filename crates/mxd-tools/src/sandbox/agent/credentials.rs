//! Files with keys that lie inside of folders which agents see: those are hidden.
//!
//! Folders of programs are shown whole, because nobody can say what a language needs of its own. This is the list of what
//! their tools keep there for their user alone. In a path, `*` stands for any one name.

use std::fs;
use std::path::{Path, PathBuf};

use super::environment::User;
use super::settings::{self, Format};

/// Keys in a home folder, wherever they are shown from: through a folder in `PATH`, or one that a variable points to.
const IN_HOME: &[&str] = &[
    ".aws",
    ".azure",
    ".bundle/config",
    ".bunfig.toml",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/pypoetry/auth.toml",
    ".docker/config.json",
    ".gem/credentials",
    ".git-credentials",
    ".gnupg",
    ".gradle/gradle.properties",
    ".gradle/init.d",
    ".hex/hex.config",
    ".ivy2/.credentials",
    ".julia/servers",
    ".kube",
    ".local/share/gem/credentials",
    ".local/share/keyrings",
    ".local/share/python_keyring",
    ".m2/settings-security.xml",
    ".m2/settings.xml",
    ".microsoft/usersecrets",
    ".netrc",
    ".nuget/NuGet/NuGet.Config",
    ".password-store",
    ".pypirc",
    ".sbt/.credentials",
    ".ssh",
    ".terraform.d/credentials.tfrc.json",
    ".yarnrc.yml",
];

/// Keys in folders of programs. Programs start without them.
const IN_PROGRAMS: &[(Folder, &[&str])] = &[
    (Folder { name: ".asdf", variable: "ASDF_DATA_DIR" }, &[".git", "plugins/*/.git"]),
    (
        Folder { name: ".bun", variable: "BUN_INSTALL" },
        &["install/global/.npmrc", "install/global/bunfig.toml"],
    ),
    (Folder { name: ".dotnet", variable: "DOTNET_ROOT" }, &["NuGet.Config", "corefx"]),
    (Folder { name: ".goenv", variable: "GOENV_ROOT" }, &[".git", "plugins/*/.git"]),
    (Folder { name: ".jenv", variable: "JENV_ROOT" }, &[".git", "plugins/*/.git"]),
    (Folder { name: ".local/share/mise", variable: "MISE_DATA_DIR" }, &["plugins/*/.git"]),
    (Folder { name: ".local/share/pipx", variable: "PIPX_HOME" }, &["venvs/*/pipx_metadata.json"]),
    (
        Folder { name: ".local/share/uv", variable: "UV_CREDENTIALS_DIR" },
        &["credentials", "tools/*/uv-receipt.toml"],
    ),
    (Folder { name: ".nodenv", variable: "NODENV_ROOT" }, &[".git", "plugins/*/.git"]),
    (Folder { name: ".nvm", variable: "NVM_DIR" }, &[".git"]),
    (Folder { name: ".opam", variable: "OPAMROOT" }, &["repo/*/.git", "*/.opam-switch/sources/*/.git"]),
    (Folder { name: ".pyenv", variable: "PYENV_ROOT" }, &[".git", "plugins/*/.git"]),
    (Folder { name: ".rbenv", variable: "RBENV_ROOT" }, &[".git", "plugins/*/.git"]),
    (
        Folder { name: ".sdkman", variable: "SDKMAN_DIR" },
        &["candidates/gradle/*/gradle.properties", "candidates/gradle/*/init.d"],
    ),
];

/// Settings in folders of programs, hidden unless they are clean.
const SETTINGS: &[(Folder, &str, Check)] = &[
    (
        Folder { name: ".asdf", variable: "ASDF_DATA_DIR" },
        "installs/nodejs/*/etc/npmrc",
        Check::Keys(Format::Npm),
    ),
    (
        Folder { name: ".asdf", variable: "ASDF_DATA_DIR" },
        "installs/python/*/pip.conf",
        Check::Keys(Format::Pip),
    ),
    (Folder { name: ".asdf", variable: "ASDF_DATA_DIR" }, "installs/maven/*/conf/settings.xml", Check::Text),
    (Folder { name: ".cargo", variable: "CARGO_HOME" }, "git/db/*/config", Check::Text),
    (Folder { name: ".ghcup", variable: "GHCUP_INSTALL_BASE_PREFIX" }, "config.yaml", Check::Text),
    (
        Folder { name: ".local/share/fnm", variable: "FNM_DIR" },
        "node-versions/*/installation/etc/npmrc",
        Check::Keys(Format::Npm),
    ),
    (
        Folder { name: ".local/share/mise", variable: "MISE_DATA_DIR" },
        "installs/node/*/etc/npmrc",
        Check::Keys(Format::Npm),
    ),
    (
        Folder { name: ".local/share/mise", variable: "MISE_DATA_DIR" },
        "installs/python/*/pip.conf",
        Check::Keys(Format::Pip),
    ),
    (
        Folder { name: ".local/share/mise", variable: "MISE_DATA_DIR" },
        "installs/maven/*/conf/settings.xml",
        Check::Text,
    ),
    (
        Folder { name: ".local/share/uv", variable: "UV_CREDENTIALS_DIR" },
        "python/*/pip.conf",
        Check::Keys(Format::Pip),
    ),
    (Folder { name: ".nodenv", variable: "NODENV_ROOT" }, "versions/*/etc/npmrc", Check::Keys(Format::Npm)),
    (Folder { name: ".nvm", variable: "NVM_DIR" }, "versions/*/*/etc/npmrc", Check::Keys(Format::Npm)),
    (Folder { name: ".opam", variable: "OPAMROOT" }, "config", Check::Text),
    (Folder { name: ".opam", variable: "OPAMROOT" }, "repo/repos-config", Check::Text),
    (Folder { name: ".pyenv", variable: "PYENV_ROOT" }, "versions/*/pip.conf", Check::Keys(Format::Pip)),
    (Folder { name: ".sdkman", variable: "SDKMAN_DIR" }, "candidates/maven/*/conf/settings.xml", Check::Text),
    (Folder { name: ".volta", variable: "VOLTA_HOME" }, "hooks.json", Check::Text),
    (
        Folder { name: ".volta", variable: "VOLTA_HOME" },
        "tools/image/node/*/etc/npmrc",
        Check::Keys(Format::Npm),
    ),
    (Folder { name: "go", variable: "GOPATH" }, "pkg/mod/cache/vcs/*/config", Check::Text),
];

/// The same for settings of the whole machine.
const OF_THE_MACHINE: &[(&str, Check)] = &[
    ("/etc/maven/settings.xml", Check::Text),
    ("/etc/npmrc", Check::Keys(Format::Npm)),
    ("/etc/pip.conf", Check::Keys(Format::Pip)),
    ("/usr/etc/npmrc", Check::Keys(Format::Npm)),
    ("/usr/local/etc/npmrc", Check::Keys(Format::Npm)),
];

/// Names of files with keys that programs look for in the current folder: hidden in every folder of programs.
const ANYWHERE: &[&str] = &[
    ".env",
    ".git-credentials",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".yarnrc.yml",
    "_netrc",
    "credentials",
    "credentials.json",
    "credentials.toml",
];

/// A folder of programs: its name in the home folder, and the variable that may point elsewhere.
struct Folder {
    name: &'static str,
    variable: &'static str,
}

/// How a settings file is judged.
#[derive(Clone, Copy)]
enum Check {
    /// By the table of known keys.
    Keys(Format),
    /// By words that secrets are called by, for files whose tools do not start without them.
    Text,
}

impl Folder {
    fn paths(&self, user: &User) -> impl Iterator<Item = PathBuf> {
        let elsewhere = user.variable(self.variable).map(PathBuf::from).filter(|path| path.is_absolute());
        std::iter::once(user.home.join(self.name)).chain(elsewhere)
    }
}

impl Check {
    fn passes(self, path: &Path) -> bool {
        match self {
            Self::Keys(format) => settings::is_clean(path, format),
            Self::Text => settings::read(path).is_some_and(|text| !names_a_secret(&text)),
        }
    }
}

/// Everything that is there and must not be seen in these folders of programs and caches, by its real path.
pub(super) fn hidden(user: &User, programs: &[PathBuf]) -> Vec<PathBuf> {
    let mut hidden: Vec<PathBuf> = IN_HOME.iter().map(|name| user.home.join(name)).collect();
    for (folder, patterns) in IN_PROGRAMS {
        let all =
            folder.paths(user).flat_map(|root| patterns.iter().map(move |pattern| (root.clone(), *pattern)));
        hidden.extend(all.flat_map(|(root, pattern)| expand(root, pattern)));
    }
    for (folder, pattern, check) in SETTINGS {
        let found = folder.paths(user).flat_map(|root| expand(root, pattern));
        hidden.extend(found.filter(|path| !check.passes(path)));
    }
    let of_the_machine = OF_THE_MACHINE.iter().map(|(path, check)| (PathBuf::from(path), check));
    hidden.extend(of_the_machine.filter(|(path, check)| !check.passes(path)).map(|(path, _)| path));
    hidden.extend(programs.iter().flat_map(|folder| ANYWHERE.iter().map(|name| folder.join(name))));
    // A link is hidden by what it leads to: the place of the link cannot be covered.
    let mut real: Vec<PathBuf> = hidden.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
    real.sort();
    real.dedup();
    real
}

/// The paths below a folder that fit a pattern and exist.
fn expand(root: PathBuf, pattern: &str) -> Vec<PathBuf> {
    let mut paths = vec![root];
    for part in pattern.split('/') {
        paths = match part {
            "*" => paths.iter().flat_map(|folder| entries(folder)).collect(),
            name => paths.into_iter().map(|folder| folder.join(name)).filter(|path| path.exists()).collect(),
        };
    }
    paths
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// Whether a text that is not a comment speaks of a key, or has a password in an address.
fn names_a_secret(text: &str) -> bool {
    let text = without_xml_comments(text).to_ascii_lowercase();
    let words = [
        "token",
        "password",
        "passphrase",
        "secret",
        "credential",
        "apikey",
        "api_key",
        "api-key",
        "extraheader",
    ];
    words.iter().any(|word| text.contains(word)) || text.lines().any(settings::has_password_in_address)
}

/// The examples in the settings that come with Maven are comments.
fn without_xml_comments(text: &str) -> String {
    let mut parts = text.split("<!--");
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        kept.push_str(part.split_once("-->").map_or(part, |(_comment, after)| after));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::{expand, names_a_secret};

    #[test]
    fn a_pattern_finds_what_fits_and_exists() {
        let root = tempfile::tempdir().unwrap();
        for path in ["versions/a/etc", "versions/b/etc", "versions/c/bin"] {
            std::fs::create_dir_all(root.path().join(path)).unwrap();
        }
        let mut found = expand(root.path().to_owned(), "versions/*/etc");
        found.sort();
        assert_eq!(found, ["versions/a/etc", "versions/b/etc"].map(|path| root.path().join(path)));
    }

    #[test]
    fn examples_in_comments_are_no_secrets() {
        assert!(!names_a_secret("<settings><!-- <password>example</password> --></settings>"));
        assert!(names_a_secret("<settings><!-- a --><password>real</password><!-- b --></settings>"));
        assert!(names_a_secret("url = https://me:pass@packages.example/simple"));
        assert!(names_a_secret("<!-- never closed <password>"));
        assert!(!names_a_secret("url = https://packages.example/simple"));
    }
}
