//! What can be wrong with a home, or with what is wanted of it.

use std::io;
use std::path::PathBuf;

use mxd_core::id::ProjectId;
use mxd_store::disk::LockError;

use crate::git::{GitError, OpenError as RepositoryError};

/// Why something about the projects of a user was not done. Nothing was changed by it.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// Another daemon has the folder.
    #[error("{folder} is in use by {owner}", folder = folder.display())]
    InUse {
        /// The folder.
        folder: PathBuf,
        /// What the other one says of itself.
        owner: String,
    },
    /// A file or folder cannot be used.
    #[error("cannot {action} {path}: {source}", path = path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The list of projects cannot be read.
    #[error("{path} is no list of projects: {why}", path = path.display())]
    Registry {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// There is nothing at the path.
    #[error("there is no folder {path}", path = path.display())]
    NoFolder {
        /// The path.
        path: PathBuf,
    },
    /// The path is not one to be registered.
    #[error("{path} is not the whole path of a folder", path = path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// The folder cannot be worked in.
    #[error("{0}")]
    Repository(RepositoryError),
    /// The repository has no files that agents could start from.
    #[error("{path} is a repository without a checkout", path = path.display())]
    Bare {
        /// The path.
        path: PathBuf,
    },
    /// It is registered already.
    #[error("{path} is registered already, as {name} ({id})", path = path.display())]
    Registered {
        /// The path.
        path: PathBuf,
        /// Under which name.
        name: String,
        /// Under which id.
        id: ProjectId,
    },
    /// There are as many projects as there may be.
    #[error("{limit} projects are registered, and that is the limit")]
    TooMany {
        /// How many.
        limit: usize,
    },
    /// A name that cannot be shown.
    #[error("the name of a project is one line of 1 to {limit} characters")]
    Name {
        /// How many characters it may have.
        limit: usize,
    },
    /// There is no such project.
    #[error("there is no project {id}")]
    Unknown {
        /// The id.
        id: ProjectId,
    },
    /// The project cannot be opened.
    #[error("{problem}")]
    NotOpened {
        /// Why not.
        problem: String,
    },
}

impl HomeError {
    pub(super) fn file(
        action: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File { action, path, source }
    }

    pub(super) fn lock(folder: &std::path::Path, error: LockError) -> Self {
        let folder = folder.to_owned();
        match error {
            LockError::Held { owner } => Self::InUse { folder, owner },
            LockError::Io(source) => Self::File { action: "lock", path: folder, source },
        }
    }

    /// A name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InUse { .. } => "in_use",
            Self::File { .. } => "file",
            Self::Registry { .. } => "registry",
            Self::NoFolder { .. } => "no_folder",
            Self::NotAFolder { .. } => "not_a_folder",
            Self::Repository(_) => "not_a_repository",
            Self::Bare { .. } => "bare_repository",
            Self::Registered { .. } => "already_registered",
            Self::TooMany { .. } => "too_many_projects",
            Self::Name { .. } => "bad_name",
            Self::Unknown { .. } => "unknown_project",
            Self::NotOpened { .. } => "not_opened",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::InUse { .. } => "Use the daemon that runs, stop it, or set MXD_DATA_DIR to another folder.",
            Self::File { .. } => "See to the file, its folder and the disk.",
            Self::Registry { .. } => "Repair the file, or bring it back from a backup; nothing was changed.",
            Self::NoFolder { .. } => {
                "Check the path. `mxd init FOLDER --new` makes a folder with a repository."
            }
            Self::NotAFolder { .. } => "Give the whole path, from `/` on, of a folder.",
            Self::Repository(RepositoryError::NotARepository { .. }) => {
                "Run `git init` there, or `mxd init FOLDER --new`."
            }
            Self::Repository(_) => "See to the repository, then try again.",
            Self::Bare { .. } => "Clone it, and register the clone.",
            Self::Registered { .. } => "Use the project that is there.",
            Self::TooMany { .. } => "Take one out that is not needed any more; its data is kept.",
            Self::Name { .. } => "Give it a short name.",
            Self::Unknown { .. } => "List the projects and copy the id.",
            Self::NotOpened { .. } => "Put that right, then restart the project or the daemon.",
        }
    }
}

impl From<RepositoryError> for HomeError {
    fn from(error: RepositoryError) -> Self {
        Self::Repository(error)
    }
}

impl From<GitError> for HomeError {
    fn from(error: GitError) -> Self {
        Self::Repository(RepositoryError::Git(error))
    }
}
