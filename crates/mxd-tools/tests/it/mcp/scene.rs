//! An agent with servers.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mxd_core::manifest::{
    DeclaredTool, Discovered, LockedServer, Program, Reconnect, ResourceAccess, Sampling, ServerSpec, Tools,
    Transport,
};
use mxd_core::raw::RawJson;
use mxd_core::tool::{CleanText, ServerName, SideEffect, ToolId};
use mxd_tools::mcp::{
    Answers, Backoff, CallError, CallOptions, Limits, Servers, Status, Surroundings, Unaccepted, View, Wanted,
};
use mxd_tools::sandbox::{self, Agent, Mode, Network, Sandbox, User};
use mxd_tools::scope::{Access, Root};
use secrecy::SecretString;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::farm::launcher;

/// The folders of an agent.
pub(crate) struct Ground {
    pub(crate) folder: TempDir,
    pub(crate) around: Surroundings,
}

impl Ground {
    pub(crate) async fn new(mode: Mode) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["worktree", "scratch", "home"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        let agent = Agent {
            worktree: Root { path: root.join("worktree"), access: Access::Write },
            scratch: root.join("scratch"),
            repository: None,
            user: User {
                name: "tester".to_owned(),
                home: root.join("home"),
                path: std::env::var("PATH").unwrap(),
                variables: Vec::new(),
            },
            author: None,
            extra: vec![Root { path: bin_folder(), access: Access::Read }],
            network: Network::None,
            limits: sandbox::Limits::default(),
        };
        let around = Surroundings {
            packages: None,
            sandbox: Sandbox::probe(launcher(), mode).await.unwrap(),
            agent,
            proxy_env: Vec::new(),
            secrets: Arc::new(|_| None),
            answers: Answers::default(),
            plain_http: Vec::new(),
            limits: limits(),
        };
        Self { folder, around }
    }

    pub(crate) fn knowing(mut self, name: &'static str, value: &'static str) -> Self {
        self.around.secrets = Arc::new(move |asked| (asked == name).then(|| SecretString::from(value)));
        self
    }

    pub(crate) fn around(&self) -> Arc<Surroundings> {
        Arc::new(self.around.clone())
    }

    pub(crate) async fn connect(&self, wanted: Vec<Wanted>) -> Servers {
        Servers::connect(wanted, self.around()).await
    }
}

fn bin_folder() -> PathBuf {
    PathBuf::from(odd_server()).parent().unwrap().to_owned()
}

/// Short where something has to run out, long where it must not.
pub(crate) fn limits() -> Limits {
    Limits {
        connect: Duration::from_secs(15),
        probe: Duration::from_millis(500),
        question: Duration::from_secs(15),
        end: Duration::from_millis(500),
        relist: Duration::from_millis(50),
        message_bytes: 1 << 20,
        odd_messages: 200,
        answers: 100,
        backoff: Backoff {
            first: Duration::from_millis(20),
            longest: Duration::from_millis(100),
            forgiven_after: Duration::from_secs(3600),
        },
        ..Limits::default()
    }
}

pub(crate) fn odd_server() -> &'static str {
    env!("CARGO_BIN_EXE_mxd-odd-server")
}

pub(crate) fn name(text: &str) -> ServerName {
    text.parse().unwrap()
}

pub(crate) fn tool(text: &str) -> ToolId {
    text.parse().unwrap()
}

pub(crate) fn declared(name: &str, effect: SideEffect) -> DeclaredTool {
    DeclaredTool {
        name: name.parse().unwrap(),
        description: CleanText::default(),
        effect,
        timeout_ms: 30_000,
    }
}

pub(crate) fn program(server: &str, command: &str, args: &[&str]) -> ServerSpec {
    ServerSpec {
        name: name(server),
        transport: Transport::Stdio(Program {
            command: command.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: Vec::new(),
        }),
        package: None,
        tools: Tools::Declared(vec![declared("echo", SideEffect::Read)]),
        reconnect: Reconnect::Never,
        timeout_ms: 30_000,
        sampling: Sampling::Off,
        resources: ResourceAccess::Closed,
    }
}

/// A server of this kind, called so.
pub(crate) fn odd(server: &str, kind: &str) -> ServerSpec {
    program(server, odd_server(), &[kind, ""])
}

/// What the good server offers, accepted.
pub(crate) fn accepted(spec: &ServerSpec) -> LockedServer {
    let definition = json!({
        "name": "echo",
        "description": "Says what it is told.",
        "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } } },
    });
    let definition = RawJson::parse(&definition.to_string()).unwrap();
    LockedServer::accept(spec, &Discovered::read([&definition]), None)
}

/// Wanted as it was accepted.
pub(crate) fn locked(spec: ServerSpec) -> Wanted {
    let locked = Some(accepted(&spec));
    Wanted { spec, locked, view: View::Worktree, unaccepted: Unaccepted::Refuse }
}

/// Wanted whatever it offers at first.
pub(crate) fn unlocked(spec: ServerSpec) -> Wanted {
    Wanted { spec, locked: None, view: View::Worktree, unaccepted: Unaccepted::Use }
}

pub(crate) async fn echo(servers: &Servers, server: &str, text: &str) -> Result<String, CallError> {
    within(servers, server, text, Duration::from_secs(30)).await
}

pub(crate) async fn within(
    servers: &Servers,
    server: &str,
    text: &str,
    deadline: Duration,
) -> Result<String, CallError> {
    let id = tool(&format!("mcp:{server}:echo"));
    let result = servers.call(&id, &json!({ "text": text }), CallOptions::within(deadline)).await?;
    let said = result.pointer("/content/0/text").and_then(Value::as_str);
    Ok(said.map_or_else(|| result.to_string(), str::to_owned))
}

/// How long a call may take of which this has to be told: short only where it has to run out.
pub(crate) fn patience(expected: &str) -> Duration {
    let runs_out = expected.contains("did not answer within") || expected.contains("made no sense");
    if runs_out { Duration::from_secs(1) } else { Duration::from_secs(60) }
}

/// Waits until a server is like this.
pub(crate) async fn until(servers: &Servers, server: &str, is_so: impl Fn(&Status) -> bool) -> Status {
    let server = name(server);
    let mut changes = servers.changes(&server).unwrap();
    loop {
        let status = servers.status(&server).unwrap();
        if is_so(&status) {
            return status;
        }
        changes.recv().await.unwrap();
    }
}

/// What is told about a server that cannot be used.
pub(crate) fn words(status: &Status) -> String {
    match status {
        Status::Ready => "ready".to_owned(),
        Status::Closed => "closed".to_owned(),
        Status::Connecting { why, .. } => why.clone().unwrap_or_default(),
        Status::Down { why, .. } => why.clone(),
        Status::Drifted(report) | Status::Unaccepted(report) => {
            let told: Vec<String> = report.findings.iter().map(mxd_tools::mcp::finding).collect();
            format!("{}: {}", report.server, told.join("; "))
        }
    }
}
