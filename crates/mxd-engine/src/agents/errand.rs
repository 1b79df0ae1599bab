//! Running a command of the project in a sandbox of its own, and keeping the end of what it says.

use std::io;

use mxd_tools::sandbox::{Cell, Command, End, Output};
use tokio::io::AsyncReadExt;
use tokio_util::sync::CancellationToken;

use crate::git::{End as Ended, Errand, Ran};

/// Bytes of output that are kept: the end, where the reason of a failure stands.
const KEPT: usize = 64 * 1024;

/// Runs an errand. Dropping this ends it.
pub(super) async fn run(
    cell: &Cell,
    env: &[(String, String)],
    errand: Errand,
    stop: &CancellationToken,
) -> io::Result<Ran> {
    let mut words = errand.command.iter().map(|word| word.to_string_lossy().into_owned());
    let program = words.next().ok_or_else(|| io::Error::other("an errand without a command"))?;
    let command = Command {
        program,
        args: words.collect(),
        cwd: errand.folder,
        env: env.to_vec(),
        stdout: Output::Piped,
        stderr: Output::WithStdout,
        ..Command::default()
    };
    let mut child = cell.spawn(command).await.map_err(io::Error::other)?;
    let mut output = Vec::new();
    let follow = async {
        if let Some(mut stdout) = child.stdout.take() {
            let mut buffer = vec![0; 16 * 1024];
            while let Ok(length @ 1..) = stdout.read(&mut buffer).await {
                output.extend_from_slice(&buffer[..length]);
                if output.len() > 2 * KEPT {
                    output.drain(..output.len() - KEPT);
                }
            }
        }
        child.wait().await.map_err(io::Error::other)
    };
    let end = tokio::select! {
        biased;
        () = stop.cancelled() => return Err(io::Error::new(io::ErrorKind::Interrupted, "it was broken off")),
        ended = tokio::time::timeout(errand.time, follow) => match ended {
            Err(_) => Ended::TimedOut,
            Ok(exit) => match exit?.end {
                End::Code(code) => Ended::Exit(code),
                End::Signal(signal) => Ended::Signal(signal),
            },
        },
    };
    let excess = output.len().saturating_sub(KEPT);
    Ok(Ran { end, output: String::from_utf8_lossy(&output[excess..]).into_owned() })
}
