//! The files of a manifest: itself, its lock file beside it, and its signature.

use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use mxd_core::manifest::{AgentManifest, LockFile, ManifestSignature, Placeholders, limits};

use crate::answer::{Failure, Trouble};
use crate::code::Code;

/// Bytes of a plan.
pub(crate) const PLAN_BYTES: usize = 1 << 20;

/// A file that is not there, cannot be read, or is too long.
pub(crate) fn read(path: &Path, limit: usize) -> Result<Vec<u8>, Trouble> {
    let shown = path.display();
    let failed = |error: io::Error| {
        Trouble::new(Code::Invalid, format!("{shown}: {error}"), "Name a file that can be read.")
    };
    let about = fs::metadata(path).map_err(failed)?;
    if !about.is_file() || about.len() > limit as u64 {
        let what = format!("{shown}: it is no file of at most {limit} bytes");
        return Err(Trouble::new(Code::Invalid, what, "Name the right file."));
    }
    fs::read(path).map_err(failed)
}

/// The manifest, or everything that is wrong with it.
pub(crate) fn manifest(path: &Path, placeholders: Placeholders) -> Result<AgentManifest, Failure> {
    let bytes = read(path, limits::MANIFEST.bytes)?;
    AgentManifest::parse(&bytes, placeholders)
        .map_err(|problems| Trouble::of_file(&path.to_string_lossy(), &problems))
}

/// What was accepted, if anything was.
pub(crate) fn lock(path: &Path) -> Result<Option<LockFile>, Failure> {
    if !path.exists() {
        return Ok(None);
    }
    let bytes = read(path, limits::LOCK.bytes)?;
    let parsed = LockFile::parse(&bytes);
    parsed.map(Some).map_err(|problems| Trouble::of_file(&path.to_string_lossy(), &problems))
}

/// The signature, if there is one.
pub(crate) fn signature(path: &Path) -> Result<Option<ManifestSignature>, Failure> {
    if !path.exists() {
        return Ok(None);
    }
    let bytes = read(path, limits::SIGNATURE.bytes)?;
    let parsed = ManifestSignature::parse(&bytes);
    parsed.map(Some).map_err(|problems| Trouble::of_file(&path.to_string_lossy(), &problems))
}

/// `default.json` has its lock in `default.lock.json`.
pub(crate) fn lock_path(manifest: &Path) -> PathBuf {
    manifest.with_extension("lock.json")
}

/// `default.json` has its signature in `default.json.sig`.
pub(crate) fn signature_path(manifest: &Path) -> PathBuf {
    let mut name = manifest.as_os_str().to_owned();
    name.push(".sig");
    name.into()
}

/// Replaces a file: whole, or not at all.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Trouble> {
    let put = || -> io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        builder.permissions(Permissions::from_mode(0o644));
        let mut file = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
        file.write_all(content.as_ref())?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    put().map_err(|error| not_written(path, &error))
}

/// Writes a new file that only its owner reads; one that is there stays.
pub(crate) fn write_secret(path: &Path, text: &str) -> Result<(), Trouble> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let put = || -> io::Result<()> {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    put().map_err(|error| not_written(path, &error))
}

fn not_written(path: &Path, error: &io::Error) -> Trouble {
    let what = format!("{} is not written: {error}", path.display());
    Trouble::new(Code::Trouble, what, "Choose another place, or make room there.")
}
