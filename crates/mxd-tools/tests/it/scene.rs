//! An agent for tests: a worktree, a scratch, and tools that act in them.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mxd_tools::builtin::{Context, background, bash};
use mxd_tools::confine::Files;
use mxd_tools::kept::Kept;
use mxd_tools::outcome::{Outcome, Part};
use mxd_tools::sandbox::{Limits, Mode, Policy, Sandbox, StandIn};
use mxd_tools::scope::{Access, Scope};
use mxd_tools::secrets::Secrets;
use mxd_tools::shell::{CallId, Processes, Watcher};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::unix::pipe;
use tokio_util::sync::CancellationToken;

use crate::farm::launcher;

/// Every way in which commands can be held.
pub(crate) const MODES: [Mode; 3] = [Mode::Off, Mode::Landlock, Mode::Full];

pub(crate) struct Scene {
    pub(crate) scope: Scope,
    pub(crate) folder: TempDir,
}

impl Scene {
    pub(crate) async fn new() -> Self {
        Self::with(Mode::Off, &[]).await
    }

    pub(crate) async fn with(mode: Mode, secrets: &[(&str, &str)]) -> Self {
        Self::build(mode, secrets, Limits::default()).await
    }

    /// With limits that a test can reach.
    pub(crate) async fn limited(mode: Mode, limits: Limits) -> Self {
        Self::build(mode, &[], limits).await
    }

    async fn build(mode: Mode, secrets: &[(&str, &str)], limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (worktree, scratch) = (root.join("worktree"), root.join("scratch"));
        fs::create_dir(&worktree).unwrap();
        fs::create_dir(&scratch).unwrap();
        let kept = Kept::open(&scratch).unwrap();
        let processes = Processes::open(&scratch, kept.clone()).unwrap();
        let system = ["/usr", "/bin", "/lib", "/lib64", "/etc"].map(PathBuf::from);
        let own_tmp = StandIn { at: "/tmp".into(), folder: scratch.join("tmp") };
        fs::create_dir(&own_tmp.folder).unwrap();
        let mut policy = Policy {
            read: system.to_vec(),
            write: vec![worktree.clone()],
            measured: vec![worktree.clone(), own_tmp.folder.clone()],
            stand_ins: vec![own_tmp],
            limits,
            ..Policy::default()
        };
        processes.allow(&mut policy);
        let sandbox = Sandbox::probe(launcher(), mode).await.unwrap();
        let mut env = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
        env.extend(secrets.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let scope = Scope {
            worktree,
            access: Access::Write,
            roots: Arc::new([]),
            scratch,
            cell: sandbox.cell(policy),
            env: env.into(),
            files: Files::default(),
            processes,
            kept,
            secrets: Secrets::new(secrets.iter().map(|(_, value)| *value)).unwrap(),
        };
        Self { scope, folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.scope.worktree.join(name)
    }

    pub(crate) fn outside(&self) -> &Path {
        self.folder.path()
    }

    /// Runs a command in the foreground.
    pub(crate) async fn bash(&self, command: &str) -> Outcome {
        self.call("call", serde_json::json!({ "command": command })).await
    }

    pub(crate) async fn call(&self, call: &str, args: Value) -> Outcome {
        self.call_with(call, args, &Watcher::default(), &CancellationToken::new()).await
    }

    pub(crate) async fn call_with(
        &self,
        call: &str,
        args: Value,
        watcher: &Watcher,
        cancel: &CancellationToken,
    ) -> Outcome {
        let args: bash::Args = serde_json::from_value(args).unwrap();
        let call = CallId::new(call);
        bash::run(args, Context { scope: &self.scope, call: &call, watcher, cancel }).await
    }

    pub(crate) async fn background(&self, args: Value) -> Outcome {
        let args: background::Args = serde_json::from_value(args).unwrap();
        let (call, watcher, cancel) = (CallId::new("call"), Watcher::default(), CancellationToken::new());
        background::run(args, Context { scope: &self.scope, call: &call, watcher: &watcher, cancel: &cancel })
            .await
    }

    /// A pipe with a name in the worktree, from which the test hears what commands write into it.
    pub(crate) fn ear(&self, name: &str) -> Ear {
        let path = self.fifo(name);
        Ear(BufReader::new(pipe::OpenOptions::new().open_receiver(path).unwrap()))
    }

    /// A pipe with a name in the worktree; a command that reads from it waits until it is opened.
    pub(crate) fn gate(&self, name: &str) -> Gate {
        Gate(pipe::OpenOptions::new().read_write(true).open_sender(self.fifo(name)).unwrap())
    }

    fn fifo(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        path
    }
}

pub(crate) struct Ear(BufReader<pipe::Receiver>);

impl Ear {
    /// The next line that somebody writes.
    pub(crate) async fn line(&mut self) -> String {
        let mut line = String::new();
        loop {
            self.0.get_ref().readable().await.unwrap();
            // Before the first writer came the pipe looks closed.
            if self.0.read_line(&mut line).await.unwrap() > 0 && line.ends_with('\n') {
                return line.trim_end().to_owned();
            }
            tokio::task::yield_now().await;
        }
    }

    /// Waits until nobody has the pipe open any more.
    pub(crate) async fn silence(mut self) {
        let mut rest = Vec::new();
        self.0.read_to_end(&mut rest).await.unwrap();
    }
}

pub(crate) struct Gate(pipe::Sender);

impl Gate {
    /// Lets one reader go on.
    pub(crate) async fn open(&self) {
        self.0.writable().await.unwrap();
        self.0.try_write(b"go\n").unwrap();
    }
}

pub(crate) fn text(outcome: &Outcome) -> String {
    let texts = outcome.parts.iter().map(|part| match part {
        Part::Text(text) => text.as_str(),
        Part::Image { .. } => "<image>",
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Processes that have this mark in their command line.
pub(crate) fn marked(mark: &str) -> Vec<OsString> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let has_mark = |folder: &PathBuf| {
        let line = fs::read(folder.join("cmdline")).unwrap_or_default();
        // The command line of a shell that starts the marked process has the mark in the middle.
        String::from_utf8_lossy(&line).starts_with(mark)
    };
    processes.map(|entry| entry.path()).filter(has_mark).map(PathBuf::into_os_string).collect()
}
