//! The daemon's side: starting a command in a sandbox, and hearing how it ends.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::UnixStream as Control;
use tokio::net::unix::pipe;
use tokio::process;
use tokio::sync::oneshot;

use super::error::SandboxError;
use super::groups::Groups;
use super::level::Level;
use super::outer;
use super::policy::Policy;
use super::wire::{self, MAX_FRAME, Order, Report, Usage};
use crate::tether::Tether;

/// How long a supervisor has to end everything before it is killed itself.
const GRACE: Duration = Duration::from_secs(1);

/// How our own binary is started as a supervisor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    /// The binary.
    pub program: PathBuf,
    /// The hidden arguments that make it call [`super::enter`] with what follows them.
    pub args: Vec<String>,
}

/// What starts processes, at the level this machine allows. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sandbox {
    launcher: Arc<Launcher>,
    level: Level,
    shortfalls: Arc<[String]>,
    tether: Option<Tether>,
}

/// What to run.
#[derive(Debug, Clone, Default)]
pub struct Command {
    /// A name to be looked for in `PATH`, or a path.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Where.
    pub cwd: PathBuf,
    /// Its whole environment.
    pub env: Vec<(String, String)>,
    /// What it reads.
    pub stdin: Input,
    /// Where standard output goes.
    pub stdout: Output,
    /// Where standard error goes.
    pub stderr: Output,
}

/// What a command reads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Input {
    /// Nothing.
    #[default]
    Null,
    /// What is written to [`Child::stdin`].
    Piped,
}

/// Where the output of a command goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Output {
    /// Nowhere.
    Null,
    /// To [`Child::stdout`] or [`Child::stderr`].
    #[default]
    Piped,
    /// Standard error only: to where standard output goes, in the order it was written.
    WithStdout,
}

/// A command that runs. Dropping it ends it, with everything it started.
#[derive(Debug)]
pub struct Child {
    /// What it reads, when that is piped.
    pub stdin: Option<pipe::Sender>,
    /// What it writes.
    pub stdout: Option<pipe::Receiver>,
    /// What it complains.
    pub stderr: Option<pipe::Receiver>,
    pub(super) missing: Vec<String>,
    control: Control,
    supervisor: u32,
    /// Dropped with the child: tells the one who buries the supervisor that nobody waits for it any more.
    owner: oneshot::Sender<()>,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// By what.
    pub end: End,
    /// At what cost.
    pub usage: Usage,
}

/// By what a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl Sandbox {
    /// Processes started by this launcher are held at this level.
    pub(super) fn at(launcher: Launcher, level: Level, shortfalls: Vec<String>) -> Self {
        Self { launcher: Arc::new(launcher), level, shortfalls: shortfalls.into(), tether: None }
    }

    /// The same, with everything that it starts tied to this program.
    #[must_use]
    pub fn tied_by(self, tether: Tether) -> Self {
        Self { tether: Some(tether), ..self }
    }

    /// How far the kernel holds what is started.
    pub fn level(&self) -> Level {
        self.level
    }

    /// Why higher levels were not reached, one sentence each.
    pub fn shortfalls(&self) -> &[String] {
        &self.shortfalls
    }

    pub(super) fn launch_command(
        &self,
        policy: &Policy,
        groups: &Arc<Groups>,
        anchor: Option<u32>,
        command: Command,
    ) -> Result<Child, SandboxError> {
        self.launch(outer::STAGE, (policy, groups, anchor), command)
    }

    /// Starts a supervisor and gives it its order.
    pub(super) fn launch(
        &self,
        stage: &'static str,
        (policy, groups, anchor): (&Policy, &Arc<Groups>, Option<u32>),
        command: Command,
    ) -> Result<Child, SandboxError> {
        let frame = self.order(policy, (groups, anchor), &command)?;
        let failed = |source| SandboxError::Launch { program: self.launcher.program.clone(), source };
        let (ours, theirs) = UnixStream::pair().map_err(failed)?;
        let pipes = Pipes::make(&command).map_err(failed)?;
        let tether = self.tether.as_ref().map(AsFd::as_fd);
        let beside: Vec<_> = tether.into_iter().chain(pipes.their_stdin.as_ref().map(AsFd::as_fd)).collect();
        // A copy for each stage.
        for _stage in 0..2 {
            wire::send(&ours, &frame, &beside).map_err(failed)?;
        }
        let supervisor = process::Command::new(&self.launcher.program)
            .args(&self.launcher.args)
            .arg(stage)
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(pipes.their_stdout)
            .stderr(pipes.their_stderr)
            // A terminal's interrupt is for the daemon, which tells its supervisors in its own way.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let id = supervisor.id().unwrap_or_default();
        let (owner, released) = oneshot::channel();
        tokio::spawn(bury(supervisor, released, Arc::clone(groups)));
        ours.set_nonblocking(true).map_err(failed)?;
        let control = Control::from_std(ours).map_err(failed)?;
        Ok(Child {
            stdin: pipes.stdin,
            stdout: pipes.stdout,
            stderr: pipes.stderr,
            missing: Vec::new(),
            control,
            supervisor: id,
            owner,
        })
    }

    fn order(
        &self,
        policy: &Policy,
        (groups, anchor): (&Groups, Option<u32>),
        command: &Command,
    ) -> Result<Vec<u8>, SandboxError> {
        let order = Order {
            level: self.level,
            program: command.program.clone(),
            args: command.args.clone(),
            cwd: command.cwd.clone(),
            env: command.env.clone(),
            policy: policy.clone(),
            anchor,
            groups: groups.doors(),
            is_tied: self.tether.is_some(),
        };
        let frame =
            serde_json::to_vec(&order).map_err(|error| SandboxError::SetUp { what: error.to_string() })?;
        if frame.len() > MAX_FRAME {
            return Err(SandboxError::TooLarge { bytes: frame.len(), limit: MAX_FRAME });
        }
        Ok(frame)
    }
}

