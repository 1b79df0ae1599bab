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
    ".local/share/uv/python",
    ".local/share/uv/tools",
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
