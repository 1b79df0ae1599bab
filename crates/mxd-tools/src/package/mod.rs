//! Packages of servers: what a command refers to, its digest, and how exactly that is run.
//!
//! [`Reference`] reads a command; [`Places`] say where installed packages are; [`Contents`] are the files that it
//! comes to, with their digest; the [`Store`] has a copy of each, from which servers are started. [`Packages`] does
//! all of it for one server: [`Packages::prepare`]. The algorithm and the choices are in `docs/manifests.md`.
//!
//! Programs that came with this one ([`COMPANIONS`]) have no digest of their files, because whoever builds them gets
//! other bytes. They are started only from the folder of this program, whose owner is trusted already, and the
//! digest in the manifest is that of the definitions of their tools ([`definitions_digest`]).

mod contents;
mod definitions;
mod error;
mod find;
pub mod limits;
mod npm;
mod places;
mod pypi;
mod reference;
mod store;

pub use contents::{Contents, Kind};
pub use definitions::definitions_digest;
pub use error::PackageError;
pub use places::Places;
pub use reference::{Bin, Reference, Runtime, Unclear};
pub use store::{Store, Unused};

use std::path::{Path, PathBuf};

use mxd_core::manifest::{DigestState, Package, Placeholders, Program, ServerSpec};
use mxd_core::tool::{Digest, ServerName};

use find::{Found, Word};
use store::Kept;

/// Programs that come with this one.
pub const COMPANIONS: &[&str] = &["tachyon"];

/// Whether a command means a program that comes with this one.
pub fn is_companion(program: &Program) -> bool {
    COMPANIONS.contains(&program.command.as_str())
}

/// Verifies the packages of servers, and says how they are run.
#[derive(Debug, Clone)]
pub struct Packages {
    /// Where verified copies are.
    pub store: Store,
    /// Where installed packages are.
    pub places: Places,
    /// What to do with digests that nobody computed.
    pub placeholders: Placeholders,
}

/// A program that may be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runnable {
    /// What is run: a whole path, unless nobody vouches for it.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// What it has to see of the machine beside what every process sees.
    pub reads: Vec<PathBuf>,
    /// What vouches for it.
    pub assurance: Assurance,
}

/// What vouches for a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assurance {
    /// Its files have the digest of the manifest.
    Verified(Digest),
    /// The manifest has only a placeholder; this would be the digest.
    Placeholder(Digest),
    /// It came with this program. Its definitions have to have this digest, or it is a placeholder.
    Companion,
    /// Nobody: it is not in a manifest.
    Nobody,
}

impl Runnable {
    /// A program as it is written, for which nobody vouches.
    pub fn unverified(program: &Program) -> Self {
        let Program { command, args, .. } = program.clone();
        // Whoever starts a program by its path lets it be read.
        let reads = Some(PathBuf::from(&command)).filter(|path| path.is_absolute()).into_iter().collect();
        Self { program: command, args, reads, assurance: Assurance::Nobody }
    }
}

impl Packages {
    /// Verifies the package of a server that is a program, and says how it is run.
    ///
    /// # Errors
    ///
    /// When nobody can tell what the command means, it is not installed, or it is not what the manifest says.
    pub fn prepare(
        &self,
        server: &ServerName,
        program: &Program,
        package: &Package,
    ) -> Result<Runnable, PackageError> {
        if self.placeholders == Placeholders::Refuse && package.digest.state() == DigestState::Placeholder {
            return Err(PackageError::Placeholder { server: server.clone() });
        }
        if let Some(companion) = self.companion(program) {
            return companion;
        }
        let found = self.find(program, package)?;
        let digest = found.contents.digest()?;
        let assurance = match package.digest.state() {
            DigestState::Placeholder => Assurance::Placeholder(digest),
            DigestState::Real if package.digest.digest() == digest => Assurance::Verified(digest),
            DigestState::Real => {
                let (server, declared) = (server.clone(), package.digest.digest());
                return Err(PackageError::OtherDigest { server, declared, found: digest });
            }
        };
        match self.store.keep(&found.contents, digest)? {
            Kept::At(folder) => Ok(runnable(&found, &folder, assurance)),
            Kept::Other => Err(PackageError::Changing { server: server.clone() }),
        }
    }

