//! The daemon's side: starting a command in a sandbox, and hearing how it ends.

use std::fs::File;
use std::io::{self, PipeReader};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use serde::Serialize;
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream as Control;
use tokio::net::unix::pipe;
use tokio::process;
use tokio::sync::oneshot;

use super::error::SandboxError;
use super::groups::Groups;
use super::level::Level;
use super::policy::Policy;
use super::wire::{self, Guest, Job, MAX_FRAME, MAX_ORDER, Order, Report, Usage};
use crate::tether::Tether;

/// How long a supervisor has to end everything before it is killed itself.
pub(super) const GRACE: Duration = Duration::from_secs(1);

/// How our own binary is started as a supervisor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    /// The binary.
    pub program: PathBuf,
    /// The hidden arguments that make it call [`super::enter`] with what follows them.
    pub args: Vec<String>,
}

impl Launcher {
    /// This very program: not what stands at its path by now, which may be a newer one that understands other orders.
    pub fn this_program(args: Vec<String>) -> Self {
        Self { program: "/proc/self/exe".into(), args }
    }
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

/// Where everything that a command writes goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outlets {
    pub(super) stdout: Output,
    pub(super) stderr: Output,
}

impl Command {
    pub(super) fn outlets(&self) -> Outlets {
        Outlets { stdout: self.stdout, stderr: self.stderr }
    }
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
    /// It may remove files, but neither make nor write any.
    pub(crate) only_removes: bool,
    control: Control,
    home: Home,
}

/// Where the supervisor of a command comes from.
#[derive(Debug)]
enum Home {
    /// It is a process of ours. Dropped with the child, this tells whoever buries it that nobody waits for it any more.
    Own { _owner: oneshot::Sender<()> },
    /// It lives with an anchor, which stays as long as somebody does.
    With(Arc<Child>),
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

    /// Starts a supervisor and gives it its orders, one for each stage; what its command is to do, it is told by
    /// [`Child::give`].
    pub(super) fn launch(
        &self,
        (stage, orders): (&'static str, usize),
        (policy, groups): (&Policy, &Arc<Groups>),
        outlets: Outlets,
    ) -> Result<Child, SandboxError> {
        let order = self.order(policy, groups)?;
        let launch = || {
            let (ours, theirs) = UnixStream::pair()?;
            let (outlets, theirs_out) = Pipes::make(outlets)?;
            for _stage in 0..orders {
                self.send_order(&ours, &order)?;
            }
            let [stdout, stderr] = theirs_out.map(Stdio::from);
            let supervisor = process::Command::new(&self.launcher.program)
                .args(&self.launcher.args)
                .arg(stage)
                .env_clear()
                .stdin(Stdio::from(OwnedFd::from(theirs)))
                .stdout(stdout)
                .stderr(stderr)
                // A terminal's interrupt is for the daemon, which tells its supervisors in its own way.
                .process_group(0)
                .spawn()?;
            let (owner, released) = oneshot::channel();
            tokio::spawn(bury(supervisor, released, Arc::clone(groups)));
            Child::new(ours, outlets, Home::Own { _owner: owner })
        };
        launch().map_err(|error| self.failed(error))
    }

    /// Has an anchor start a supervisor.
    pub(super) fn lodge(
        &self,
        anchor: &Arc<Child>,
        (policy, groups): (&Policy, &Arc<Groups>),
        outlets: Outlets,
    ) -> Result<Child, SandboxError> {
        let order = self.order(policy, groups)?;
        let guest = frame(&Guest {}, MAX_FRAME)?;
        let lodge = || {
            let (ours, theirs) = UnixStream::pair()?;
            let (outlets, [stdout, stderr]) = Pipes::make(outlets)?;
            self.send_order(&ours, &order)?;
            wire::send(&anchor.control, &guest, &[theirs.as_fd(), stdout.as_fd(), stderr.as_fd()])?;
            Child::new(ours, outlets, Home::With(Arc::clone(anchor)))
        };
        lodge().map_err(|error| self.failed(error))
    }

    fn order(&self, policy: &Policy, groups: &Groups) -> Result<Vec<u8>, SandboxError> {
        let order = Order { level: self.level, policy: policy.clone(), groups: groups.doors() };
        frame(&order, MAX_ORDER)
    }

    fn send_order(&self, to: &UnixStream, order: &[u8]) -> io::Result<()> {
        let tether: Vec<_> = self.tether.iter().map(AsFd::as_fd).collect();
        wire::send(to, order, &tether)
    }

    /// Has a supervisor start its command. When this returns, it runs.
    pub(super) async fn start(&self, mut child: Child, command: &Command) -> Result<Child, SandboxError> {
        let given = child.give(command)?;
        match child.hear().await {
            Ok(Report::Taken) => {}
            Ok(Report::SetUpFailed { what }) => return Err(SandboxError::SetUp { what }),
            Ok(Report::Started { .. } | Report::ExecFailed { .. } | Report::Ended { .. }) => {
                return Err(SandboxError::Lost);
            }
            Err(_lost) => {
                let gone = || io::Error::other("the supervisor ended before it began");
                return Err(self.failed(given.err().unwrap_or_else(gone)));
            }
        }
        match child.hear().await? {
            Report::Started { missing } => {
                child.missing = missing;
                Ok(child)
            }
            Report::SetUpFailed { what } => Err(SandboxError::SetUp { what }),
            Report::ExecFailed { why } => Err(SandboxError::Exec { program: command.program.clone(), why }),
            Report::Taken | Report::Ended { .. } => Err(SandboxError::Lost),
        }
    }

    fn failed(&self, source: io::Error) -> SandboxError {
        SandboxError::Launch { program: self.launcher.program.clone(), source }
    }
}

fn frame(value: &impl Serialize, limit: usize) -> Result<Vec<u8>, SandboxError> {
    let frame = serde_json::to_vec(value).map_err(|error| SandboxError::SetUp { what: error.to_string() })?;
    if frame.len() > limit {
        return Err(SandboxError::TooLarge { bytes: frame.len(), limit });
    }
    Ok(frame)
}

impl Child {
    fn new(control: UnixStream, Pipes { stdout, stderr }: Pipes, home: Home) -> io::Result<Self> {
        control.set_nonblocking(true)?;
        let control = Control::from_std(control)?;
        Ok(Self { stdin: None, stdout, stderr, missing: Vec::new(), only_removes: false, control, home })
    }

