//! Installed distributions of PyPI: one of them, all it depends on, and which function is its program.
//!
//! Files are those that each distribution's `RECORD` names, as they lie in the folder of installed distributions.
//! Left out is what depends on the installation: compiled bytecode, programs outside of that folder (their first
//! line names the place of the interpreter), and notes of the installer.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use mxd_core::tool::Version;

use super::contents::{Contents, Kind};
use super::error::PackageError;
use super::limits;
use super::places::Environment;

/// The folder of the contents.
pub(super) const FOLDER: &str = "site";
/// What installers write into the folder of a distribution beside what the distribution has.
const NOTES: &[&str] = &[
    "RECORD",
    "RECORD.jws",
    "RECORD.p7s",
    "INSTALLER",
    "REQUESTED",
    "direct_url.json",
    "provenance_url.json",
    "uv_build.json",
    "uv_cache.json",
];

/// An installed distribution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Distribution {
    site: PathBuf,
    folder: String,
    name: String,
    version: String,
    needs: Vec<Requirement>,
}

/// What a distribution needs.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    name: String,
    extras: BTreeSet<String>,
    /// Needed only with one of these extras; none for always.
    only_with: BTreeSet<String>,
    /// Whether it depends on the machine.
    is_conditional: bool,
}

/// All distributions of an environment, by name.
#[derive(Debug)]
pub(super) struct Distributions(BTreeMap<String, Distribution>);

impl Distributions {
    /// Reads what is installed.
    pub(super) fn of(environment: &Environment) -> Result<Self, PackageError> {
        let site = &environment.site;
        let failed = |source| PackageError::Io { path: site.clone(), source };
        let mut all = BTreeMap::new();
        for entry in fs::read_dir(site).map_err(failed)? {
            let folder = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
            if folder.ends_with(".dist-info") && site.join(&folder).join("METADATA").is_file() {
                let found = Distribution::read(site, folder)?;
                all.insert(found.name.clone(), found);
            }
        }
        Ok(Self(all))
    }

    /// A distribution by its name, in any spelling.
    pub(super) fn get(&self, name: &str) -> Option<&Distribution> {
        self.0.get(&normal(name))
    }

    /// The distribution that has a module.
    pub(super) fn with_module(&self, module: &str) -> Result<&Distribution, PackageError> {
        let path = module.replace('.', "/");
        let files = [format!("{path}/__main__.py"), format!("{path}.py")];
        for distribution in self.0.values() {
            let record = distribution.record()?;
            if files.iter().any(|file| record.contains(file)) {
                return Ok(distribution);
            }
        }
        Err(PackageError::NoModule { module: module.to_owned() })
    }

    /// The distribution that has a program.
    pub(super) fn with_script(&self, script: &str) -> Option<&Distribution> {
        self.0.values().find(|distribution| distribution.entry_point(script).is_ok())
    }

    /// A distribution with all it depends on.
    pub(super) fn contents(&self, of: &Distribution) -> Result<Contents, PackageError> {
        let mut contents = Contents::of_kind(Kind::PyPi);
        let mut wanted: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        let mut left = vec![(of, BTreeSet::new())];
        while let Some((distribution, extras)) = left.pop() {
            let first_time = !wanted.contains_key(distribution.name.as_str());
            let known = wanted.entry(&distribution.name).or_default();
            if !first_time && extras.is_subset(known) {
                continue;
            }
            known.extend(extras);
            if first_time {
                distribution.add_to(&mut contents)?;
            }
            let applies =
                |need: &&Requirement| need.only_with.is_empty() || !need.only_with.is_disjoint(known);
            for need in distribution.needs.iter().filter(applies) {
                match self.0.get(&need.name) {
                    Some(found) => left.push((found, need.extras.clone())),
                    // Whether it applies here the installer knew; what is not there cannot run.
                    None if need.is_conditional || !need.only_with.is_empty() => {}
                    None => {
                        let (distribution, dependency) = (distribution.identity(), need.name.clone());
                        return Err(PackageError::PyPiDependencyMissing { distribution, dependency });
                    }
                }
            }
            if wanted.len() > limits::PACKAGES {
                return Err(PackageError::TooMany { what: "packages", limit: limits::PACKAGES as u64 });
            }
        }
        Ok(contents)
    }
}

