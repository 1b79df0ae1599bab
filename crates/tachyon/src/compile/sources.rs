//! All files of a compilation: what the caller brought, and what that imports.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::imports::{self, Remapping};
use super::{Toolchain, scan, unbuilt};
use crate::fault::Fault;
use crate::limits;

/// What a caller brings: files, or a folder that has them.
#[derive(Debug, Clone)]
pub(crate) enum Upload {
    Files { files: BTreeMap<String, String>, remappings: Vec<String> },
    Project { root: PathBuf, remappings: Vec<String> },
}

/// A closed set of files.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) files: BTreeMap<String, File>,
    pub(super) remappings: Vec<String>,
}

#[derive(Debug)]
pub(super) struct File {
    pub(super) text: String,
    /// Whether the caller brought it.
    pub(super) own: bool,
}

/// Where files are looked for that nobody brought.
struct Shelves {
    /// The project itself.
    project: Option<PathBuf>,
    libraries: Vec<PathBuf>,
}

pub(super) fn gather(toolchain: &Toolchain, upload: &Upload) -> Result<Gathered, Fault> {
    let (own, told, project) = match upload {
        Upload::Files { files, remappings } => (uploaded(files)?, remappings.clone(), None),
        Upload::Project { root, remappings } => {
            let root = allowed_root(toolchain, root)?;
            let own = project_files(&root)?;
            let mut told = remappings.clone();
            let written = std::fs::read_to_string(root.join("remappings.txt")).unwrap_or_default();
            told.extend(written.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned));
            (own, told, Some(root))
        }
    };
    if own.is_empty() {
        return Err(Fault::invalid("there is no Solidity file (*.sol) to compile"));
    }
    let remappings = told.iter().map(|text| Remapping::parse(text)).collect::<Result<Vec<_>, _>>()?;
    let mut libraries = Vec::new();
    if let Some(root) = &project {
        libraries.extend(["lib", "node_modules"].map(|name| root.join(name)));
    }
    libraries.extend(toolchain.libraries.iter().cloned());
    let shelves = Shelves { project, libraries };
    let mut files: BTreeMap<String, File> =
        own.into_iter().map(|(name, text)| (name, File { text, own: true })).collect();
    close(&mut files, &remappings, &shelves)?;
    let remappings = remappings.iter().map(Remapping::text).collect();
    Ok(Gathered { files, remappings })
}

/// Adds what is imported, until nothing is missing.
fn close(
    files: &mut BTreeMap<String, File>,
    remappings: &[Remapping],
    shelves: &Shelves,
) -> Result<(), Fault> {
    let mut unread: Vec<String> = files.keys().cloned().collect();
    let mut bytes: usize = files.values().map(|file| file.text.len()).sum();
    while let Some(name) = unread.pop() {
        let imported = files.get(&name).map(|file| scan::directives(&file.text).imports).unwrap_or_default();
        for path in imported {
            let target = imports::resolve(&name, &path, remappings)?;
            if files.contains_key(&target) {
                continue;
            }
            let text = shelves.read(&target)?.ok_or_else(|| {
                unbuilt(format!(
                    "{name} imports `{path}`, which is neither among the sources nor in a library folder; add it, or install \
                     the library with `tachyon library add`"
                ))
            })?;
            bytes += text.len();
            if bytes > limits::SOURCE_BYTES || files.len() >= limits::SOURCE_FILES {
                return Err(too_much());
            }
            files.insert(target.clone(), File { text, own: false });
            unread.push(target);
        }
    }
    Ok(())
}

fn too_much() -> Fault {
    let (files, bytes) = (limits::SOURCE_FILES, limits::SOURCE_BYTES);
    Fault::invalid(format!("with its imports there are more than {files} files or {bytes} bytes"))
}

impl Shelves {
    /// A file by its name. Only Solidity files inside of the folders are ever read.
    fn read(&self, name: &str) -> Result<Option<String>, Fault> {
        imports::check_name(name)?;
        let nested = name
            .split_once('/')
            .map(|(library, rest)| [format!("{library}/src/{rest}"), format!("{library}/contracts/{rest}")]);
        let names = std::iter::once(name.to_owned()).chain(nested.into_iter().flatten());
        let names: Vec<String> = names.collect();
        let own = self.project.iter().map(|folder| (folder, &names[..1]));
        for (folder, names) in own.chain(self.libraries.iter().map(|folder| (folder, &names[..]))) {
            if let Some(path) = names.iter().find_map(|name| super::file_within(folder, name)) {
                return read_file(&path).map(Some);
            }
        }
        Ok(None)
    }
}

fn read_file(path: &Path) -> Result<String, Fault> {
    let size = std::fs::metadata(path).map_or(0, |about| about.len());
    if size > limits::SOURCE_FILE_BYTES as u64 {
        let most = limits::SOURCE_FILE_BYTES;
        return Err(Fault::invalid(format!("{} has {size} bytes, at most {most} are taken", path.display())));
    }
    std::fs::read_to_string(path).map_err(|error| Fault::invalid(format!("{}: {error}", path.display())))
}

/// Files of an upload. Whatever is no Solidity file is left alone: configurations of other tools have no say here.
fn uploaded(files: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, Fault> {
    let bytes: usize = files.values().map(String::len).sum();
    if files.len() > limits::SOURCE_FILES || bytes > limits::SOURCE_BYTES {
        return Err(too_much());
    }
    let mut own = BTreeMap::new();
    for (name, text) in files {
        imports::check_path(name)?;
        if text.len() > limits::SOURCE_FILE_BYTES {
            let most = limits::SOURCE_FILE_BYTES;
            return Err(Fault::invalid(format!("{name} has {} bytes, at most {most} are taken", text.len())));
        }
        if name.ends_with(".sol") {
            own.insert(name.clone(), text.clone());
        }
    }
    Ok(own)
}

/// A project folder, if the operator lets it be compiled.
fn allowed_root(toolchain: &Toolchain, root: &Path) -> Result<PathBuf, Fault> {
    let refused = || {
        let message = format!(
            "`{}` is no folder below a `project_roots` of the configuration; send the files as `sources` instead",
            root.display()
        );
        Fault::invalid(message)
    };
    let root = root.canonicalize().map_err(|_| refused())?;
    let inside = |allowed: &PathBuf| allowed.canonicalize().is_ok_and(|allowed| root.starts_with(allowed));
    if root.is_dir() && toolchain.project_roots.iter().any(inside) { Ok(root) } else { Err(refused()) }
}

/// The Solidity files of a project, without those of its libraries.
fn project_files(root: &Path) -> Result<BTreeMap<String, String>, Fault> {
    const FOREIGN: [&str; 6] = ["node_modules", "lib", "out", "cache", "artifacts", "target"];
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder);
        let entries = entries.map_err(|error| Fault::invalid(format!("{}: {error}", folder.display())))?;
        for entry in entries.filter_map(Result::ok) {
            let name = entry.file_name().to_string_lossy().into_owned();
            // Links could lead anywhere.
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && !name.starts_with('.') && !FOREIGN.contains(&name.as_str()) {
                folders.push(entry.path());
            }
            let relative = entry.path().strip_prefix(root).map(|path| path.to_string_lossy().into_owned());
            if let (true, true, Ok(relative)) = (kind.is_file(), name.ends_with(".sol"), relative) {
                files.insert(relative, read_file(&entry.path())?);
            }
            if files.len() > limits::SOURCE_FILES {
                return Err(too_much());
            }
        }
    }
    Ok(files)
}
