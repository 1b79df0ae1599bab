//! Reading a file of a checkout that nobody has vetted: no link is followed, nothing but a plain file is read, and no
//! more of it than its limit.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{Dir, FileType, Mode, OFlags, fstat, open, openat};
use rustix::io::Errno;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// A pipe must not keep us waiting.
const PLAIN: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BeneathError {
    /// It, or its folder, is a link.
    #[error("it is a link, or lies in a folder that is one, and links are not followed here")]
    Link,
    /// It is a folder, a pipe, a device.
    #[error("it is no plain file")]
    NotPlain,
    /// It is elsewhere.
    #[error("it is not inside of the repository")]
    Outside,
    /// It is too long.
    #[error("it has more than {limit} bytes")]
    TooLong {
        /// How many are read.
        limit: usize,
    },
    /// The system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl From<Errno> for BeneathError {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::LOOP | Errno::NOTDIR | Errno::MLINK => Self::Link,
            errno => Self::Io(errno.into()),
        }
    }
}

/// Reads a file below a root; nothing when it is not there.
pub(crate) fn read(root: &Path, path: &Path, limit: usize) -> Result<Option<Vec<u8>>, BeneathError> {
    match read_there(root, path, limit) {
        Err(BeneathError::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// The names in a folder below a root, sorted, and not more than so many; none when it is not there.
pub(crate) fn list(root: &Path, path: &Path, most: usize) -> Result<Vec<String>, BeneathError> {
    let folder = match folder(root, path) {
        Err(BeneathError::Io(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        folder => folder?,
    };
    let mut names = Vec::new();
    for entry in Dir::read_from(&folder)?.take(most) {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name != "." && name != ".." {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn read_there(root: &Path, path: &Path, limit: usize) -> Result<Vec<u8>, BeneathError> {
    let (above, name) = match (path.parent(), path.file_name()) {
        (Some(above), Some(name)) => (above, name),
        _ => return Err(BeneathError::NotPlain),
    };
    let file = openat(folder(root, above)?, name, PLAIN, Mode::empty())?;
    if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
        return Err(BeneathError::NotPlain);
    }
    let mut bytes = Vec::new();
    File::from(file).take(limit as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit { Err(BeneathError::TooLong { limit }) } else { Ok(bytes) }
}

/// A folder below a root, step by step: a link anywhere on the way ends it.
fn folder(root: &Path, path: &Path) -> Result<OwnedFd, BeneathError> {
    let mut folder = open(root, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    for step in path.components() {
        match step {
            Component::Normal(name) => folder = openat(&folder, name, FOLDER, Mode::empty())?,
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(BeneathError::Outside);
            }
        }
    }
    Ok(folder)
}