impl Child {
    /// Waits for the end. Cancelling the wait loses nothing; ask again.
    ///
    /// # Errors
    ///
    /// When the supervisor went away without saying how the command ended.
    pub async fn wait(&mut self) -> Result<Exit, SandboxError> {
        match self.hear().await? {
            Report::Ended { code: Some(code), usage, .. } => Ok(Exit { end: End::Code(code), usage }),
            Report::Ended { signal: Some(signal), usage, .. } => Ok(Exit { end: End::Signal(signal), usage }),
            Report::Ended { .. }
            | Report::Started { .. }
            | Report::SetUpFailed { .. }
            | Report::ExecFailed { .. } => Err(SandboxError::Lost),
        }
    }

    /// The supervisor's process number.
    pub(super) fn supervisor(&self) -> u32 {
        self.supervisor
    }

    /// Whether the supervisor has not ended.
    pub(super) fn is_running(&self) -> bool {
        !self.owner.is_closed()
    }

    pub(super) async fn hear(&mut self) -> Result<Report, SandboxError> {
        let mut length = [0; 4];
        self.control.read_exact(&mut length).await.map_err(|_closed| SandboxError::Lost)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > MAX_FRAME {
            return Err(SandboxError::Lost);
        }
        let mut frame = vec![0; length];
        self.control.read_exact(&mut frame).await.map_err(|_closed| SandboxError::Lost)?;
        serde_json::from_slice(&frame).map_err(|_garbled| SandboxError::Lost)
    }
}

/// Waits for a supervisor to end. Once its child is dropped it has a moment to end everything, then it is killed.
///
/// Its groups are held until then, because they cannot go while somebody is in them.
async fn bury(mut supervisor: process::Child, mut released: oneshot::Receiver<()>, groups: Arc<Groups>) {
    tokio::select! {
        _ended = supervisor.wait() => return drop(groups),
        _dropped = &mut released => {}
    }
    if tokio::time::timeout(GRACE, supervisor.wait()).await.is_err() {
        let _gone_already = supervisor.kill().await;
    }
}

/// Both ends of what a command reads and writes.
struct Pipes {
    stdin: Option<pipe::Sender>,
    stdout: Option<pipe::Receiver>,
    stderr: Option<pipe::Receiver>,
    their_stdin: Option<PipeReader>,
    their_stdout: Stdio,
    their_stderr: Stdio,
}

impl Pipes {
    fn make(command: &Command) -> io::Result<Self> {
        let (stdin, their_stdin) = match command.stdin {
            Input::Null => (None, None),
            Input::Piped => {
                let (reader, writer) = io::pipe()?;
                (Some(pipe::Sender::from_owned_fd(writer.into())?), Some(reader))
            }
        };
        let (stdout, their_stdout) = output(command.stdout)?;
        let (stderr, their_stderr) = match (command.stderr, &their_stdout) {
            (Output::WithStdout, Some(writer)) => (None, Some(writer.try_clone()?)),
            (other, _) => output(other)?,
        };
        Ok(Self {
            stdin,
            stdout,
            stderr,
            their_stdin,
            their_stdout: their_stdout.map_or_else(Stdio::null, Stdio::from),
            their_stderr: their_stderr.map_or_else(Stdio::null, Stdio::from),
        })
    }
}

fn output(output: Output) -> io::Result<(Option<pipe::Receiver>, Option<PipeWriter>)> {
    match output {
        Output::Null | Output::WithStdout => Ok((None, None)),
        Output::Piped => {
            let (reader, writer) = io::pipe()?;
            Ok((Some(pipe::Receiver::from_owned_fd(reader.into())?), Some(writer)))
        }
    }
}
