//! The project's own script that makes a new worktree ready, run by somebody who can confine it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use super::super::errand::{End, Errand, Ran};
use super::super::files::Beneath;
use super::super::limits;

/// Where the script is, in the worktree's own files.
pub(in super::super) const SCRIPT: &str = ".mxd/hooks/setup_worktree.sh";

/// Bytes of one argument of a command, with room for what the kernel adds.
const LONGEST_ARGUMENT: u64 = 120 * 1024;

/// Whether a worktree needs the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setup {
    /// Without it there is no worktree.
    Required,
    /// It is run if it is there.
    IfPresent,
    /// It is not run.
    Skipped,
}

/// What becomes of a worktree whose script failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailedSetup {
    /// It is removed.
    Remove,
    /// It stays to be looked at; the next attempt makes it anew.
    Keep,
}

/// Why a worktree is not ready.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// There is no script in the commit.
    #[error(
        "{SCRIPT} is not in the commit the worktree starts from; look at {SCRIPT}.example, save it without \
         `.example`, and commit it"
    )]
    Missing,
    /// The script is something else than a file.
    #[error("{SCRIPT} is not an ordinary file: {0}")]
    NotAFile(io::Error),
    /// The script could not be started.
    #[error("{SCRIPT} could not be run: {0}")]
    NotRun(io::Error),
    /// The script ended with an error.
    #[error("{SCRIPT} ended by {end}; its last words: {output}")]
    Failed {
        /// How.
        end: End,
        /// The end of what it wrote.
        output: String,
    },
}

/// Runs the script, if there is one to run.
pub(super) async fn run<R, F>(folder: &Path, setup: Setup, run: &R) -> Result<Option<Ran>, SetupError>
where
    R: Fn(Errand) -> F,
    F: Future<Output = io::Result<Ran>>,
{
    if setup == Setup::Skipped {
        return Ok(None);
    }
    let text = match Beneath::new(folder).and_then(|files| files.read(Path::new(SCRIPT))).and_then(beginning)
    {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return if setup == Setup::Required { Err(SetupError::Missing) } else { Ok(None) };
        }
        Err(error) => return Err(SetupError::NotAFile(error)),
    };
    let errand = Errand {
        purpose: Errand::SET_UP,
        command: command(&text, folder),
        folder: folder.to_owned(),
        time: limits::SETUP,
    };
    let ran = run(errand).await.map_err(SetupError::NotRun)?;
    if ran.is_success() {
        return Ok(Some(ran));
    }
    Err(SetupError::Failed { end: ran.end, output: last_words(&ran.output) })
}

/// A script, or of one that is too long for a command line its beginning.
fn beginning(file: File) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    file.take(LONGEST_ARGUMENT + 1).read_to_end(&mut text)?;
    Ok(text)
}

/// How the script is run. With `core.autocrlf` git gives it ends of lines that no shell on this machine understands.
fn command(text: &[u8], folder: &Path) -> Vec<OsString> {
    const WINDOWS: &str = "\r\n";
    match std::str::from_utf8(text) {
        Ok(text) if text.len() as u64 <= LONGEST_ARGUMENT && text.contains(WINDOWS) => {
            vec!["bash".into(), "-c".into(), text.replace(WINDOWS, "\n").into(), SCRIPT.into(), folder.into()]
        }
        _ => vec!["bash".into(), SCRIPT.into(), folder.into()],
    }
}

fn last_words(output: &str) -> String {
    let excess = output.len().saturating_sub(limits::STDERR_TAIL);
    let start = (excess..output.len()).find(|at| output.is_char_boundary(*at)).unwrap_or(0);
    output[start..].trim().to_owned()
}
