//! Files that git does not know and the project wants in every worktree, copied from the user's checkout.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::super::error::GitError;
use super::super::files::{Beneath, blocking};
use super::super::limits;
use super::super::names::readable;
use super::super::repository::{Checkout, Place, Repository};
use super::super::run::Call;

/// Why files are not carried over.
#[derive(Debug, thiserror::Error)]
pub enum IncludeError {
    /// A pattern leads out of the checkout, or to everything.
    #[error(
        "{pattern:?} is no pattern of files in the checkout: use names such as `.env` or `config/*.local`"
    )]
    Pattern {
        /// Which.
        pattern: String,
    },
    /// There are too many patterns.
    #[error("{count} patterns of files to carry over are more than {}", limits::INCLUDE_PATTERNS)]
    TooManyPatterns {
        /// How many.
        count: usize,
    },
    /// More files match than are carried over.
    #[error(
        "more than {} files match the patterns to carry over: name them more closely",
        limits::INCLUDE_FILES
    )]
    TooManyFiles,
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// What became of the files that were asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Included {
    /// Those that are there now.
    pub copied: Vec<String>,
    /// Those that are not, each with the reason.
    pub skipped: Vec<(String, String)>,
}

/// Refuses patterns that mean something else than files in the checkout.
pub(super) fn check(patterns: &[String]) -> Result<(), IncludeError> {
    if patterns.len() > limits::INCLUDE_PATTERNS {
        return Err(IncludeError::TooManyPatterns { count: patterns.len() });
    }
    let leads_out =
        |pattern: &str| pattern.split('/').any(|part| part == ".." || part.eq_ignore_ascii_case(".git"));
    let odd = |pattern: &&String| pattern.trim().is_empty() || pattern.starts_with('/') || leads_out(pattern);
    match patterns.iter().find(odd) {
        Some(pattern) => Err(IncludeError::Pattern { pattern: pattern.clone() }),
        None => Ok(()),
    }
}

/// Copies what matches into a new worktree. What is there already stays as it is.
pub(in crate::git) async fn carry(
    repository: &Repository,
    patterns: &[String],
    to: &Path,
) -> Result<Included, IncludeError> {
    let Some(checkout) = repository.checkout().filter(|_| !patterns.is_empty()) else {
        return Ok(Included::default());
    };
    let paths = matching(repository, checkout, patterns).await?;
    let (from, to) = (checkout.folder.clone(), to.to_owned());
    let copied = blocking(move || copy_all(&from, &to, &paths)).await.and_then(|ended| ended);
    Ok(copied.map_err(GitError::file("copy files from", &checkout.folder))?)
}

async fn matching(
    repository: &Repository,
    checkout: &Checkout,
    patterns: &[String],
) -> Result<Vec<PathBuf>, IncludeError> {
    let globs = patterns.iter().map(|pattern| format!(":(top,glob){pattern}"));
    let call = Call::new(["ls-files", "-z", "--others", "--"]).args(globs);
    let answer = repository.ask(Place::Checkout(checkout), call).await?;
    // A name that ends with a slash is another repository.
    let files = answer.parts().filter(|name| !name.ends_with(b"/"));
    let paths: Vec<_> =
        files.take(limits::INCLUDE_FILES + 1).map(|name| PathBuf::from(OsStr::from_bytes(name))).collect();
    if paths.len() > limits::INCLUDE_FILES { Err(IncludeError::TooManyFiles) } else { Ok(paths) }
}

fn copy_all(from: &Path, to: &Path, paths: &[PathBuf]) -> io::Result<Included> {
    let (from, to) = (Beneath::new(from)?, Beneath::new(to)?);
    let mut included = Included::default();
    let mut left = limits::INCLUDE_TOTAL;
    for path in paths {
        let name = readable(path.as_os_str().as_bytes());
        match copy(&from, &to, path, left) {
            Ok(size) => {
                left -= size;
                included.copied.push(name);
            }
            Err(error) => included.skipped.push((name, reason(&error))),
        }
    }
    Ok(included)
}

fn reason(error: &io::Error) -> String {
    match error.raw_os_error().map(rustix::io::Errno::from_raw_os_error) {
        Some(rustix::io::Errno::LOOP | rustix::io::Errno::XDEV) => "a link, which is not followed".to_owned(),
        Some(rustix::io::Errno::EXIST) => "the commit has a file of that name".to_owned(),
        _ => error.to_string(),
    }
}

fn copy(from: &Beneath, to: &Beneath, path: &Path, left: u64) -> io::Result<u64> {
    let source = from.read(path)?;
    let found = source.metadata()?;
    if found.len() > limits::INCLUDE_FILE.min(left) {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than what is carried over"));
    }
    let mut target = to.create(path, found.permissions().mode() & 0o777)?;
    io::copy(&mut io::Read::take(source, found.len()), &mut target)
}
