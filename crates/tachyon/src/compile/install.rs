//! Compilers and libraries from npm, kept in the data folder. Nothing a package brings is ever run on installation.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use semver::Version;
use serde_json::Value;
use sha2::{Digest as _, Sha512};

use crate::journal::{private_folder, publish};

/// The largest compiler that is taken.
const SCRIPT_BYTES: u64 = 64 << 20;

/// Why something was not installed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InstallError {
    #[error("`{0}` is not a version like 0.8.30")]
    Version(String),
    #[error("`{0}` is not the name of an npm package")]
    Package(String),
    #[error("npm could not be run: {0}; install Node.js")]
    Npm(std::io::Error),
    #[error("npm failed: {0}")]
    Refused(String),
    #[error("the package has the hash {found}, the registry says {wanted}; it was not installed")]
    Integrity { found: String, wanted: String },
    #[error("the package has no compiler in it: {0}")]
    NoCompiler(String),
    #[error("{0}: {1}")]
    Io(PathBuf, std::io::Error),
}

/// Fetches one version of the compiler and keeps its script.
pub(crate) fn install(folder: &Path, version: &str) -> Result<PathBuf, InstallError> {
    let version = Version::parse(version).map_err(|_| InstallError::Version(version.to_owned()))?;
    let place = folder.join(version.to_string());
    let io = |path: &Path| {
        let path = path.to_owned();
        move |error| InstallError::Io(path, error)
    };
    let download = tempfile::tempdir().map_err(io(&std::env::temp_dir()))?;
    let spec = format!("solc@{version}");
    let told = npm(download.path(), &["view", &spec, "dist.integrity"])?;
    let wanted = told.trim().to_owned();
    let packed = npm(download.path(), &["pack", &spec, "--json", "--ignore-scripts"])?;
    let packed: Value =
        serde_json::from_str(&packed).map_err(|error| InstallError::Refused(error.to_string()))?;
    let name = packed[0]["filename"].as_str().unwrap_or_default();
    let archive = download.path().join(Path::new(name).file_name().unwrap_or_default());
    let bytes = std::fs::read(&archive).map_err(io(&archive))?;
    let found = format!("sha512-{}", base64(&Sha512::digest(&bytes)));
    if found != wanted {
        return Err(InstallError::Integrity { found, wanted });
    }
    let script = script_in(&bytes)?;
    let path = place.join("soljson.js");
    publish(&path, &script).map_err(io(&path))?;
    let record = place.join("integrity.txt");
    publish(&record, format!("{found}\n").as_bytes()).map_err(io(&record))?;
    Ok(path)
}

/// The compiler's script in the package's archive.
fn script_in(bytes: &[u8]) -> Result<Vec<u8>, InstallError> {
    let wrong = |what: String| InstallError::NoCompiler(what);
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(bytes));
    for entry in archive.entries().map_err(|error| wrong(error.to_string()))? {
        let entry = entry.map_err(|error| wrong(error.to_string()))?;
        if entry.path_bytes().as_ref() == b"package/soljson.js" {
            let mut script = Vec::new();
            let read = entry.take(SCRIPT_BYTES + 1).read_to_end(&mut script);
            read.map_err(|error| wrong(error.to_string()))?;
            if script.len() as u64 > SCRIPT_BYTES {
                return Err(wrong(format!("it is larger than {SCRIPT_BYTES} bytes")));
            }
            return Ok(script);
        }
    }
    Err(wrong("soljson.js is missing".into()))
}

/// The installed versions, oldest first.
pub(crate) fn installed(folder: &Path) -> Vec<(Version, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut found: Vec<(Version, PathBuf)> = entries
        .filter_map(|entry| {
            let version = Version::parse(&entry.file_name().to_string_lossy()).ok()?;
            let script = entry.path().join("soljson.js");
            // Written last, so that an installation that was cut off does not count.
            (script.is_file() && entry.path().join("integrity.txt").is_file()).then_some((version, script))
        })
        .collect();
    found.sort();
    found
}

/// Adds a library from npm to the folder that imports are looked for in.
pub(crate) fn add_library(folder: &Path, spec: &str) -> Result<(), InstallError> {
    let plain = |char: char| char.is_ascii_alphanumeric() || "@/._-^~".contains(char);
    if spec.is_empty() || spec.starts_with('-') || spec.contains("..") || !spec.chars().all(plain) {
        return Err(InstallError::Package(spec.to_owned()));
    }
    private_folder(folder).map_err(|error| InstallError::Io(folder.to_owned(), error))?;
    npm(folder, &["install", "--prefix", ".", "--ignore-scripts", "--no-audit", "--no-fund", spec])?;
    Ok(())
}

fn npm(folder: &Path, arguments: &[&str]) -> Result<String, InstallError> {
    let output =
        Command::new("npm").args(arguments).current_dir(folder).output().map_err(InstallError::Npm)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(InstallError::Refused(said.trim().chars().take(2_000).collect()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let group =
            chunk.iter().fold(0u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = DIGITS[(group >> (18 - 6 * place) & 63) as usize];
            text.push(if place > chunk.len() { '=' } else { char::from(digit) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_the_usual_one() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn options_are_no_packages() {
        for spec in ["--global", "../evil", "", "x;rm", "git+ssh://x", "a b"] {
            assert!(
                matches!(add_library(Path::new("/nonexistent/x"), spec), Err(InstallError::Package(_))),
                "{spec}"
            );
        }
    }
}
