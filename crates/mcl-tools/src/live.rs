//! Where servers live while a command looks at them: a sandbox, a scratch folder, verified packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mxd_core::manifest::{LockFile, LockedServer, Placeholders, ServerSpec};
use mxd_core::time::Millis;
use mxd_tools::confine::Files;
use mxd_tools::kept::Kept;
use mxd_tools::mcp::{Answering, Answers, ConnectError, Connection, Limits, Refusal, Surroundings};
use mxd_tools::package::{PackageError, Packages, Places, Store};
use mxd_tools::proxy::{self, HostRules, Listen, Options, Proxy, Resolver};
use mxd_tools::sandbox::{self, Agent, Launcher, Level, Mode, Network, Sandbox, User};
use mxd_tools::scope::{Access, Root, Scope};
use mxd_tools::secrets::Secrets;
use mxd_tools::shell::Processes;
use serde_json::json;
use tempfile::TempDir;

use crate::answer::{Failure, Trouble};
use crate::cli::{Common, LiveArgs, Strength};
use crate::code::Code;
use crate::progress::Progress;

/// Where servers live while a command looks at them. Dropping it ends them.
pub(crate) struct World {
    pub(crate) around: Arc<Surroundings>,
    pub(crate) packages: Packages,
    pub(crate) scope: Scope,
    pub(crate) progress: Progress,
    /// What was accepted.
    pub(crate) lock: Option<LockFile>,
    _proxy: Option<Proxy>,
    _scratch: TempDir,
}

/// A runtime for what has to wait.
pub(crate) fn wait_for<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| trouble("no threads", &error))?;
    runtime.block_on(work)
}

/// Something of ours failed.
pub(crate) fn trouble(what: &str, error: &dyn std::error::Error) -> Trouble {
    Trouble::new(Code::Trouble, format!("{what}: {error}"), "`mxd doctor` says what works on this machine.")
}

impl World {
    pub(crate) async fn open(common: &Common, with: &LiveArgs) -> Result<Self, Failure> {
        let progress = Progress::of(common);
        let lock = crate::files::lock(&common.lock())?;
        let mode = match with.sandbox {
            Strength::On => Mode::On,
            Strength::Full => Mode::Full,
            Strength::Landlock => Mode::Landlock,
            Strength::Off => Mode::Off,
        };
        let sandbox = Sandbox::probe(launcher(), mode).await;
        let sandbox = sandbox.map_err(|error| trouble("the sandbox", &error))?;
        let worktree = fs::canonicalize(&with.worktree).map_err(|error| {
            let what = format!("the folder {}: {error}", with.worktree.display());
            Trouble::new(Code::Usage, what, "Name a folder that is there with --worktree.")
        })?;
        let scratch = TempDir::new().map_err(|error| trouble("a folder for temporary files", &error))?;
        let proxy = proxy(with, sandbox.level(), &scratch.path().join("proxy")).await?;
        let agent = agent(worktree.clone(), scratch.path().join("agent"), (&proxy, sandbox.level()));
        let scope = scope(&agent, &sandbox)?;
        let packages = packages(common, with)?;
        let around = Surroundings {
            sandbox,
            proxy_env: proxy.iter().flat_map(Proxy::env).collect(),
            agent,
            packages: Some(packages.clone()),
            secrets: Arc::new(|name| std::env::var(name).ok().map(Into::into)),
            answers: answers(worktree),
            plain_http: Vec::new(),
            limits: Limits { connect: Duration::from_secs(with.connect_timeout), ..Limits::default() },
        };
        let around = Arc::new(around);
        Ok(Self { around, packages, scope, progress, lock, _proxy: proxy, _scratch: scratch })
    }

    /// What was accepted of a server.
    pub(crate) fn locked(&self, server: &ServerSpec) -> Option<&LockedServer> {
        self.lock.as_ref()?.servers.get(&server.name)
    }

    /// Connects to a server.
    pub(crate) async fn connect(&self, server: &ServerSpec) -> Result<Connection, Trouble> {
        self.progress.tell(format!("starting {} …", server.name));
        let opened = Connection::open(server, self.locked(server), &self.around).await;
        match opened {
            Ok(connection) => {
                self.progress.tell(format!("{} is there", server.name));
                Ok(connection)
            }
            Err(error) => {
                self.progress.tell(format!("{} failed", server.name));
                Err(not_connected(server, &error))
            }
        }
    }
}

/// Servers are told that they may ask, as agents tell them: some offer other tools to those who answer nothing.
fn answers(worktree: PathBuf) -> Answers {
    let no_model = |_| Box::pin(async { Err(Refusal("mcl-tools has no model".to_owned())) }) as Answering;
    let nobody = |_| Box::pin(async { Ok(json!({ "action": "cancel" })) }) as Answering;
    Answers { roots: vec![worktree], sampling: Some(Arc::new(no_model)), elicitation: Some(Arc::new(nobody)) }
}

