//! Copies of shared files that are kept fresh for the commands of an agent.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::policy::Copy;

/// The largest file that is copied.
const MAX_BYTES: u64 = 64 << 20;

/// What the originals looked like when they were copied. A lock of a few lines, never held while waiting.
#[derive(Debug, Default)]
pub(super) struct Copies {
    seen: Mutex<Vec<Option<Look>>>,
}

/// What tells one version of a file from the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Look {
    number: u64,
    bytes: u64,
    changed: (i64, i64),
}

impl Copies {
    /// Copies what has changed since the last time. A copy that the agent has changed itself stays as it is.
    pub(super) fn freshen(&self, copies: &[Copy]) -> io::Result<()> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.resize(copies.len(), None);
        for (copy, seen) in copies.iter().zip(seen.iter_mut()) {
            let now = look(&copy.from)?;
            if now == *seen && now.is_some() {
                continue;
            }
            match now {
                Some(look) if look.bytes > MAX_BYTES => {
                    return Err(io::Error::other(format!(
                        "{} is larger than {MAX_BYTES} bytes",
                        copy.from.display()
                    )));
                }
                Some(_) => replace(copy)?,
                None => remove(&copy.to)?,
            }
            *seen = now;
        }
        Ok(())
    }
}

fn look(path: &Path) -> io::Result<Option<Look>> {
    match fs::metadata(path) {
        Ok(what) => Ok(Some(Look {
            number: what.ino(),
            bytes: what.len(),
            changed: (what.mtime(), what.mtime_nsec()),
        })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn replace(copy: &Copy) -> io::Result<()> {
    let folder = copy.to.parent().unwrap_or(Path::new("/"));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    io::copy(&mut fs::File::open(&copy.from)?, &mut file)?;
    file.persist(&copy.to).map(drop).map_err(|error| error.error)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
