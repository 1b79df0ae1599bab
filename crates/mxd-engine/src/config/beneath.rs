//! Reading a file of a checkout that nobody has vetted: no link is followed, nothing but a plain file is read, and no
//! more of it than its limit.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, fstat, open, openat};
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

/// Reads `folder/name` below a root; nothing when it is not there.
pub(crate) fn read(
    root: &Path,
    folder: &str,
    name: &str,
    limit: usize,
) -> Result<Option<Vec<u8>>, BeneathError> {
    match read_there(root, folder, name, limit) {
        Err(BeneathError::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

fn read_there(root: &Path, folder: &str, name: &str, limit: usize) -> Result<Vec<u8>, BeneathError> {
    let root = open(root, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let folder = openat(&root, folder, FOLDER, Mode::empty())?;
    let file = openat(&folder, name, PLAIN, Mode::empty())?;
    if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
        return Err(BeneathError::NotPlain);
    }
    let mut bytes = Vec::new();
    File::from(file).take(limit as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit { Err(BeneathError::TooLong { limit }) } else { Ok(bytes) }
}
