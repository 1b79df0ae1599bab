//! A folder becomes one that agents can work in: its repository, and what it needs of ours.

use std::io;
use std::path::{Path, PathBuf};

use super::error::HomeError;
use crate::git::{self, Git, Head, Lanes, OpenError, Repository};

/// What may be made of a folder that is not ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Init {
    /// Nothing: it has to be a repository.
    Refuse,
    /// The folder and its repository are made.
    Make,
}

/// A folder that is ready, and what its user should know about it.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) repository: Repository,
    pub(super) folder: PathBuf,
    pub(super) notes: Vec<String>,
}

/// Where worktrees are, as git is told to leave it alone.
const WORKTREES: &str = "/.worktrees/";

pub(super) async fn prepare(
    (git, lanes): (&Git, &Lanes),
    path: &Path,
    init: Init,
) -> Result<Prepared, HomeError> {
    if !path.is_absolute() {
        return Err(HomeError::NotAFolder { path: path.to_owned() });
    }
    let mut notes = Vec::new();
    let found = find(path, init)?;
    let opened = Repository::open(git.clone(), lanes, &found.folder).await;
    let repository = match (opened, init) {
        (Err(OpenError::NotARepository { .. }), Init::Make) => {
            git::init::repository(git, &found.folder).await?;
            notes.push(format!("{} is a git repository now.", found.folder.display()));
            Repository::open(git.clone(), lanes, &found.folder).await?
        }
        (opened, _) => opened?,
    };
    let Some(checkout) = repository.checkout() else {
        return Err(HomeError::Bare { path: found.folder });
    };
    let folder = checkout.folder.clone();
    repository.exclude(WORKTREES).await?;
    set_up_script(&repository, &folder, found.is_empty, &mut notes).await?;
    Ok(Prepared { repository, folder, notes })
}

/// A folder, and whether there is nothing of the user's in it.
struct Found {
    folder: PathBuf,
    is_empty: bool,
}

fn find(path: &Path, init: Init) -> Result<Found, HomeError> {
    match std::fs::metadata(path) {
        Ok(there) if there.is_dir() => {}
        Ok(_) => return Err(HomeError::NotAFolder { path: path.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound && init == Init::Make => {
            std::fs::create_dir_all(path).map_err(HomeError::file("make", path))?;
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(HomeError::NoFolder { path: path.to_owned() });
        }
        Err(error) => return Err(HomeError::file("look at", path)(error)),
    }
    let folder = std::fs::canonicalize(path).map_err(HomeError::file("look at", path))?;
    let mut listed = std::fs::read_dir(&folder).map_err(HomeError::file("read", &folder))?;
    Ok(Found { is_empty: listed.next().is_none(), folder })
}

/// Worktrees need a script. A new repository gets one that has nothing to do, with the first commit; in one that is
/// the user's own, an example is left to be read.
async fn set_up_script(
    repository: &Repository,
    folder: &Path,
    is_new: bool,
    notes: &mut Vec<String>,
) -> Result<(), HomeError> {
    if is_new {
        git::init::first_commit(repository, folder).await?;
        return Ok(());
    }
    if !folder.join(git::init::SCRIPT).is_file() {
        git::init::write_example(folder)?;
        notes.push(format!(
            "Tasks need {}: look at {}, save it without `.example`, and commit it.",
            git::init::SCRIPT,
            git::init::EXAMPLE
        ));
    }
    match repository.head().await? {
        Head::Branch { .. } if folder.join(git::init::EXAMPLE).is_file() => {
            // It is there for everybody who works on the repository, so it is committed; what is not, still helps here.
            let message = "Add an example of a set-up script for worktrees";
            if let Err(error) = git::init::commit_file(repository, git::init::EXAMPLE, message).await {
                notes.push(format!("{} is not committed: {error}.", git::init::EXAMPLE));
            }
        }
        Head::Branch { .. } => {}
        Head::Unborn { branch } => notes.push(format!("{branch} has no commit yet: tasks start from one.")),
        Head::Detached { .. } => notes.push("No branch is checked out: tasks start from one.".to_owned()),
    }
    Ok(())
}
