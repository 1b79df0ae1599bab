//! Why a server's package cannot be told, found or trusted.

use std::io;
use std::path::PathBuf;

use mxd_core::tool::{Digest, ServerName, Version};
use thiserror::Error;

use super::reference::Unclear;

/// Why a server's package cannot be used.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the message above each variant says what its fields are")]
pub enum PackageError {
    #[error(transparent)]
    Unclear(#[from] Unclear),
    #[error("the program `{command}` is not on this machine")]
    NoProgram { command: String },
    #[error("the npm package {name}@{version} is not installed")]
    NpmMissing { name: String, version: Version },
    #[error("{package} needs {dependency}, which is not installed")]
    NpmDependencyMissing { package: String, dependency: String },
    #[error("the npm package {package} has no program `{bin}`")]
    NoBin { package: String, bin: String },
    #[error("{program} is started with `{interpreter}`, not with Node.js")]
    OtherInterpreter { program: String, interpreter: String },
    #[error("the distribution {name}=={version} is not installed")]
    PyPiMissing { name: String, version: Version },
    #[error("{distribution} needs {dependency}, which is not installed")]
    PyPiDependencyMissing { distribution: String, dependency: String },
    #[error("no installed distribution has the module {module}")]
    NoModule { module: String },
    #[error("the distribution {distribution} has no program `{script}`")]
    NoScript { distribution: String, script: String },
    #[error("{distribution} is installed as a link to its sources")]
    Editable { distribution: String },
    #[error("the command names version {command}, the manifest version {manifest}")]
    OtherVersion { command: String, manifest: Version },
    #[error("{folder} would be the package, and it holds far more than that")]
    TooWide { folder: PathBuf },
    #[error("{path} cannot be read: {why}")]
    Description { path: PathBuf, why: String },
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error("{path} is neither a file nor a folder nor a link")]
    NoFile { path: PathBuf },
    #[error("the name {path:?} cannot be part of a digest")]
    Name { path: PathBuf },
    #[error("{path} would be there twice, each time with something else in it")]
    Twice { path: String },
    #[error("the link {path} -> {target} leads out of its package")]
    LinkLeaves { path: PathBuf, target: PathBuf },
    #[error("the package has more than {limit} {what}")]
    TooMany { what: &'static str, limit: u64 },
    #[error("the package of {server} is sha256:{found}, the manifest says sha256:{declared}")]
    OtherDigest { server: ServerName, declared: Digest, found: Digest },
    #[error("the package of {server} was changed while it was copied")]
    Changing { server: ServerName },
    #[error("the package digest of {server} is a placeholder")]
    Placeholder { server: ServerName },
    #[error("nobody is there to verify the package of {server}")]
    NoStore { server: ServerName },
    #[error("the folder for packages, {path}, belongs to somebody else or is a link")]
    Store { path: PathBuf },
}

impl PackageError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Unclear(unclear) => return unclear.hint(),
            Self::NoProgram { command } => return format!("Install {command}, or correct the command."),
            Self::NpmMissing { name, version } => {
                return format!(
                    "Install it beside the manifest: npm install --ignore-scripts {name}@{version}"
                );
            }
            Self::PyPiMissing { name, version } => {
                return format!("Install it into .venv beside the manifest: pip install {name}=={version}");
            }
            Self::OtherDigest { found, .. } => {
                return format!(
                    "Do not use it before you know why. If it is what you want, write sha256:{found}."
                );
            }
            Self::NpmDependencyMissing { .. } | Self::PyPiDependencyMissing { .. } => {
                "Install the package again."
            }
            Self::NoBin { .. } | Self::NoScript { .. } | Self::NoModule { .. } => {
                "Correct the arguments of the command."
            }
            Self::OtherInterpreter { .. } => "Name the program itself as the command.",
            Self::Editable { .. } => "Install it as a package: what a link leads to changes under way.",
            Self::OtherVersion { .. } => "Write the same version in both places.",
            Self::TooWide { .. } => "Put the script into a folder of its own.",
            Self::Description { .. } => "Install the package again.",
            Self::Io { .. } => "See that the file is there and can be read.",
            Self::NoFile { .. } | Self::LinkLeaves { .. } => "Take it out of the package.",
            Self::Name { .. } => "Use names of printable UTF-8 characters.",
            Self::Twice { .. } => "Install the packages that share it apart from each other.",
            Self::TooMany { .. } => "Leave out of its folder what the server does not need.",
            Self::Changing { .. } => "Wait until its installation is done, and start again.",
            Self::Placeholder { .. } => {
                "Compute the real one with `mcl-tools digest`; for development only, allow placeholders."
            }
            Self::NoStore { .. } => "Start it from a program that verifies packages.",
            Self::Store { .. } => "Remove it, or choose another folder with --store.",
        }
        .to_owned()
    }
}
