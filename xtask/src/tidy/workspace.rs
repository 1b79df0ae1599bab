//! What the rules look at: every path of the repository, the text of its sources, and cargo's view of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use serde::Deserialize;

/// Folders that are not ours. A folder with cargo's cache mark is skipped too, whatever its name.
const SKIPPED: &[&str] = &[".git", "node_modules"];
const CACHE_MARK: &str = "CACHEDIR.TAG";
const TEXTS: &[&str] = &["rs", "md", "toml"];

/// The repository, loaded once.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    packages: Vec<Package>,
    paths: BTreeSet<String>,
    texts: BTreeMap<String, String>,
}

/// A crate of the workspace.
#[derive(Clone, Debug)]
pub struct Package {
    /// Its name in `Cargo.toml`.
    pub name: String,
    /// What it says it is for.
    pub description: Option<String>,
    /// Its `Cargo.toml`, from the root of the repository.
    pub manifest: String,
    /// What it declares to depend on.
    pub dependencies: Vec<Dependency>,
}

/// A declared dependency.
#[derive(Clone, Debug)]
pub struct Dependency {
    /// The crate's own name, whatever it is renamed to.
    pub name: String,
    /// Who may use it.
    pub kind: DependencyKind,
}

/// The table of `Cargo.toml` a dependency stands in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DependencyKind {
    /// `[dependencies]`
    #[default]
    Normal,
    /// `[build-dependencies]`
    Build,
    /// `[dev-dependencies]`
    Dev,
}

/// Why the repository could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file or folder could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Cargo did not describe the workspace.
    #[error("`cargo metadata` failed: {0}")]
    Metadata(String),
}

impl Workspace {
    /// Loads the repository at `root`.
    ///
    /// # Errors
    ///
    /// When a folder or a source cannot be read, or cargo cannot describe the workspace.
    pub fn load(root: &Path) -> Result<Self, LoadError> {
        let mut workspace = Self { packages: packages(root)?, ..Self::default() };
        workspace.add_folder(root, "")?;
        Ok(workspace)
    }

    /// The crates of the workspace.
    #[must_use]
    pub fn packages(&self) -> &[Package] {
        &self.packages
    }

    /// Whether there is a file or folder at this path from the root.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        path.is_empty() || self.paths.contains(path)
    }

    /// The text of a Rust, Markdown or TOML file.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// The texts with this extension, as path and content.
    pub fn texts<'a>(&'a self, extension: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let matching = move |path: &str| path.rsplit_once('.').is_some_and(|(_, end)| end == extension);
        self.texts
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .filter(move |(path, _)| matching(path))
    }

    fn add_folder(&mut self, folder: &Path, prefix: &str) -> Result<(), LoadError> {
        let failed = |source| LoadError::Read { path: folder.to_owned(), source };
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if SKIPPED.contains(&name.as_str()) {
                continue;
            }
            let path = format!("{prefix}{name}");
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() {
                if !entry.path().join(CACHE_MARK).exists() {
                    self.add_folder(&entry.path(), &format!("{path}/"))?;
                    self.paths.insert(path);
                }
            } else {
                self.add_file(&entry.path(), path)?;
            }
        }
        Ok(())
    }

    fn add_file(&mut self, file: &Path, path: String) -> Result<(), LoadError> {
        if TEXTS.iter().any(|extension| path.ends_with(&format!(".{extension}"))) {
            let text = fs::read_to_string(file);
            let text = text.map_err(|source| LoadError::Read { path: file.to_owned(), source })?;
            self.texts.insert(path.clone(), text);
        }
        self.paths.insert(path);
        Ok(())
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<RawPackage>,
}

#[derive(Deserialize)]
struct RawPackage {
    name: String,
    description: Option<String>,
    manifest_path: PathBuf,
    dependencies: Vec<RawDependency>,
}

#[derive(Deserialize)]
struct RawDependency {
    name: String,
    kind: Option<DependencyKind>,
}

fn packages(root: &Path) -> Result<Vec<Package>, LoadError> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root)
        .output()
        .map_err(|error| LoadError::Metadata(error.to_string()))?;
    if !output.status.success() {
        return Err(LoadError::Metadata(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).map_err(|error| LoadError::Metadata(error.to_string()))?;
    Ok(metadata.packages.into_iter().map(|raw| raw.into_package(root)).collect())
}

impl RawPackage {
    fn into_package(self, root: &Path) -> Package {
        let manifest = self.manifest_path.strip_prefix(root).unwrap_or(&self.manifest_path);
        let dependency =
            |raw: RawDependency| Dependency { name: raw.name, kind: raw.kind.unwrap_or_default() };
        Package {
            name: self.name,
            description: self.description,
            manifest: manifest.to_string_lossy().replace('\\', "/"),
            dependencies: self.dependencies.into_iter().map(dependency).collect(),
        }
    }
}

/// Small repositories for the tests of the rules.
#[cfg(test)]
pub(super) mod example {
    use super::*;

    /// A repository of these files, each a path and its text.
    pub(crate) fn files(files: &[(&str, &str)]) -> Workspace {
        let mut workspace = Workspace::default();
        for (path, text) in files {
            let folders = path.match_indices('/').map(|(at, _)| path[..at].to_owned());
            workspace.paths.extend(folders);
            workspace.paths.insert((*path).to_owned());
            workspace.texts.insert((*path).to_owned(), (*text).to_owned());
        }
        workspace
    }

    /// The same with a crate in `crates/<name>`.
    pub(crate) fn with_package(
        mut workspace: Workspace,
        name: &str,
        uses: &[(&str, DependencyKind)],
    ) -> Workspace {
        let dependency = |(name, kind): &(&str, _)| Dependency { name: (*name).to_owned(), kind: *kind };
        workspace.packages.push(Package {
            name: name.to_owned(),
            description: Some("an example".to_owned()),
            manifest: format!("crates/{name}/Cargo.toml"),
            dependencies: uses.iter().map(dependency).collect(),
        });
        workspace
    }

    /// The same with the last crate's description taken away.
    pub(crate) fn undescribed(mut workspace: Workspace) -> Workspace {
        workspace.packages.last_mut().unwrap().description = None;
        workspace
    }
}
