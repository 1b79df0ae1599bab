//! Files and folders that are the user's alone.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::Path;

/// Bytes of a private file that are read.
const MOST_BYTES: u64 = 16 << 20;

/// Makes a folder that nobody else can look into, with the folders above it that are missing. One that is there already
/// is closed to others.
///
/// # Errors
///
/// When it cannot be made or closed, is no folder, or belongs to another user.
pub fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    let there = fs::metadata(path)?;
    if !there.is_dir() {
        return Err(io::Error::new(io::ErrorKind::NotADirectory, "it is no folder"));
    }
    if there.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user"));
    }
    if there.mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Puts a file in place as a whole and durably, for its owner alone.
pub(crate) fn publish(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut draft = tempfile::Builder::new().prefix(".draft-").tempfile_in(folder)?;
    draft.write_all(bytes)?;
    draft.as_file().set_permissions(Permissions::from_mode(0o600))?;
    draft.as_file().sync_all()?;
    draft.persist(path).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}

/// The bytes of a file; none when there is no such file.
pub(crate) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if file.metadata()?.len() > MOST_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("more than {MOST_BYTES} bytes")));
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}