/// Why there is no connection, and which code that is.
pub(crate) fn not_connected(server: &ServerSpec, error: &ConnectError) -> Trouble {
    let code = match error {
        ConnectError::Package { source, .. } => package_code(source),
        ConnectError::OtherDefinitions { .. } => Code::Digest,
        _ => Code::Unavailable,
    };
    Trouble::new(code, error, error.hint()).of_server(&server.name)
}

/// Which code the problem of a package is.
pub(crate) fn package_code(error: &PackageError) -> Code {
    match error {
        PackageError::OtherDigest { .. }
        | PackageError::Changing { .. }
        | PackageError::Placeholder { .. }
        | PackageError::OtherVersion { .. } => Code::Digest,
        PackageError::Unclear(_) | PackageError::TooWide { .. } => Code::Invalid,
        PackageError::Store { .. } => Code::Trouble,
        _ => Code::Unavailable,
    }
}

/// Verified packages, and where installed ones are looked for: around the manifest first, then around this folder.
pub(crate) fn packages(common: &Common, with: &LiveArgs) -> Result<Packages, Trouble> {
    let user = User::of_environment();
    let store = with.store.clone().unwrap_or_else(|| user.packages());
    let store = Store::open(&store).map_err(|error| Trouble::new(Code::Trouble, &error, error.hint()))?;
    let beside = common.manifest.parent().filter(|folder| !folder.as_os_str().is_empty());
    let near = [beside.unwrap_or(Path::new(".")), Path::new(".")];
    let near = near.iter().filter_map(|folder| fs::canonicalize(folder).ok()).collect();
    let program = std::env::current_exe().ok().and_then(|path| path.parent().map(Path::to_owned));
    let places = Places { near, path: user.path, home: user.home, beside: program.unwrap_or_default() };
    Ok(Packages { store, places, placeholders: common.placeholders() })
}

/// Packages for a look at them, not for running them.
pub(crate) fn to_measure(common: &Common, with: &LiveArgs) -> Result<Packages, Trouble> {
    packages(common, with).map(|packages| Packages { placeholders: Placeholders::Allow, ..packages })
}

async fn proxy(with: &LiveArgs, level: Level, folder: &Path) -> Result<Option<Proxy>, Failure> {
    if with.allow.is_empty() {
        return Ok(None);
    }
    let mut rules = HostRules::default();
    for host in &with.allow {
        rules = rules.allow(host).map_err(|error| {
            Trouble::new(Code::Usage, format!("--allow {host}: {error}"), "Name a host, such as example.org.")
        })?;
    }
    let options = Options {
        policy: Arc::new(rules),
        listen: Listen::for_level(level, folder.join("proxy.sock")),
        limits: proxy::Limits::default(),
        resolver: Resolver::System,
        clock: now,
        reports: None,
    };
    Ok(Some(Proxy::start(options).await.map_err(|error| trouble("the proxy", &error))?))
}

fn agent(worktree: PathBuf, scratch: PathBuf, (proxy, level): (&Option<Proxy>, Level)) -> Agent {
    let network = match (proxy, level) {
        (Some(proxy), _) => proxy.network(),
        (None, Level::Off) => Network::Open,
        (None, Level::Landlock | Level::Full) => Network::None,
    };
    Agent {
        worktree: Root { path: worktree, access: Access::Write },
        scratch,
        repository: None,
        user: User::of_environment(),
        author: None,
        extra: Vec::new(),
        network,
        limits: sandbox::Limits::default(),
    }
}

/// Where built-in tools act.
fn scope(agent: &Agent, sandbox: &Sandbox) -> Result<Scope, Trouble> {
    let failed = |error: std::io::Error| trouble("the folders of the tools", &error);
    let mut settled = agent.settle(sandbox.level()).map_err(failed)?;
    let kept = Kept::open(&agent.scratch).map_err(failed)?;
    let processes = Processes::open(&agent.scratch, kept.clone()).map_err(failed)?;
    processes.allow(&mut settled.policy);
    Ok(Scope {
        worktree: agent.worktree.path.clone(),
        access: agent.worktree.access,
        roots: Arc::new([]),
        scratch: agent.scratch.clone(),
        cell: sandbox.cell(settled.policy),
        env: settled.env.into(),
        files: Files::default(),
        processes,
        kept,
        secrets: Secrets::default(),
    })
}

/// This binary, as a supervisor.
fn launcher() -> Launcher {
    Launcher::this_program(vec![crate::SANDBOX.to_owned()])
}

#[expect(clippy::disallowed_methods, reason = "the edge of the program, where time comes from")]
fn now() -> Millis {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
