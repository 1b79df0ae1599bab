//! Other programs, run so that they cannot run away: a folder, an input, no variables but the path, and limits.

use std::ffi::OsString;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

/// What a program may say on its standard error before the rest is dropped.
const COMPLAINT_BYTES: u64 = 64 << 10;

/// A program to run once.
pub(crate) struct Child<'a> {
    pub(crate) program: &'a Path,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) input: &'a str,
    /// Where it runs, and what it takes for its home.
    pub(crate) folder: &'a Path,
    pub(crate) bounds: Bounds,
}

/// How much of everything a program gets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) time: Duration,
    /// What it may print.
    pub(crate) output_bytes: usize,
    /// The largest file it may write.
    pub(crate) file_bytes: u64,
    /// Address space. Node reserves far more than it uses, so it is not held to any.
    pub(crate) memory_bytes: Option<u64>,
}

/// What a program left.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) output: Vec<u8>,
    pub(crate) complaint: String,
}

/// Why a program did not come to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChildError {
    #[error("{0} is not installed")]
    Missing(String),
    #[error("{0} cannot be run: {1}")]
    Io(String, std::io::Error),
    #[error("{0} was stopped after {1} seconds")]
    TooLong(String, u64),
    #[error("{0} printed more than {1} bytes")]
    TooMuch(String, usize),
}

impl Child<'_> {
    /// Runs it to its end. Whoever stops waiting ends it.
    pub(crate) async fn run(self) -> Result<Ended, ChildError> {
        let shown = self.program.display().to_string();
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound => ChildError::Missing(shown.clone()),
            _ => ChildError::Io(shown.clone(), error),
        };
        let mut command = Command::new(self.program);
        command.args(&self.arguments).env_clear().env("HOME", self.folder);
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command.current_dir(self.folder).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        restrain(&child, self.bounds);
        let (Some(mut stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(failed(std::io::Error::other("its pipes are missing")));
        };
        let most = self.bounds.output_bytes;
        let talk = async {
            let write = async move {
                // A program that stops reading says why on its own; a broken pipe is no news.
                let _ = stdin.write_all(self.input.as_bytes()).await;
            };
            let (mut output, mut complaint) = (Vec::new(), Vec::new());
            let (mut bounded, mut aside) = (stdout.take(most as u64 + 1), stderr.take(COMPLAINT_BYTES));
            let ((), read, _) =
                tokio::join!(write, bounded.read_to_end(&mut output), aside.read_to_end(&mut complaint));
            read.map_err(failed)?;
            if output.len() > most {
                return Err(ChildError::TooMuch(shown.clone(), most));
            }
            let status = child.wait().await.map_err(failed)?;
            let complaint = String::from_utf8_lossy(&complaint).trim().to_owned();
            Ok(Ended { status, output, complaint })
        };
        let ended = tokio::time::timeout(self.bounds.time, talk).await;
        ended.unwrap_or_else(|_| Err(ChildError::TooLong(shown.clone(), self.bounds.time.as_secs())))
    }
}

/// Limits that the system enforces.
#[cfg(target_os = "linux")]
fn restrain(child: &tokio::process::Child, bounds: Bounds) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let at_most = |most: u64| Rlimit { current: Some(most), maximum: Some(most) };
    // A child that is gone by now needs no limits.
    let _ = prlimit(pid, Resource::Cpu, at_most(bounds.time.as_secs()));
    let _ = prlimit(pid, Resource::Fsize, at_most(bounds.file_bytes));
    let _ = prlimit(pid, Resource::Core, at_most(0));
    if let Some(most) = bounds.memory_bytes {
        let _ = prlimit(pid, Resource::As, at_most(most));
    }
}

#[cfg(not(target_os = "linux"))]
fn restrain(_: &tokio::process::Child, _: Bounds) {}
