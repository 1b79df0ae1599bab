//! Where installed packages and programs are looked for.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::error::PackageError;
use super::limits;

/// Where installed packages and programs are looked for.
///
/// For packages: `node_modules` and `.venv` of the folders in [`near`](Places::near) and of all folders around them,
/// then what is installed for all of the user's projects, then what npx and uvx have fetched. The first that has
/// the right name and version counts; whether it is the right one, its digest says.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The folders to begin with; relative paths of commands start in the first one.
    pub near: Vec<PathBuf>,
    /// The folders with programs: `PATH`.
    pub path: String,
    /// The home folder.
    pub home: PathBuf,
    /// The folder of the programs that came with this one.
    pub beside: PathBuf,
}

/// A Python with what is installed for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Environment {
    /// The interpreter itself, past all links.
    pub(super) python: PathBuf,
    /// The folder of installed distributions.
    pub(super) site: PathBuf,
}

impl Places {
    fn around(&self) -> impl Iterator<Item = &Path> {
        self.near.iter().flat_map(|folder| folder.ancestors()).take(limits::ANCESTORS)
    }

    fn path_folders(&self) -> impl Iterator<Item = &Path> {
        self.path.split(':').map(Path::new).filter(|folder| folder.is_absolute())
    }

    /// The folders that hold npm packages.
    pub(super) fn node_modules(&self) -> Vec<PathBuf> {
        let around = self.around().map(|folder| folder.join("node_modules"));
        let global =
            self.path_folders().filter_map(Path::parent).map(|prefix| prefix.join("lib/node_modules"));
        let fetched = entries(&self.home.join(".npm/_npx")).map(|folder| folder.join("node_modules"));
        around.chain(global).chain(fetched).filter(|folder| folder.is_dir()).collect()
    }

    /// The Python environments.
    pub(super) fn environments(&self) -> Vec<Environment> {
        let around = self.around().flat_map(|folder| [folder.join(".venv"), folder.join("venv")]);
        let active = self.path_folders().filter_map(Path::parent).map(Path::to_owned);
        let tools = entries(&self.home.join(".local/share/uv/tools"));
        let fetched = entries(&self.home.join(".cache/uv/archive-v0"));
        let folders = around.chain(active).chain(tools).chain(fetched);
        folders.filter_map(|folder| Environment::of(&folder)).collect()
    }

    /// A program by its name or its path, past all links.
    pub(super) fn program(&self, command: &str) -> Result<PathBuf, PackageError> {
        let given = Path::new(command);
        let found = if given.is_absolute() {
            Some(given.to_owned())
        } else if command.contains('/') {
            self.near.first().map(|folder| folder.join(given))
        } else {
            self.path_folders().map(|folder| folder.join(command)).find(|path| is_program(path))
        };
        let found = found.filter(|path| is_program(path)).and_then(|path| fs::canonicalize(path).ok());
        found.ok_or_else(|| PackageError::NoProgram { command: command.to_owned() })
    }

    /// A script by its path, past all links.
    pub(super) fn script(&self, script: &str) -> Result<PathBuf, PackageError> {
        let start = self.near.first().map_or_else(PathBuf::new, Clone::clone);
        let path = start.join(script);
        fs::canonicalize(&path).map_err(|source| PackageError::Io { path, source })
    }
}

impl Environment {
    /// The virtual environment in a folder.
    pub(super) fn of(folder: &Path) -> Option<Self> {
        if !folder.join("pyvenv.cfg").is_file() {
            return None;
        }
        let python = fs::canonicalize(folder.join("bin/python")).ok()?;
        let version = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"))
        };
        let mut versions: Vec<PathBuf> = entries(&folder.join("lib")).filter(version).collect();
        versions.sort();
        let site = versions.into_iter().map(|lib| lib.join("site-packages")).find(|site| site.is_dir())?;
        Some(Self { python, site })
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    entries.into_iter().take(limits::INSTALLATIONS)
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}
