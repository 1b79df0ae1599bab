//! `mxd run`: a command as an agent would run it, to see what it sees.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use mxd_tools::sandbox::{Command, End, Output, SandboxError};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::client::Failure;
use crate::place::Place;
use crate::say;

#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    place: Place,
    /// The command and its arguments.
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Run {
    pub(crate) fn run(self, as_json: bool) -> ExitCode {
        match say::wait_for(self.inside()) {
            Ok(Ok(End::Code(code))) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
            Ok(Ok(End::Signal(signal))) => {
                ExitCode::from(128_u8.saturating_add(u8::try_from(signal).unwrap_or(0)))
            }
            Ok(Err(error)) => Failure::new(error).tell(as_json),
            Err(error) => Failure::new(error.to_string()).tell(as_json),
        }
    }

    async fn inside(self) -> Result<End, String> {
        let ready = self.place.prepare().await?;
        let (program, args) = self.command.split_first().ok_or("no command")?;
        let command = Command {
            program: program.clone(),
            args: args.to_vec(),
            cwd: ready.cwd,
            env: ready.settled.env,
            stdout: Output::Piped,
            stderr: Output::Piped,
            ..Command::default()
        };
        let child = ready.sandbox.cell(ready.settled.policy).spawn(command).await;
        follow(child).await.map_err(|error| error.to_string())
    }
}

/// Passes on what the command writes, until it ends.
async fn follow(child: Result<mxd_tools::sandbox::Child, SandboxError>) -> Result<End, SandboxError> {
    let mut child = child?;
    let (out, complaints) = (child.stdout.take(), child.stderr.take());
    let pass = |text: &[u8]| std::io::stdout().write_all(text).and_then(|()| std::io::stdout().flush());
    let complain = |text: &[u8]| std::io::stderr().write_all(text);
    tokio::join!(pump(out, pass), pump(complaints, complain));
    child.wait().await.map(|exit| exit.end)
}

async fn pump(from: Option<impl AsyncRead + Unpin>, mut to: impl FnMut(&[u8]) -> std::io::Result<()>) {
    let Some(mut from) = from else { return };
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        if to(&buffer[..length]).is_err() {
            return;
        }
    }
}