    /// The digest that the package of a server has as it is installed, in the version of the manifest.
    ///
    /// # Errors
    ///
    /// When nobody can tell what the command means, or it is not installed.
    pub fn measure_server(&self, server: &ServerSpec, program: &Program) -> Result<Measured, PackageError> {
        let found = match &server.package {
            Some(package) => self.find(program, package)?,
            None => find::find(&Reference::of(program)?, &self.places)?,
        };
        measured(&found.contents, found.version)
    }

    /// The digest of what a command means, without a manifest.
    ///
    /// # Errors
    ///
    /// When nobody can tell what the command means, or it is not installed.
    pub fn measure(&self, program: &Program) -> Result<Measured, PackageError> {
        let found = find::find(&Reference::of(program)?, &self.places)?;
        measured(&found.contents, found.version)
    }

    /// The digest of a file, of an installed npm package, or of a folder.
    ///
    /// # Errors
    ///
    /// When it is not there or cannot be read.
    pub fn measure_path(&self, path: &Path) -> Result<Measured, PackageError> {
        measured(&find::at_path(path, &self.places)?, None)
    }

    fn find(&self, program: &Program, package: &Package) -> Result<Found, PackageError> {
        let reference = Reference::of(program)?;
        let differs = |version: &str| {
            let (command, manifest) = (version.to_owned(), package.version.clone());
            (version != manifest.as_str()).then_some(PackageError::OtherVersion { command, manifest })
        };
        if let Some(other) = reference.version().and_then(|version| differs(version.as_str())) {
            return Err(other);
        }
        let found = find::find(&reference, &self.places)?;
        match found.version.as_deref().and_then(differs) {
            Some(other) => Err(other),
            None => Ok(found),
        }
    }

    /// A program that came with this one: by its name alone, from the folder of this one.
    fn companion(&self, program: &Program) -> Option<Result<Runnable, PackageError>> {
        if !is_companion(program) {
            return None;
        }
        let path = self.places.beside.join(&program.command);
        if !path.is_file() {
            return Some(Err(PackageError::NoProgram { command: path.to_string_lossy().into_owned() }));
        }
        Some(Ok(Runnable {
            program: path.to_string_lossy().into_owned(),
            args: program.args.clone(),
            reads: vec![path],
            assurance: Assurance::Companion,
        }))
    }
}

/// A digest, and what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    /// The digest.
    pub digest: Digest,
    /// Of which kind the package is.
    pub kind: Kind,
    /// How many files and links it has.
    pub files: usize,
    /// Its version, where one is written down.
    pub version: Option<String>,
}

fn measured(contents: &Contents, version: Option<String>) -> Result<Measured, PackageError> {
    Ok(Measured { digest: contents.digest()?, kind: contents.kind(), files: contents.len(), version })
}

fn runnable(found: &Found, folder: &Path, assurance: Assurance) -> Runnable {
    let word = |word: &Word| match word {
        Word::Plain(word) => word.clone(),
        Word::Inside(path) => folder.join(path).to_string_lossy().into_owned(),
    };
    let mut words = found.words.iter().map(word);
    let program = words.next().unwrap_or_default();
    // An interpreter has its library beside its own folder.
    let interpreter = found.interpreter.iter().flat_map(|path| {
        let prefix = path.parent().and_then(Path::parent).filter(|prefix| prefix.components().count() > 2);
        [Some(path.clone()), prefix.map(Path::to_owned)]
    });
    let reads = interpreter.flatten().chain([folder.to_owned()]).collect();
    Runnable { program, args: words.collect(), reads, assurance }
}
