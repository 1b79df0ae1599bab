//! The folders an agent may touch, opened.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, fstat, open};

use super::error::ConfineError;
use super::resolve::{Place, resolve};
use crate::scope::{Access, Scope};

/// What makes two descriptors the same thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Id {
    pub(super) dev: u64,
    pub(super) ino: u64,
}

impl Id {
    #[expect(clippy::useless_conversion, reason = "the widths differ between systems")]
    pub(super) fn of(stat: &rustix::fs::Stat) -> Self {
        Self { dev: u64::from(stat.st_dev), ino: u64::from(stat.st_ino) }
    }
}

/// One folder an agent may touch.
#[derive(Debug)]
pub(super) struct Ground {
    /// As it was declared.
    pub(super) given: PathBuf,
    /// Without links.
    pub(super) real: PathBuf,
    pub(super) fd: Arc<OwnedFd>,
    pub(super) id: Id,
    pub(super) access: Access,
}

impl Ground {
    fn open(given: &Path, access: Access) -> io::Result<Self> {
        let real = given.canonicalize()?;
        let fd = open(&real, FOLDER, Mode::empty())?;
        let id = Id::of(&fstat(&fd)?);
        Ok(Self { given: given.to_owned(), real, fd: Arc::new(fd), id, access })
    }
}

/// How folders on the way are opened: to start from, not to read.
#[cfg(target_os = "linux")]
pub(super) const FOLDER: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// How folders on the way are opened, where there is no way to open without reading.
#[cfg(not(target_os = "linux"))]
pub(super) const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The worktree and the declared folders of one agent.
#[derive(Debug, Clone)]
pub struct Confinement {
    /// The worktree is the first.
    pub(super) grounds: Arc<[Ground]>,
}

impl Confinement {
    /// Opens what the agent may touch. Declared folders that are not there are left out.
    ///
    /// # Errors
    ///
    /// When the worktree is not there.
    pub fn of(scope: &Scope) -> Result<Self, ConfineError> {
        let worktree = Ground::open(&scope.worktree, scope.access).map_err(|source| {
            ConfineError::io("opening the worktree", &scope.worktree.to_string_lossy(), source)
        })?;
        let roots = scope.roots.iter().filter_map(|root| Ground::open(&root.path, root.access).ok());
        Ok(Self { grounds: std::iter::once(worktree).chain(roots).collect() })
    }

    /// Finds what a path means, without leaving.
    ///
    /// # Errors
    ///
    /// When it leads outside, in circles, or through something that is no folder.
    pub fn resolve(&self, path: &str) -> Result<Place, ConfineError> {
        resolve(&self.grounds, path)
    }
}
