//! Installed npm packages: a package, all it depends on, and which file is its program.
//!
//! The contents are laid out such that the place of installation leaves no trace in them:
//! `name@version/node_modules/name` is the package, and beside it are links to what it depends on. Many packages
//! require what they do not declare and find it because npm happens to put it near; for them, `node_modules` at
//! the top has a link to each package of the contents, of several versions to the one closest to the first package.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use mxd_core::tool::Version;
use serde::Deserialize;
use serde_json::Value;

use super::contents::{Contents, Kind};
use super::error::PackageError;
use super::limits;
use super::reference::{Bin, is_npm_name};

const FOLDER: &str = "node_modules";

/// What `package.json` says that matters here.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Description {
    name: String,
    version: String,
    bin: Value,
    dependencies: BTreeMap<String, Value>,
    optional_dependencies: BTreeMap<String, Value>,
    peer_dependencies: BTreeMap<String, Value>,
}

/// An installed package.
#[derive(Debug)]
pub(super) struct Installed {
    folder: PathBuf,
    description: Description,
}

impl Installed {
    /// The package in a folder.
    pub(super) fn in_folder(folder: &Path) -> Result<Self, PackageError> {
        let path = folder.join("package.json");
        let failed = |why: String| PackageError::Description { path: path.clone(), why };
        let about = fs::metadata(&path).map_err(|error| failed(error.to_string()))?;
        if about.len() > limits::DESCRIPTION_BYTES {
            return Err(failed(format!("it has more than {} bytes", limits::DESCRIPTION_BYTES)));
        }
        let text = fs::read_to_string(&path).map_err(|error| failed(error.to_string()))?;
        let description: Description =
            serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-+._".contains(c);
        if !is_npm_name(&description.name) || !description.version.chars().all(is_plain) {
            return Err(failed("its name or its version is none".to_owned()));
        }
        // Links are followed by Node.js as well.
        let folder = fs::canonicalize(folder)
            .map_err(|source| PackageError::Io { path: folder.to_owned(), source })?;
        Ok(Self { folder, description })
    }

    /// The first installation of a package in a version.
    pub(super) fn find(name: &str, version: &Version, folders: &[PathBuf]) -> Result<Self, PackageError> {
        let candidates = folders.iter().map(|folder| folder.join(name));
        let candidates = candidates.filter(|folder| folder.join("package.json").is_file());
        for candidate in candidates {
            let installed = Self::in_folder(&candidate)?;
            if installed.description.version == version.as_str() && installed.description.name == name {
                return Ok(installed);
            }
        }
        Err(PackageError::NpmMissing { name: name.to_owned(), version: version.clone() })
    }

    /// The package that a file inside of a `node_modules` belongs to, and the file's path in it.
    pub(super) fn around(file: &Path) -> Option<(PathBuf, PathBuf)> {
        let parts: Vec<_> = file.components().collect();
        let at = parts.iter().rposition(|part| part.as_os_str() == FOLDER)?;
        let scoped = parts.get(at + 1)?.as_os_str().to_string_lossy().starts_with('@');
        let end = at + if scoped { 3 } else { 2 };
        let (folder, inside) = parts.split_at_checked(end).filter(|(_, inside)| !inside.is_empty())?;
        Some((folder.iter().collect(), inside.iter().collect()))
    }

    /// Its version.
    pub(super) fn version(&self) -> &str {
        &self.description.version
    }

    /// Its name and version.
    pub(super) fn identity(&self) -> String {
        format!("{}@{}", self.description.name, self.description.version)
    }

    /// Where its folder is in the contents.
    pub(super) fn place(&self) -> String {
        format!("{}/{FOLDER}/{}", self.outer(), self.description.name)
    }

    fn outer(&self) -> String {
        self.identity().replace('/', "+")
    }

