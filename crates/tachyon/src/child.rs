//! Other programs, run so that they cannot run away: a folder, an input, no variables but the path, and limits.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

/// What a program may say on its standard error before the rest is dropped.
const COMPLAINT_BYTES: u64 = 64 << 10;

/// The signal of a program that has used up its time on the processor, on Linux and macOS alike.
const SIGXCPU: i32 = 24;

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
        let failed = |error: std::io::Error| ChildError::Io(shown.clone(), error);
        let program = found(self.program).ok_or_else(|| ChildError::Missing(shown.clone()))?;
        // The shell sets the limits before the program begins, and is gone then: nothing it does escapes them.
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(self.bounds.script()).arg(program).args(&self.arguments);
        command.env_clear().env("HOME", self.folder);
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command.current_dir(self.folder).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
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
            // Whoever has said too much finds nobody listening any more, and ends by that.
            let read = async move {
                let mut output = Vec::new();
                stdout.take(most as u64 + 1).read_to_end(&mut output).await.map(|_| output)
            };
            let listen = async move {
                let mut complaint = Vec::new();
                let mut aside = stderr.take(COMPLAINT_BYTES);
                let _ = aside.read_to_end(&mut complaint).await;
                // Whoever complains at length must not wait for somebody to hear it.
                let _ = tokio::io::copy(&mut aside.into_inner(), &mut tokio::io::sink()).await;
                complaint
            };
            let ((), output, complaint) = tokio::join!(write, read, listen);
            let output = output.map_err(failed)?;
            if output.len() > most {
                return Err(ChildError::TooMuch(shown.clone(), most));
            }
            let status = child.wait().await.map_err(failed)?;
            if status.signal() == Some(SIGXCPU) {
                return Err(ChildError::TooLong(shown.clone(), self.bounds.time.as_secs()));
            }
            let complaint = String::from_utf8_lossy(&complaint).trim().to_owned();
            Ok(Ended { status, output, complaint })
        };
        let ended = tokio::time::timeout(self.bounds.time, talk).await;
        ended.unwrap_or_else(|_| Err(ChildError::TooLong(shown.clone(), self.bounds.time.as_secs())))
    }
}

impl Bounds {
    /// Limits that the system enforces, and then the program. Where a system does not know one of them, time is left.
    fn script(&self) -> String {
        let seconds = self.time.as_secs().max(1);
        let mut limits = vec![
            // A busy program may meet its time on the processor before the clock's. The softer limit ends it by a
            // signal that says so; the harder one is for programs that do not listen.
            format!("-S -t {seconds}"),
            format!("-H -t {}", seconds + 1),
            // In blocks of 512 bytes, and memory in those of 1,024.
            format!("-f {}", self.file_bytes / 512),
            "-c 0".to_owned(),
        ];
        limits.extend(self.memory_bytes.map(|most| format!("-v {}", most / 1024)));
        let set: Vec<String> = limits.iter().map(|limit| format!("ulimit {limit} 2>/dev/null")).collect();
        format!("{}; exec \"$0\" \"$@\"", set.join("; "))
    }
}

/// Where a program is: at its path, or by its name in the folders of the path.
pub(crate) fn found(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return program.is_file().then(|| program.to_owned());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
}
