//! `bash` with `true`, through the plane and in the sandbox, against starting bash.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use mxd_core::tool::{
    ApprovalPolicy, CapabilityLayer, CapabilitySet, Fallback, Ruling, SideEffect, SkillScope,
};
use mxd_tools::confine::Files;
use mxd_tools::kept::Kept;
use mxd_tools::plane::{Authority, Call, Plane, Registry, Settlement};
use mxd_tools::sandbox::{Agent, Launcher, Limits, Mode, Network, Sandbox, Settled, User};
use mxd_tools::scope::{Access, Root, Scope};
use mxd_tools::secrets::Secrets;
use mxd_tools::shell::{CallId, Processes, Watcher};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::by_turns;
use super::row::Row;

/// What the plane and the sandbox may add, in milliseconds.
const BUDGET: f64 = 15.0;

pub(crate) fn run(rounds: usize) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    for (mode, name) in [(Mode::Full, "full"), (Mode::Landlock, "landlock")] {
        let ground = TempDir::new().unwrap();
        let scope = runtime.block_on(scope(&ground, mode));
        let ours = || through_the_plane(&runtime, &scope);
        ours();
        let (value, baseline) = by_turns(rounds * 4, ours, bare);
        let metric = format!("bash true at level {name}, against starting bash");
        Row { metric, unit: "ms", value, baseline: Some(baseline), bar: None }.tell();
        let metric = format!("what level {name} adds to it, against a budget");
        Row { metric, unit: "ms", value: value - baseline, baseline: Some(BUDGET), bar: Some("<= 1") }.tell();
    }
}

fn through_the_plane(runtime: &Runtime, scope: &Scope) {
    let plane = Plane::new(Registry::built_in().unwrap());
    let capabilities =
        CapabilitySet::root(CapabilityLayer::granting(["mcp:mxd:*".parse().unwrap()]).unwrap());
    let approvals = ApprovalPolicy::new(Vec::new(), Fallback::always(Ruling::Allow)).unwrap();
    let authority = Authority {
        manifest_effects: SideEffect::ALL.into_iter().collect(),
        skill: SkillScope::NoSkill,
        capabilities: &capabilities,
        approvals: &approvals,
        approved: None,
    };
    let args = r#"{"command":"true"}"#;
    let call = Call { id: CallId::new("c"), tool: "mcp__mxd__bash", args, watcher: Watcher::default() };
    let settled = runtime.block_on(plane.call(call, &authority, scope, &CancellationToken::new()));
    assert!(matches!(&settled, Settlement::Done(outcome) if !outcome.is_error), "{settled:?}");
}

fn bare() {
    let output = Command::new("bash").args(["-c", "true"]).stdin(Stdio::null()).output();
    assert!(output.unwrap().status.success());
}

async fn scope(ground: &TempDir, mode: Mode) -> Scope {
    let [worktree, scratch, home] = ["worktree", "scratch", "home"].map(|name| ground.path().join(name));
    for folder in [&worktree, &scratch, &home] {
        std::fs::create_dir(folder).unwrap();
    }
    let program = PathBuf::from(env!("CARGO_BIN_EXE_mxd-sandbox"));
    let sandbox = Sandbox::probe(Launcher { program, args: Vec::new() }, mode).await.unwrap();
    let agent = Agent {
        worktree: Root { path: worktree.clone(), access: Access::Write },
        scratch: scratch.clone(),
        repository: None,
        user: User {
            name: "bench".to_owned(),
            home,
            path: "/usr/bin:/bin".to_owned(),
            variables: Vec::new(),
        },
        author: None,
        extra: Vec::new(),
        network: Network::None,
        limits: Limits::default(),
    };
    let Settled { mut policy, env } = agent.settle(sandbox.level()).unwrap();
    let kept = Kept::open(&scratch).unwrap();
    let processes = Processes::open(&scratch, kept.clone()).unwrap();
    processes.allow(&mut policy);
    Scope {
        worktree,
        access: Access::Write,
        roots: Arc::new([]),
        scratch,
        cell: sandbox.cell(policy),
        env: env.into(),
        files: Files::default(),
        processes,
        kept,
        secrets: Secrets::new([""; 0]).unwrap(),
    }
}
