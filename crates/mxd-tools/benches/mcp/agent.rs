//! An agent that calls through the plane: gate, schema, sandbox, redaction.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use mxd_core::manifest::{
    DeclaredTool, Program, Reconnect, ResourceAccess, Sampling, ServerSpec, Tools, Transport,
};
use mxd_core::tool::{
    ApprovalPolicy, CapabilityLayer, CapabilitySet, CleanText, Fallback, Ruling, SideEffect, SkillScope,
};
use mxd_tools::confine::Files;
use mxd_tools::kept::Kept;
use mxd_tools::mcp::{Answers, Limits, Servers, Status, Surroundings, Unaccepted, View, Wanted};
use mxd_tools::plane::{Authority, Call, Plane, Registry, Settlement};
use mxd_tools::sandbox::{self, Launcher, Mode, Network, Sandbox, Settled, User};
use mxd_tools::scope::{Access, Root, Scope};
use mxd_tools::secrets::Secrets;
use mxd_tools::shell::{CallId, Processes, Watcher};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::Went;

/// The server that all clients call.
pub(crate) const SERVER: &str = env!("CARGO_BIN_EXE_mxd-odd-server");

pub(crate) struct Agent {
    plane: Plane,
    scope: Scope,
    servers: Servers,
    around: Arc<Surroundings>,
    _ground: TempDir,
}

impl Agent {
    pub(crate) async fn new() -> Self {
        let ground = TempDir::new().unwrap();
        let around = Arc::new(surroundings(&ground).await);
        let servers = Servers::connect(vec![wanted("server", &["good"])], Arc::clone(&around)).await;
        let mut registry = Registry::built_in().unwrap();
        assert!(servers.register(&mut registry).is_empty());
        Self { plane: Plane::new(registry), scope: scope(&around), servers, around, _ground: ground }
    }

    /// Calls a tool so often, so many at once.
    pub(crate) async fn calls(&self, calls: usize, width: usize) -> Went {
        let granted = CapabilityLayer::granting(["mcp:server:*".parse().unwrap()]).unwrap();
        let (capabilities, approvals) = (
            CapabilitySet::root(granted),
            ApprovalPolicy::new(Vec::new(), Fallback::always(Ruling::Allow)).unwrap(),
        );
        let authority = Authority {
            manifest_effects: SideEffect::ALL.into_iter().collect(),
            skill: SkillScope::NoSkill,
            capabilities: &capabilities,
            approvals: &approvals,
            approved: None,
        };
        let start = Instant::now();
        let each = futures_util::stream::iter(0..calls)
            .map(|_| self.call(&authority))
            .buffer_unordered(width)
            .collect::<Vec<Duration>>()
            .await;
        Went::of(each, start.elapsed())
    }

    async fn call(&self, authority: &Authority<'_>) -> Duration {
        let start = Instant::now();
        let args = r#"{"text":"hello"}"#;
        let call =
            Call { id: CallId::new("c"), tool: "mcp__server__echo", args, watcher: Watcher::default() };
        let settled = self.plane.call(call, authority, &self.scope, &CancellationToken::new()).await;
        assert!(matches!(&settled, Settlement::Done(outcome) if !outcome.is_error), "{settled:?}");
        start.elapsed()
    }

    /// Connects servers that are so late, in milliseconds.
    pub(crate) async fn connect(&self, late: &[u64]) {
        let late =
            late.iter().map(|late| wanted(&format!("late-{late}"), &["starts-late", &late.to_string()]));
        let servers = Servers::connect(late.collect(), Arc::clone(&self.around)).await;
        for change in servers.statuses() {
            assert_eq!(change.status, Status::Ready, "{}", change.server);
        }
    }

    pub(crate) async fn close(self) {
        self.servers.close().await;
    }
}

fn wanted(name: &str, args: &[&str]) -> Wanted {
    let program = Program {
        command: SERVER.to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: Vec::new(),
    };
    let tool = DeclaredTool {
        name: "echo".parse().unwrap(),
        description: CleanText::default(),
        effect: SideEffect::Read,
        timeout_ms: 30_000,
    };
    let spec = ServerSpec {
        name: name.parse().unwrap(),
        transport: Transport::Stdio(program),
        package: None,
        tools: Tools::Declared(vec![tool]),
        reconnect: Reconnect::Never,
        timeout_ms: 30_000,
        sampling: Sampling::Off,
        resources: ResourceAccess::Closed,
    };
    Wanted { spec, locked: None, view: View::Worktree, unaccepted: Unaccepted::Use }
}

async fn surroundings(ground: &TempDir) -> Surroundings {
    let [worktree, scratch, home] = ["worktree", "scratch", "home"].map(|name| ground.path().join(name));
    for folder in [&worktree, &scratch, &home] {
        std::fs::create_dir(folder).unwrap();
    }
    let launcher = Launcher { program: PathBuf::from(env!("CARGO_BIN_EXE_mxd-sandbox")), args: Vec::new() };
    let programs = PathBuf::from(SERVER).parent().unwrap().to_owned();
    Surroundings {
        packages: None,
        sandbox: Sandbox::probe(launcher, Mode::On).await.unwrap(),
        agent: sandbox::Agent {
            worktree: Root { path: worktree, access: Access::Write },
            scratch,
            repository: None,
            user: User {
                name: "bench".to_owned(),
                home,
                path: "/usr/bin:/bin".to_owned(),
                variables: Vec::new(),
            },
            author: None,
            extra: vec![Root { path: programs, access: Access::Read }],
            network: Network::None,
            limits: sandbox::Limits::default(),
        },
        proxy_env: Vec::new(),
        secrets: Arc::new(|_| None),
        answers: Answers::default(),
        plain_http: Vec::new(),
        limits: Limits::default(),
    }
}

/// Secrets are looked for in every result, as they are for any agent that has some.
fn scope(around: &Surroundings) -> Scope {
    let scratch = around.agent.scratch.clone();
    let Settled { mut policy, env } = around.agent.settle(around.sandbox.level()).unwrap();
    let kept = Kept::open(&scratch).unwrap();
    let processes = Processes::open(&scratch, kept.clone()).unwrap();
    processes.allow(&mut policy);
    Scope {
        worktree: around.agent.worktree.path.clone(),
        access: around.agent.worktree.access,
        roots: Arc::new([]),
        scratch,
        cell: around.sandbox.cell(policy),
        env: env.into(),
        files: Files::default(),
        processes,
        kept,
        secrets: Secrets::new(["a-secret-that-is-looked-for", "and-another-one"]).unwrap(),
    }
}