/// The first environment that has a distribution in a version.
pub(super) fn find(
    name: &str,
    version: &Version,
    environments: Vec<Environment>,
) -> Result<(Environment, Distributions), PackageError> {
    for environment in environments {
        let all = Distributions::of(&environment)?;
        if all.get(name).is_some_and(|found| found.version == version.as_str()) {
            return Ok((environment, all));
        }
    }
    Err(PackageError::PyPiMissing { name: name.to_owned(), version: version.clone() })
}

impl Distribution {
    fn read(site: &Path, folder: String) -> Result<Self, PackageError> {
        let text = description(&site.join(&folder).join("METADATA"))?;
        let headers = text.lines().take_while(|line| !line.is_empty());
        let (mut name, mut version, mut needs) = (String::new(), String::new(), Vec::new());
        for (key, value) in headers.filter_map(|line| line.split_once(": ")) {
            match key {
                "Name" => name = normal(value),
                "Version" => value.trim().clone_into(&mut version),
                "Requires-Dist" => needs.extend(requirement(value)),
                _ => {}
            }
        }
        Ok(Self { site: site.to_owned(), folder, name, version, needs })
    }

    /// Its version.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Its name and version.
    pub(super) fn identity(&self) -> String {
        format!("{}=={}", self.name, self.version)
    }

    fn record(&self) -> Result<BTreeSet<String>, PackageError> {
        let text = description(&self.site.join(&self.folder).join("RECORD"))?;
        Ok(text.lines().filter_map(record_path).collect())
    }

    fn add_to(&self, contents: &mut Contents) -> Result<(), PackageError> {
        let about = self.site.join(&self.folder).join("direct_url.json");
        let is_editable = about.is_file() && description(&about)?.contains("\"editable\": true");
        if is_editable || self.record()?.iter().any(|path| path.starts_with("__editable__")) {
            return Err(PackageError::Editable { distribution: self.identity() });
        }
        let is_note = |path: &str| {
            let note = path.strip_prefix(&self.folder).and_then(|rest| rest.strip_prefix('/'));
            note.is_some_and(|note| NOTES.contains(&note))
        };
        for path in self.record()? {
            let is_outside = path.starts_with('/') || path.split('/').any(|part| part == "..");
            let is_bytecode = path.ends_with(".pyc") || path.split('/').any(|part| part == "__pycache__");
            if !is_outside && !is_bytecode && !is_note(&path) {
                contents.file(&format!("{FOLDER}/{path}"), self.site.join(&path))?;
            }
        }
        Ok(())
    }

    /// The module and the function of one of its programs.
    pub(super) fn entry_point(&self, script: &str) -> Result<(String, String), PackageError> {
        let missing = || PackageError::NoScript { distribution: self.identity(), script: script.to_owned() };
        let text =
            description(&self.site.join(&self.folder).join("entry_points.txt")).map_err(|_| missing())?;
        let section = text.lines().map(str::trim).skip_while(|line| *line != "[console_scripts]").skip(1);
        let lines = section.take_while(|line| !line.starts_with('['));
        let target = lines.filter_map(|line| line.split_once('=')).find(|(name, _)| name.trim() == script);
        let target = target.and_then(|(_, target)| target.split_whitespace().next()?.split_once(':'));
        target.map(|(module, name)| (module.to_owned(), name.to_owned())).ok_or_else(missing)
    }
}