    /// Tells the supervisor what to run. The inner result is whether it can hear; why not, it may have said.
    fn give(&mut self, command: &Command) -> Result<io::Result<()>, SandboxError> {
        let Command { program, args, cwd, env, stdin, .. } = command.clone();
        let frame = frame(&Job { program, args, cwd, env }, MAX_FRAME)?;
        let hand_over = || {
            let (ours, theirs) = input(stdin)?;
            let with: Vec<_> = theirs.iter().map(AsFd::as_fd).collect();
            wire::send(&self.control, &frame, &with)?;
            Ok(ours)
        };
        Ok(hand_over().map(|ours| self.stdin = ours))
    }

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
            | Report::Taken
            | Report::Started { .. }
            | Report::SetUpFailed { .. }
            | Report::ExecFailed { .. } => Err(SandboxError::Lost),
        }
    }

    /// Whether the supervisor has not ended: it closes its socket then.
    pub(super) fn is_running(&self) -> bool {
        let heard = recv(&self.control, &mut [0; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT);
        matches!(heard, Ok((1.., _)) | Err(Errno::WOULDBLOCK | Errno::INTR))
    }

    /// Whether its supervisor lives with this anchor.
    pub(super) fn lives_with(&self, anchor: &Arc<Self>) -> bool {
        matches!(&self.home, Home::With(host) if Arc::ptr_eq(host, anchor))
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

/// Our ends of what a command writes.
struct Pipes {
    stdout: Option<pipe::Receiver>,
    stderr: Option<pipe::Receiver>,
}

impl Pipes {
    /// Ours, and those of the command.
    fn make(Outlets { stdout, stderr }: Outlets) -> io::Result<(Self, [OwnedFd; 2])> {
        let (stdout, their_stdout) = output(stdout)?;
        let (stderr, their_stderr) = match stderr {
            Output::WithStdout => (None, their_stdout.try_clone()?),
            other => output(other)?,
        };
        Ok((Self { stdout, stderr }, [their_stdout, their_stderr]))
    }
}

fn input(input: Input) -> io::Result<(Option<pipe::Sender>, Option<PipeReader>)> {
    match input {
        Input::Null => Ok((None, None)),
        Input::Piped => {
            let (reader, writer) = io::pipe()?;
            Ok((Some(pipe::Sender::from_owned_fd(writer.into())?), Some(reader)))
        }
    }
}

fn output(output: Output) -> io::Result<(Option<pipe::Receiver>, OwnedFd)> {
    match output {
        Output::Null | Output::WithStdout => {
            Ok((None, File::options().write(true).open("/dev/null")?.into()))
        }
        Output::Piped => {
            let (reader, writer) = io::pipe()?;
            Ok((Some(pipe::Receiver::from_owned_fd(reader.into())?), writer.into()))
        }
    }
}
