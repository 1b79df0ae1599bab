//! The tools for other agents: they create tasks, write to them, read the tree and the log, and wait.
//!
//! A tool is a row of `tools.rs`: a name, a description for a model, a schema, and the route that does it. What a tool
//! does is what the route does, so nothing is written twice. Who asks the routes is not said here: the endpoint of
//! the daemon asks its own router, and `mxd mcp --daemon` asks over HTTP. Approving is left out on purpose: an agent must
//! not allow what another one asks for.

pub(crate) mod endpoint;
mod tools;

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use axum::http::Method;
use mxd_core::raw::RawJson;
use mxd_core::tool::{Annotations, PinState, ToolDef, ToolFacts, ToolId, ToolOffer};
use mxd_tools::builtin;
use mxd_tools::confine::Files;
use mxd_tools::kept::Kept;
use mxd_tools::outcome::Outcome;
use mxd_tools::plane::{Executor, Function, Plane, Registry};
use mxd_tools::sandbox::{Launcher, Mode, Policy, Sandbox};
use mxd_tools::scope::{Access, Scope};
use mxd_tools::secrets::Secrets;
use mxd_tools::serve::{Offer, Permissions};
use mxd_tools::shell::Processes;
use serde_json::Value;

use self::tools::{TOOLS, Tool};

/// What a model is told about the tools.
const INSTRUCTIONS: &str = "\
Agents that work on git repositories, each project a tree of tasks. `list_projects` and `get_tree` say what there is. \
`create_task` with `checks` describes work, `send_message` starts or steers an agent in the name of the user, `wait` \
returns when nobody works at a task and below it or somebody asks, `get_logs` says what happened. Agents work in \
worktrees of their own and merge upwards; nothing is pushed.";

/// How long a call may take.
const TIMEOUT_MS: u64 = 600_000;

/// Why the tools cannot be offered. They are as tools have to be; this keeps the possibility visible.
pub type SetUp<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// What a tool wants of the daemon.
#[derive(Debug)]
pub struct Wanted {
    /// How the route is asked.
    pub method: Method,
    /// Which route.
    pub path: String,
    /// With what.
    pub body: Option<Value>,
}

/// The answer of a route, some time; what it refuses is told in words.
pub type Asking = Pin<Box<dyn Future<Output = Result<Value, String>> + Send>>;

/// The tools, asking routes in this way.
///
/// # Errors
///
/// When the folder cannot be made.
pub async fn offer(
    scratch: &Path,
    permissions: Permissions,
    ask: impl Fn(Wanted) -> Asking + Clone + Send + Sync + 'static,
) -> SetUp<Offer> {
    let mut registry = Registry::default();
    for tool in TOOLS {
        let ask = ask.clone();
        let function = Function::new(move |args, _| {
            let asked = ask((tool.wanted)(&args));
            Box::pin(async move {
                match asked.await {
                    Ok(answer) => Outcome::text((tool.shown)(&answer)),
                    Err(why) => Outcome::error(why),
                }
            })
        });
        registry.register(definition(tool)?, Executor::Function(function))?;
    }
    let (plane, scope) = (Plane::new(registry), scope(scratch).await?);
    Ok(Offer { plane, scope, permissions, instructions: INSTRUCTIONS })
}

fn definition(tool: &Tool) -> SetUp<ToolDef> {
    let facts = ToolFacts {
        id: ToolId { server: builtin::SERVER.parse()?, tool: tool.name.parse()? },
        pin: PinState::Held(env!("CARGO_PKG_VERSION").parse()?),
        effect: Some(tool.effect),
    };
    let schema = RawJson::parse(&(tool.schema)().to_string())?;
    Ok(ToolDef::from_offer(ToolOffer {
        facts,
        title: "",
        description: tool.description,
        input_schema: &schema,
        output_schema: None,
        timeout_ms: TIMEOUT_MS,
        annotations: Annotations::default(),
    })?)
}

/// The tools touch no file and run no command, so their place is an empty folder.
async fn scope(scratch: &Path) -> SetUp<Scope> {
    mxd_engine::home::make_private_folder(scratch)?;
    let launcher = Launcher { program: "/nonexistent".into(), args: Vec::new() };
    let sandbox = Sandbox::probe(launcher, Mode::Off).await?;
    let kept = Kept::open(scratch)?;
    Ok(Scope {
        worktree: scratch.to_owned(),
        access: Access::Read,
        roots: Arc::from([]),
        scratch: scratch.to_owned(),
        cell: sandbox.cell(Policy::default()),
        env: Arc::from([]),
        files: Files::default(),
        processes: Processes::open(scratch, kept.clone())?,
        kept,
        secrets: Secrets::default(),
    })
}