fn description(path: &Path) -> Result<String, PackageError> {
    let failed = |why: String| PackageError::Description { path: path.to_owned(), why };
    let about = fs::metadata(path).map_err(|error| failed(error.to_string()))?;
    if about.len() > limits::DESCRIPTION_BYTES {
        return Err(failed(format!("it has more than {} bytes", limits::DESCRIPTION_BYTES)));
    }
    fs::read_to_string(path).map_err(|error| failed(error.to_string()))
}

/// The one spelling of a name.
fn normal(name: &str) -> String {
    let mut normal = String::new();
    for c in name.trim().chars().map(|c| if "-_.".contains(c) { '-' } else { c.to_ascii_lowercase() }) {
        if c != '-' || !normal.ends_with('-') {
            normal.push(c);
        }
    }
    normal
}

/// The path in a line of `RECORD`, which has commas between its fields and quotes where a field has one.
fn record_path(line: &str) -> Option<String> {
    let Some(quoted) = line.strip_prefix('"') else {
        return line.split(',').next().filter(|path| !path.is_empty()).map(str::to_owned);
    };
    let (mut path, mut chars) = (String::new(), quoted.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '"' if chars.next_if_eq(&'"').is_none() => break,
            c => path.push(c),
        }
    }
    (!path.is_empty()).then_some(path)
}

/// Reads `name[extra]>=1; python_version < "3.11" and extra == "more"`.
fn requirement(text: &str) -> Option<Requirement> {
    let (what, marker) = text.split_once(';').unwrap_or((text, ""));
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let what = what.trim();
    let end = what.find(|c: char| !is_part(c)).unwrap_or(what.len());
    let name = normal(&what[..end]);
    let inside = what[end..].trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let extras = inside.map(|(extras, _)| extras.split(',').map(normal).collect()).unwrap_or_default();
    let quoted = |rest: &str| {
        let rest = rest.trim_start().strip_prefix("==")?.trim_start();
        let quote = rest.chars().next().filter(|c| "'\"".contains(*c))?;
        rest[1..].split_once(quote).map(|(extra, _)| normal(extra))
    };
    let only_with = marker.split("extra").skip(1).filter_map(quoted).collect();
    (!name.is_empty()).then_some(Requirement { name, extras, only_with, is_conditional: !marker.is_empty() })
}

#[cfg(test)]
mod tests {
    use super::{normal, record_path, requirement};

    #[test]
    fn requirements_are_read() {
        let read = |text| {
            let need = requirement(text).unwrap();
            let words = |set: &std::collections::BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>();
            (need.name.clone(), words(&need.extras), words(&need.only_with), need.is_conditional)
        };
        let plain = |name: &str, conditional| (name.to_owned(), vec![], vec![], conditional);
        assert_eq!(read("mcp<3,>=2.3"), plain("mcp", false));
        assert_eq!(read("Typing_Extensions (>=4)"), plain("typing-extensions", false));
        assert_eq!(read("tzdata; sys_platform == 'win32'"), plain("tzdata", true));
        let (name, extras, only_with, conditional) =
            read("pyjwt[crypto, Extra_Two]>=2 ; python_version<'4' and extra == \"ws\"");
        assert_eq!((name.as_str(), conditional), ("pyjwt", true));
        assert_eq!((extras, only_with), (vec!["crypto".into(), "extra-two".into()], vec!["ws".to_owned()]));
    }

    #[test]
    fn names_have_one_spelling() {
        assert_eq!(normal("Foo__Bar.-baz"), "foo-bar-baz");
    }

    #[test]
    fn paths_of_a_record_are_read() {
        assert_eq!(record_path("a/b.py,sha256=x,3").as_deref(), Some("a/b.py"));
        assert_eq!(record_path("a/b.pyc,,").as_deref(), Some("a/b.pyc"));
        assert_eq!(record_path("\"a,\"\"b\"\".py\",sha256=x,3").as_deref(), Some("a,\"b\".py"));
        assert_eq!(record_path(""), None);
    }
}
