//! Starting the program of a server: which one, where, and with what.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::sync::Arc;

use mxd_core::manifest::{LockedServer, Program, Resolved, ServerSpec, effects_of_server};
use mxd_core::tool::SideEffect;
use secrecy::ExposeSecret as _;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::error::ConnectError;
use super::lines::Lines;
use super::pen::Pen;
use super::surroundings::Surroundings;
use super::traffic::Traffic;
use super::wire::{Inlet, Outlet};
use crate::package::{PackageError, Runnable};
use crate::sandbox::{Cell, Child, Command, End, Input, Output};
use crate::scope::{Access, Root};

/// The folder that servers without a worktree see in its place.
const EMPTY: &str = "empty";
/// Bytes of complaints that are read at once.
const CHUNK: usize = 16 << 10;

/// The process of a server. Dropping it ends the process with everything it started.
#[derive(Debug)]
pub(super) struct Process {
    exit: watch::Receiver<Option<End>>,
    tasks: TaskTracker,
    stop: CancellationToken,
    _end: DropGuard,
}

/// What to run: the one place that decides which files a server's process is made of. A server of a manifest is
/// started from verified files only; for one of a configuration nobody vouches.
async fn program(start: &Start<'_>) -> Result<Runnable, ConnectError> {
    let (spec, program) = (start.spec, start.program);
    let Some(package) = &spec.package else { return Ok(Runnable::unverified(program)) };
    let failed = |source| ConnectError::Package { server: spec.name.clone(), source };
    let Some(packages) = start.around.packages.clone() else {
        return Err(failed(PackageError::NoStore { server: spec.name.clone() }));
    };
    let (server, program, package) = (spec.name.clone(), program.clone(), package.clone());
    let prepared = tokio::task::spawn_blocking(move || packages.prepare(&server, &program, &package)).await;
    let panicked = |_| PackageError::Changing { server: spec.name.clone() };
    prepared.map_err(panicked).and_then(|prepared| prepared).map_err(failed)
}

/// What is to be started.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start<'a> {
    pub(super) spec: &'a ServerSpec,
    pub(super) locked: Option<&'a LockedServer>,
    pub(super) program: &'a Program,
    pub(super) resolved: &'a Resolved,
    pub(super) around: &'a Surroundings,
}

impl Start<'_> {
    /// Starts the process and connects its pipes.
    pub(super) async fn run(self, traffic: &Arc<Traffic>) -> Result<(Process, Inlet, Outlet), ConnectError> {
        let server = || self.spec.name.clone();
        let runnable = program(&self).await?;
        let (cell, env) = self.cell(&runnable)?;
        let command = Command {
            program: runnable.program,
            args: runnable.args,
            cwd: self.around.agent.worktree.path.clone(),
            env,
            stdin: Input::Piped,
            stdout: Output::Piped,
            stderr: Output::Piped,
        };
        let started = cell.spawn(command).await;
        let mut child = started.map_err(|source| ConnectError::Start { server: server(), source })?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(ConnectError::Protocol { server: server(), why: "it has no pipes".to_owned() });
        };
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let (tell, exit) = watch::channel(None);
        let (pen, writing) = Pen::new(stdin, exit.clone(), Arc::clone(traffic));
        let heard = CancellationToken::new();
        let all_heard = heard.clone().drop_guard();
        if let Some(stderr) = child.stderr.take() {
            let listening = complaints(stderr, Arc::clone(traffic), stop.clone());
            tasks.spawn(async move {
                listening.await;
                drop(all_heard);
            });
        }
        let stopped = stop.clone();
        tasks.spawn(async move {
            tokio::select! {
                () = stopped.cancelled() => {}
                () = writing => {}
            }
        });
        tasks.spawn(live((cell, child, heard), tell, Arc::clone(traffic), stop.clone()));
        tasks.close();
        let inlet = Inlet::Lines(Lines::new(stdout, exit.clone()));
        let process = Process { exit, tasks, stop: stop.clone(), _end: stop.drop_guard() };
        Ok((process, inlet, Outlet::Pen(pen)))
    }

    /// The server's own sandbox, held to what its tools do.
    fn cell(&self, runnable: &Runnable) -> Result<(Cell, Vec<(String, String)>), ConnectError> {
        let effects = effects_of_server(self.spec, self.locked);
        let folders = |source| ConnectError::Folders { server: self.spec.name.clone(), source };
        let mut agent = self.around.agent.clone();
        if agent.worktree.path == agent.scratch.join(EMPTY) {
            DirBuilder::new().recursive(true).mode(0o700).create(&agent.worktree.path).map_err(folders)?;
        }
        agent.scratch = agent.scratch.join("servers").join(self.spec.name.as_str());
        let mut settled = agent.held_to(effects).settle(self.around.sandbox.level()).map_err(folders)?;
        settled.policy.read.extend(runnable.reads.iter().cloned());
        let mut env = settled.env;
        if effects.contains(SideEffect::Network) || effects.contains(SideEffect::Chain) {
            env.extend(self.around.proxy_env.iter().cloned());
        }
        let declared = self.resolved.env.iter();
        env.extend(declared.map(|(name, value)| (name.to_string(), value.expose_secret().to_owned())));
        Ok((self.around.sandbox.cell(settled.policy), env))
    }
}

impl Surroundings {
    /// The same with an empty folder in place of the worktree, nothing to change and no user to ask.
    pub(super) fn without_worktree(&self) -> Self {
        let mut around = self.clone();
        around.agent.worktree = Root { path: around.agent.scratch.join(EMPTY), access: Access::Read };
        around.agent.repository = None;
        around.answers = around.answers.without_worktree();
        around.agent.extra.retain(|root| root.access == Access::Read);
        around
    }
}

impl Process {
    /// Gives the process a moment to end by itself, and ends it then.
    pub(super) async fn close(&self, traffic: &Traffic) {
        let mut exit = self.exit.clone();
        drop(tokio::time::timeout(traffic.limits.end, exit.wait_for(Option::is_some)).await);
        self.stop.cancel();
        self.tasks.wait().await;
    }
}

/// Holds the process until it ends, or is to end.
async fn live(
    (cell, mut child, heard): (Cell, Child, CancellationToken),
    tell: watch::Sender<Option<End>>,
    traffic: Arc<Traffic>,
    stop: CancellationToken,
) {
    tokio::select! {
        exit = child.wait() => {
            let end = exit.map_or(End::Signal(9), |exit| exit.end);
            // Why it ended is often the last that it said.
            let _unfinished = tokio::time::timeout(traffic.limits.end, heard.cancelled()).await;
            tell.send_replace(Some(end));
            // What it wrote at last is still to be read.
            tokio::select! {
                () = stop.cancelled() => {}
                () = traffic.ended().cancelled() => {}
            }
        }
        () = stop.cancelled() => {}
    }
    drop((child, cell));
}

/// Keeps the end of what a server complains about, without secrets.
async fn complaints(mut stderr: pipe::Receiver, traffic: Arc<Traffic>, stop: CancellationToken) {
    let mut redactor = traffic.secrets.redactor();
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = tokio::select! {
            () = stop.cancelled() => break,
            read = stderr.read(&mut chunk) => read.unwrap_or_default(),
        };
        if read == 0 {
            break;
        }
        traffic.complain(&String::from_utf8_lossy(&redactor.push(&chunk[..read])));
    }
    traffic.complain(&String::from_utf8_lossy(&redactor.finish()));
}
