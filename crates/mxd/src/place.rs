//! The folder that commands and tools work in: its sandbox, what may be touched, and the way to allowed hosts.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use clap::{Args, ValueEnum};
use mxd_core::time::Millis;
use mxd_tools::proxy::{self, HostRules, Listen, Options, Proxy, Resolver};
use mxd_tools::sandbox::{Agent, Level, Limits, Mode, Network, Sandbox, Settled, User};
use mxd_tools::scope::{Access, Root};
use tempfile::TempDir;

use crate::doctor::launcher;

/// What may be touched from the current folder.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// How strong the sandbox has to be.
    #[arg(long, value_enum, default_value_t = Strength::On)]
    sandbox: Strength,
    /// Only looks at this folder.
    #[arg(long)]
    pub(crate) read_only: bool,
    /// A further folder that may be changed. Can be given more than once.
    #[arg(long, value_name = "FOLDER")]
    write: Vec<PathBuf>,
    /// A further file or folder that may be looked at. Can be given more than once.
    #[arg(long, value_name = "PATH")]
    read: Vec<PathBuf>,
    /// A host that may be reached, such as `example.org`, `*.example.org` or `example.org:8443`. Can be given more than once.
    #[arg(long, value_name = "HOST")]
    allow: Vec<String>,
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

/// A folder that is ready to be worked in.
pub(crate) struct Ready {
    pub(crate) sandbox: Sandbox,
    pub(crate) cwd: PathBuf,
    pub(crate) settled: Settled,
    /// Removed in the end.
    pub(crate) scratch: TempDir,
    /// The way to allowed hosts, which ends with it.
    _proxy: Option<Proxy>,
}

impl Place {
    /// Makes the current folder ready.
    pub(crate) async fn prepare(&self) -> Result<Ready, String> {
        let mode = match self.sandbox {
            Strength::On => Mode::On,
            Strength::Full => Mode::Full,
            Strength::Landlock => Mode::Landlock,
            Strength::Off => Mode::Off,
        };
        let sandbox = Sandbox::probe(launcher(), mode).await.map_err(|error| error.to_string())?;
        let cwd = std::env::current_dir().map_err(|error| format!("the current folder: {error}"))?;
        let scratch = TempDir::new().map_err(|error| format!("a folder for temporary files: {error}"))?;
        let proxy = self.proxy(sandbox.level(), &scratch.path().join("proxy")).await?;
        let mut agent = self.agent(cwd.clone(), scratch.path().to_owned());
        agent.network = match (&proxy, sandbox.level()) {
            (Some(proxy), _) => proxy.network(),
            (None, Level::Off) => Network::Open,
            (None, Level::Landlock | Level::Full) => Network::None,
        };
        let mut settled = agent.settle(sandbox.level()).map_err(|error| error.to_string())?;
        settled.env.extend(proxy.iter().flat_map(Proxy::env));
        Ok(Ready { sandbox, cwd, settled, scratch, _proxy: proxy })
    }

    /// The folders and files besides the current one.
    pub(crate) fn extra(&self) -> Vec<Root> {
        let changed = self.write.iter().map(|path| Root { path: path.clone(), access: Access::Write });
        let seen = self.read.iter().map(|path| Root { path: path.clone(), access: Access::Read });
        changed.chain(seen).collect()
    }

    /// The way to the allowed hosts, when there are any.
    async fn proxy(&self, level: Level, folder: &Path) -> Result<Option<Proxy>, String> {
        if self.allow.is_empty() {
            return Ok(None);
        }
        let mut rules = HostRules::default();
        for host in &self.allow {
            rules = rules.allow(host).map_err(|error| format!("--allow {host}: {error}"))?;
        }
        let options = Options {
            policy: Arc::new(rules),
            listen: Listen::for_level(level, folder.join("proxy.sock")),
            limits: proxy::Limits::default(),
            resolver: Resolver::System,
            clock: now,
            reports: None,
        };
        Proxy::start(options).await.map(Some).map_err(|error| error.to_string())
    }

    /// What may be done in the folder.
    pub(crate) fn access(&self) -> Access {
        if self.read_only { Access::Read } else { Access::Write }
    }

    fn agent(&self, worktree: PathBuf, scratch: PathBuf) -> Agent {
        Agent {
            worktree: Root { path: worktree, access: self.access() },
            scratch,
            repository: None,
            user: User::of_environment(),
            author: None,
            extra: self.extra(),
            network: Network::None,
            limits: Limits::default(),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the edge of the program, where time comes from")]
pub(crate) fn now() -> Millis {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