    /// The path of one of its programs, in the package.
    pub(super) fn program(&self, bin: &Bin) -> Result<String, PackageError> {
        let Description { name, bin: bins, .. } = &self.description;
        let short = name.rsplit('/').next().unwrap_or(name);
        let wanted = match bin {
            Bin::Named(wanted) => wanted,
            Bin::Default => short,
        };
        let found = match (bins, bin) {
            (Value::String(path), _) if wanted == short => Some(path.as_str()),
            (Value::Object(paths), Bin::Default) if paths.len() == 1 => {
                paths.values().next().and_then(Value::as_str)
            }
            (Value::Object(paths), _) => paths.get(wanted).and_then(Value::as_str),
            _ => None,
        };
        let missing = || PackageError::NoBin { package: self.identity(), bin: wanted.to_owned() };
        let path = found.map(|path| path.trim_start_matches("./")).ok_or_else(missing)?;
        let interpreter = interpreter(&self.folder.join(path))?;
        match interpreter.as_deref() {
            None | Some("node") => Ok(path.to_owned()),
            Some(other) => Err(PackageError::OtherInterpreter {
                program: path.to_owned(),
                interpreter: other.to_owned(),
            }),
        }
    }

    /// The package and all it depends on.
    pub(super) fn contents(&self) -> Result<Contents, PackageError> {
        let mut contents = Contents::of_kind(Kind::Npm);
        let mut seen = BTreeMap::new();
        let mut near: BTreeMap<String, String> = BTreeMap::new();
        let mut left = VecDeque::from([Self::in_folder(&self.folder)?]);
        while let Some(package) = left.pop_front() {
            let identity = package.identity();
            match seen.insert(identity.clone(), package.folder.clone()) {
                None => {}
                Some(folder) if folder == package.folder => continue,
                // Two copies of one package are one when they are alike, which their files show.
                Some(_) => {}
            }
            if seen.len() > limits::PACKAGES {
                return Err(PackageError::TooMany { what: "packages", limit: limits::PACKAGES as u64 });
            }
            let skips = |path: &Path| path == Path::new(FOLDER);
            let mut own = Contents::of_kind(Kind::Npm);
            own.folder(&package.place(), &package.folder, &skips)?;
            contents.merge(own)?;
            near.entry(package.description.name.clone()).or_insert_with(|| package.place());
            for dependency in package.needed()? {
                let at = format!("{}/{FOLDER}/{}", package.outer(), dependency.description.name);
                contents.link(&at, &relative(&at, &dependency.place()))?;
                left.push_back(dependency);
            }
        }
        for (name, place) in near {
            let at = format!("{FOLDER}/{name}");
            contents.link(&at, &relative(&at, &place))?;
        }
        Ok(contents)
    }

    /// What it depends on, as Node.js finds it.
    fn needed(&self) -> Result<Vec<Self>, PackageError> {
        let Description { dependencies, optional_dependencies, peer_dependencies, .. } = &self.description;
        let all: [&BTreeMap<_, _>; 3] = [dependencies, optional_dependencies, peer_dependencies];
        let names: BTreeSet<&String> = all.iter().flat_map(|names| names.keys()).collect();
        let mut needed = Vec::new();
        for name in names {
            let is_must = dependencies.contains_key(name) && !optional_dependencies.contains_key(name);
            let found = self.folder.ancestors().find_map(|folder| {
                let installed = folder.join(FOLDER).join(name);
                installed.join("package.json").is_file().then_some(installed)
            });
            match found {
                Some(folder) => needed.push(Self::in_folder(&folder)?),
                None if !is_must => {}
                None => {
                    let (package, dependency) = (self.identity(), name.clone());
                    return Err(PackageError::NpmDependencyMissing { package, dependency });
                }
            }
        }
        Ok(needed)
    }
}

/// The text of a link at one path that leads to another.
fn relative(at: &str, to: &str) -> String {
    format!("{}{to}", "../".repeat(at.matches('/').count()))
}

/// The name of the program that a script says it is for.
pub(super) fn interpreter(script: &Path) -> Result<Option<String>, PackageError> {
    let line = first_line(script)?;
    let Some(words) = line.strip_prefix("#!") else { return Ok(None) };
    let mut words = words.split_whitespace().filter(|word| *word != "-S");
    let first = words.next().unwrap_or_default();
    let name = |path: &str| Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(match name(first) {
        Some(env) if env == "env" => words.next().and_then(name),
        other => other,
    })
}

/// The first line of a file, when it is one of text.
pub(super) fn first_line(path: &Path) -> Result<String, PackageError> {
    use std::io::Read as _;
    let failed = |source| PackageError::Io { path: path.to_owned(), source };
    let mut start = Vec::new();
    fs::File::open(path).map_err(failed)?.take(256).read_to_end(&mut start).map_err(failed)?;
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(String::from_utf8_lossy(line).trim_end().to_owned())
}
