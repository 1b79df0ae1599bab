//! Where programming languages keep their tools and caches in a home folder.
//!
//! A home folder is full of keys, so nothing in it is shown unless it stands in one of these tables.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::policy::Overlay;
use super::environment::User;

/// Programs and their libraries.
const PROGRAMS: &[&str] = &[
    ".asdf",
    ".bun/bin",
    ".cargo/bin",
    ".deno/bin",
    ".dotnet",
    ".elan",
    ".ghcup",
    ".goenv",
    ".jenv",
    ".juliaup",
    ".local/bin",
    ".local/lib",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pipx",
    ".local/share/uv",
    ".nix-profile",
    ".nodenv",
    ".nvm",
    ".opam",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".rvm",
    ".sdkman/candidates",
    ".volta",
    "go/bin",
];

/// Downloads that are the same for everybody. The agent's own additions are kept apart.
const CACHES: &[&str] = &[
    ".bun/install/cache",
    ".cache/go-build",
    ".cache/pip",
    ".cache/pnpm",
    ".cache/uv",
    ".cache/yarn",
    ".cargo/git",
    ".cargo/registry",
    ".gradle/caches",
    ".local/share/pnpm/store",
    ".m2/repository",
    ".npm/_cacache",
    ".yarn/berry/cache",
    "go/pkg/mod",
];

/// Settings that say where packages come from. They are shown when no key stands in them.
const SETTINGS: &[&str] = &[
    ".cargo/config",
    ".cargo/config.toml",
    ".config/pip/pip.conf",
    ".config/uv/uv.toml",
    ".npmrc",
    ".pip/pip.conf",
];

/// The most of a settings file that is looked at; a longer one is not shown.
const SETTINGS_BYTES: u64 = 64 * 1024;

/// Variables that point to programs.
pub(super) const PROGRAM_VARIABLES: &[&str] = &[
    "BUN_INSTALL",
    "DOTNET_ROOT",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "RUSTUP_HOME",
    "SDKMAN_DIR",
    "VOLTA_HOME",
];

/// Folders with programs: the known ones, those in `PATH`, and those that variables point to.
pub(super) fn programs(user: &User) -> Vec<PathBuf> {
    let known = PROGRAMS.iter().map(|name| user.home.join(name));
    let on_path = user.path.split(':').map(PathBuf::from).filter(|folder| folder.is_absolute());
    let pointed_to = PROGRAM_VARIABLES.iter().filter_map(|name| user.variable(name)).map(PathBuf::from);
    let cargo = user.variable("CARGO_HOME").map(|home| Path::new(home).join("bin"));
    // A variable that points to the home folder itself, or to something around it, would show everything in it.
    known
        .chain(on_path)
        .chain(pointed_to)
        .chain(cargo)
        .filter(|folder| !user.home.starts_with(folder))
        .filter_map(|folder| fs::canonicalize(&folder).ok().map(|real| [folder, real]))
        .flatten()
        .filter(|folder| !user.home.starts_with(folder))
        .collect()
}

/// The caches that exist, each with a layer for changes below `layers`.
pub(super) fn caches(user: &User, layers: &Path) -> Vec<Overlay> {
    let cargo = user.variable("CARGO_HOME").map(PathBuf::from);
    let elsewhere = cargo.iter().flat_map(|home| [home.join("git"), home.join("registry")]);
    let mut lowers: Vec<PathBuf> = CACHES.iter().map(|name| user.home.join(name)).chain(elsewhere).collect();
    lowers.sort();
    lowers.dedup();
    let exists = |lower: &PathBuf| lower.is_dir() && fs::canonicalize(lower).is_ok_and(|real| real == *lower);
    lowers
        .into_iter()
        .filter(exists)
        .map(|lower| {
            let name = lower.to_string_lossy().trim_start_matches('/').replace('/', "-");
            let layer = layers.join(name);
            Overlay { lower, upper: layer.join("upper"), work: layer.join("work") }
        })
        .collect()
}

/// The settings that give nothing away.
pub(super) fn clean_settings(home: &Path) -> Vec<PathBuf> {
    SETTINGS.iter().map(|name| home.join(name)).filter(|path| is_clean(path)).collect()
}

fn is_clean(path: &Path) -> bool {
    let small = fs::metadata(path).is_ok_and(|what| what.is_file() && what.len() <= SETTINGS_BYTES);
    small && fs::read_to_string(path).is_ok_and(|text| !text.lines().any(gives_away))
}

/// Whether a line looks like it holds a key, or an address with a password.
fn gives_away(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    let named =
        ["token", "password", "passwd", "_auth", "secret", "credential", "apikey", "api_key", "api-key"];
    let in_address = line.split("://").skip(1).any(|rest| {
        let authority = rest.split(['/', '"', '\'', ' ', '?', '#']).next().unwrap_or_default();
        authority.contains('@')
    });
    in_address || named.iter().any(|name| line.contains(name))
}

#[cfg(test)]
mod tests {
    use super::gives_away;

    #[test]
    fn keys_and_passwords_are_recognised() {
        for line in [
            "//registry.example/:_authToken=abc",
            "index-url = https://me:pass@pypi.example/simple",
            "token = \"abc\"",
            "_password=abc",
        ] {
            assert!(gives_away(line), "{line}");
        }
        for line in
            ["index-url = https://pypi.example/simple", "fund=false", "[net]", "cert = /etc/ssl/a@b.pem"]
        {
            assert!(!gives_away(line), "{line}");
        }
    }
}
