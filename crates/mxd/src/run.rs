//! `mxd run`: a command as an agent would run it, to see what it sees.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use mxd_tools::sandbox::{Agent, Command, End, Limits, Mode, Network, Output, Sandbox, SandboxError, User};
use mxd_tools::scope::{Access, Root};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::doctor::launcher;
use crate::say;

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// How strong the sandbox has to be.
    #[arg(long, value_enum, default_value_t = Strength::On)]
    sandbox: Strength,
    /// Only looks at this folder.
    #[arg(long)]
    read_only: bool,
    /// A further folder that may be changed. Can be given more than once.
    #[arg(long, value_name = "FOLDER")]
    write: Vec<PathBuf>,
    /// A further file or folder that may be looked at. Can be given more than once.
    #[arg(long, value_name = "PATH")]
    read: Vec<PathBuf>,
    /// The command and its arguments.
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Strength {
    /// The strongest that works here.
    On,
    /// Namespaces, Landlock and seccomp, or nothing.
    Full,
    /// Landlock and seccomp.
    Landlock,
    /// None.
    Off,
}

impl Run {
    pub(crate) fn run(self) -> ExitCode {
        match say::wait_for(self.inside()) {
            Ok(Ok(End::Code(code))) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
            Ok(Ok(End::Signal(signal))) => {
                ExitCode::from(128_u8.saturating_add(u8::try_from(signal).unwrap_or(0)))
            }
            Ok(Err(error)) => say::failure(error),
            Err(error) => say::failure(error.to_string()),
        }
    }

    async fn inside(self) -> Result<End, String> {
        let mode = match self.sandbox {
            Strength::On => Mode::On,
            Strength::Full => Mode::Full,
            Strength::Landlock => Mode::Landlock,
            Strength::Off => Mode::Off,
        };
        let sandbox = Sandbox::probe(launcher(), mode).await.map_err(|error| error.to_string())?;
        let cwd = std::env::current_dir().map_err(|error| format!("the current folder: {error}"))?;
        let scratch =
            tempfile::TempDir::new().map_err(|error| format!("a folder for temporary files: {error}"))?;
        let agent = self.agent(cwd.clone(), scratch.path().to_owned());
        let settled = agent.settle(sandbox.level()).map_err(|error| error.to_string())?;
        let (program, args) = self.command.split_first().ok_or("no command")?;
        let command = Command {
            program: program.clone(),
            args: args.to_vec(),
            cwd,
            env: settled.env,
            stdout: Output::Piped,
            stderr: Output::Piped,
            ..Command::default()
        };
        follow(sandbox.cell(settled.policy).spawn(command).await).await.map_err(|error| error.to_string())
    }

    fn agent(&self, worktree: PathBuf, scratch: PathBuf) -> Agent {
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        let access = if self.read_only { Access::Read } else { Access::Write };
        let extra = self.write.iter().map(|path| Root { path: path.clone(), access: Access::Write });
        let seen = self.read.iter().map(|path| Root { path: path.clone(), access: Access::Read });
        Agent {
            worktree: Root { path: worktree, access },
            scratch,
            repository: None,
            user: User {
                name: variable("USER"),
                home: variable("HOME").into(),
                path: variable("PATH"),
                variables: std::env::vars().collect(),
                committer: None,
            },
            extra: extra.chain(seen).collect(),
            network: Network::None,
            limits: Limits::default(),
        }
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
